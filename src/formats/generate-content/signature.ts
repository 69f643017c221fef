/**
 * Proofs of reasoning and calls in `thoughtSignature`, generate-content's only field for them. Its type is base64. So another format's
 * proof is stored as base64 of `svc.{format}.{value}`, and an encrypted reasoning block as base64 of `svc.{format}.redacted.{value}`. A
 * value without this mark is the format's own.
 */
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import type { Signature } from '@/chat/request'
import type { JsonObject } from '@/lib/json'

/** A decoded `thoughtSignature`: a proof, an encrypted reasoning block, or nothing. */
export type DecodedSignature = { signature?: Signature; redacted?: Signature }

/** With this text instead of a signature, providers skip the check of a call. */
export const SKIP_VALIDATION = 'skip_thought_signature_validator'

const OWN: FormatName = 'generate-content'
const MARK = 'svc.'
const REDACTED = 'redacted.'
/** The base64 beginning of every mark; checked first, so that ordinary signatures are not decoded. */
const ENCODED_MARK = 'c3ZjL'
/** Texts that clients send instead of a proof. They are not base64. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([SKIP_VALIDATION, 'context_engineering_is_the_way_to_go'])

/** Decodes `thoughtSignature`, in base64 or base64url. */
export function decodeSignature(value: string | undefined): DecodedSignature {
  if (value === undefined || value === '' || PLACEHOLDERS.has(value)) return {}
  const marked = readMark(value)
  if (!marked) return { signature: { format: OWN, value: normaliseBase64(value) } }
  const { format, rest } = marked
  return rest.startsWith(REDACTED)
    ? { redacted: { format, value: rest.slice(REDACTED.length) } }
    : { signature: { format, value: rest } }
}

/** Encodes a proof for a client of this format: this format's proof unchanged, another format's proof with a mark. */
export function encodeSignature(signature: Signature): string {
  return signature.format === OWN ? signature.value : toBase64(`${MARK}${signature.format}.${signature.value}`)
}

/** Encodes an encrypted reasoning block for a client of this format. */
export function encodeRedacted(redacted: Signature): string {
  return toBase64(`${MARK}${redacted.format}.${REDACTED}${redacted.value}`)
}

/** Whether the gateway has marked `value` as a signature of another format. Providers of this format must not get it. */
export function isForeignSignature(value: string): boolean {
  return readMark(value) !== undefined
}

/** The proof for a provider of this format; undefined if it is another format's. */
export function ownSignature(signature: Signature | undefined): string | undefined {
  return signature?.format === OWN ? signature.value : undefined
}

/** One step's parts, with a signature on the first call: its own, or the text that skips the check. `parts` itself if unchanged. */
export function signFirstCall(parts: JsonObject[]): JsonObject[] {
  const calls = parts.filter((part) => (part.functionCall ?? part.function_call) != null)
  const isSigned = calls.some((part) => (part.thoughtSignature ?? part.thought_signature) != null)
  const [first] = calls
  if (!first || isSigned) return parts
  return parts.map((part) => (part === first ? { ...part, thoughtSignature: SKIP_VALIDATION } : part))
}

/** Adds the text that skips the check to each image of the model: other formats don't keep the image's proof. */
export function signPictures(parts: JsonObject[]): JsonObject[] {
  return parts.map((part) => (part.inlineData === undefined ? part : { ...part, thoughtSignature: SKIP_VALIDATION }))
}

/** Converts base64url without padding, which some libraries send back, to standard base64. */
export function normaliseBase64(value: string): string {
  const standard = value.replaceAll('-', '+').replaceAll('_', '/')
  const missing = standard.length % 4
  return missing === 0 ? standard : standard + '='.repeat(4 - missing)
}

function readMark(value: string): { format: FormatName; rest: string } | undefined {
  if (!value.startsWith(ENCODED_MARK)) return undefined
  const text = Buffer.from(value, 'base64').toString('utf8')
  for (const format of FORMAT_NAMES) {
    const mark = `${MARK}${format}.`
    if (text.startsWith(mark)) return { format, rest: text.slice(mark.length) }
  }
  return undefined
}

function toBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
