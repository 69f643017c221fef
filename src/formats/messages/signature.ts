/**
 * Signatures of other formats inside blocks of the messages format. A messages client replays `thinking` blocks as they
 * are, so the signature that a provider of another format attached to its reasoning, tool call or text rides there,
 * marked:
 *
 *     svc.<format>.<what it signs>.<value>
 *
 * The mark says whose it is and which block it belongs to: `reasoning` signs the very block, `call` the tool call right
 * after it, `text` the text right before it. Unsigned reasoning is marked too (`svc.unsigned`), because clients
 * drop thinking without a signature, and some providers want it back. The API's own signatures are base64 and so hold no dot.
 */
import { FORMAT_NAMES } from '@/chat/format-name'
import type { Signature } from '@/chat/request'

export type Signed = 'reasoning' | 'call' | 'text'
export type Mark = { signs: Signed; signature: Signature | undefined }

const PREFIX = 'svc.'
const UNSIGNED = 'svc.unsigned'
const MARKED = new RegExp(`^svc\\.(${FORMAT_NAMES.join('|')})\\.(reasoning|call|text)\\.`)

/** Whether no provider of this format minted `value`: it is empty, marked, or no text at all. */
export function isForeignSignature(value: unknown): boolean {
  return typeof value !== 'string' || value === '' || value.startsWith(PREFIX)
}

/** The text for the wire: the value itself where this format minted it, else the marked form. */
export function encodeSignature(signature: Signature | undefined, signs: Signed): string {
  if (!signature) return UNSIGNED
  return signature.format === 'messages' ? signature.value : `${PREFIX}${signature.format}.${signs}.${signature.value}`
}

/** Reads a signature from the wire. An empty, unsigned or unknown mark signs nothing. */
export function decodeSignature(value: string | null | undefined): Mark {
  if (!value) return { signs: 'reasoning', signature: undefined }
  if (!isForeignSignature(value)) return { signs: 'reasoning', signature: { format: 'messages', value } }
  const match = MARKED.exec(value)
  if (!match) return { signs: 'reasoning', signature: undefined }
  const format = match[1] as Signature['format']
  return { signs: match[2] as Signed, signature: { format, value: value.slice(match[0].length) } }
}
