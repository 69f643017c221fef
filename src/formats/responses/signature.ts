/**
 * Proofs of reasoning in the fields `id` and `encrypted_content` of a reasoning item. A provider of this format checks both, so its own
 * proof contains both as one value. Another format's data are stored in `encrypted_content`: a proof as `svc1.{format}.{value}`, and an
 * encrypted reasoning block as `svc1.{format}.redacted.{value}`. A tool call has no field for a proof: the reasoning item before it has
 * the proof as `svc1.{format}.call.{value}`. Values without such a mark are this format's own.
 */
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import type { Signature } from '@/chat/request'

type DecodedSignature = { signature?: Signature; redacted?: Signature; call?: Signature }

const OWN: FormatName = 'responses'
const MARK = 'svc1.'
const REDACTED = 'redacted.'
const CALL = 'call.'
/** Between item id and encrypted content; ids don't contain it. */
const SEPARATOR = ':'

/** Decodes the proof of a reasoning item, whichever format made it. */
export function decodeSignature(id: string | undefined, encrypted: string | null | undefined): DecodedSignature {
  if (!encrypted) return {}
  if (!isForeignSignature(encrypted))
    return { signature: { format: OWN, value: `${id ?? ''}${SEPARATOR}${encrypted}` } }
  const rest = encrypted.slice(MARK.length)
  const format = FORMAT_NAMES.find((name) => rest.startsWith(`${name}.`))
  if (!format) return {}
  const value = rest.slice(format.length + 1)
  if (value.startsWith(REDACTED)) return { redacted: { format, value: value.slice(REDACTED.length) } }
  return value.startsWith(CALL)
    ? { call: { format, value: value.slice(CALL.length) } }
    : { signature: { format, value } }
}

/** The `encrypted_content` for a caller; marked if it is foreign, or if the item's id differs from the proof's. */
export function encodeSignature(signature: Signature, itemId?: string): string {
  const own = ownSignature(signature)
  const isWhole = own && (itemId === undefined || itemId === own.id)
  return isWhole ? own.encryptedContent : `${MARK}${signature.format}.${signature.value}`
}

/** The `encrypted_content` for a caller that contains the proof of the tool call after the item. */
export function encodeCallSignature(signature: Signature): string {
  return `${MARK}${signature.format}.${CALL}${signature.value}`
}

/** The `encrypted_content` for a caller that contains an encrypted reasoning block of another format. */
export function encodeRedacted(redacted: Signature): string {
  return `${MARK}${redacted.format}.${REDACTED}${redacted.value}`
}

/** Whether `encrypted` is a marked proof of another format, which must not be sent to providers of this one. */
export function isForeignSignature(encrypted: string): boolean {
  return encrypted.startsWith(MARK)
}

/** The two fields as a provider of this format made them; undefined if the proof is another format's. */
export function ownSignature(signature: Signature | undefined): { id: string; encryptedContent: string } | undefined {
  if (signature?.format !== OWN) return undefined
  const end = signature.value.indexOf(SEPARATOR)
  return { id: signature.value.slice(0, end), encryptedContent: signature.value.slice(end + 1) }
}
