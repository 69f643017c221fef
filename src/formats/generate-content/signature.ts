/**
 * Proofs that providers attach to reasoning and calls, in the one field that generate-content has for them.
 * `thoughtSignature` is base64 by type, so a proof of another format rides as base64 of `svc.{format}.{value}`; a
 * redacted reasoning block as base64 of `svc.{format}.redacted.{value}`. Whatever is not so marked is this format's
 * own.
 */
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import type { Signature } from '@/chat/request'
import type { JsonObject } from '@/lib/json'

/** What a `thoughtSignature` of a request is: a proof, an encrypted reasoning block, or nothing. */
export type DecodedSignature = { signature?: Signature; redacted?: Signature }

/** Providers skip the check of a call that carries this word instead of a proof. */
export const SKIP_VALIDATION = 'skip_thought_signature_validator'

const OWN: FormatName = 'generate-content'
const MARK = 'svc.'
const REDACTED = 'redacted.'
/** How base64 of every mark begins; looked at first so that ordinary signatures are not decoded. */
const ENCODED_MARK = 'c3ZjL'
/** Words that stand in for a proof. They prove nothing and are no base64. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([SKIP_VALIDATION, 'context_engineering_is_the_way_to_go'])

/** Reads `thoughtSignature`, in base64 or base64url. */
export function decodeSignature(value: string | undefined): DecodedSignature {
  if (value === undefined || value === '' || PLACEHOLDERS.has(value)) return {}
  const marked = readMark(value)
  if (!marked) return { signature: { format: OWN, value: normaliseBase64(value) } }
  const { format, rest } = marked
  return rest.startsWith(REDACTED)
    ? { redacted: { format, value: rest.slice(REDACTED.length) } }
    : { signature: { format, value: rest } }
}

/** Writes a proof for a client of this format: our own as it is, a foreign one marked. */
export function encodeSignature(signature: Signature): string {
  return signature.format === OWN ? signature.value : toBase64(`${MARK}${signature.format}.${signature.value}`)
}

/** Writes an encrypted reasoning block for a client of this format. */
export function encodeRedacted(redacted: Signature): string {
  return toBase64(`${MARK}${redacted.format}.${REDACTED}${redacted.value}`)
}

/** Whether `value` is a marked proof of another format, which no provider of this one may see. */
export function isForeignSignature(value: string): boolean {
  return readMark(value) !== undefined
}

/** The proof as a provider of this format takes it; undefined if it is another format's. */
export function ownSignature(signature: Signature | undefined): string | undefined {
  return signature?.format === OWN ? signature.value : undefined
}

/** One step's parts, whose first call is signed, or gets the word that skips the check. `parts` itself if unchanged. */
export function signFirstCall(parts: JsonObject[]): JsonObject[] {
  const calls = parts.filter((part) => (part.functionCall ?? part.function_call) != null)
  const isSigned = calls.some((part) => (part.thoughtSignature ?? part.thought_signature) != null)
  const [first] = calls
  if (!first || isSigned) return parts
  return parts.map((part) => (part === first ? { ...part, thoughtSignature: SKIP_VALIDATION } : part))
}

/** Likewise each picture that the model has made, of which no other format keeps the proof. */
export function signPictures(parts: JsonObject[]): JsonObject[] {
  return parts.map((part) => (part.inlineData === undefined ? part : { ...part, thoughtSignature: SKIP_VALIDATION }))
}

/** base64 with its own alphabet and padding; some libraries send signatures back as base64url without it. */
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
