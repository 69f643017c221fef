/**
 * Stores other formats' signatures in messages blocks. Messages clients send `thinking` blocks back unchanged, so another provider's
 * signature of reasoning, a tool call or text is stored there as `svc.{format}.{signed}.{value}`. `signed` names the signed block:
 * `reasoning` is this block, `call` the next tool call, `text` the preceding text. Unsigned reasoning is also marked (`svc.unsigned`),
 * because clients drop thinking without a signature, and some providers need it back. The API's own signatures are base64, so contain no
 * dot.
 */
import { FORMAT_NAMES } from '@/chat/format-name'
import type { Signature } from '@/chat/request'

export type Signed = 'reasoning' | 'call' | 'text'
export type Mark = { signs: Signed; signature: Signature | undefined }

const PREFIX = 'svc.'
const UNSIGNED = 'svc.unsigned'
const MARKED = new RegExp(`^svc\\.(${FORMAT_NAMES.join('|')})\\.(reasoning|call|text)\\.`)

/** Whether `value` is not a signature of this format's providers: empty, marked, or no text. */
export function isForeignSignature(value: unknown): boolean {
  return typeof value !== 'string' || value === '' || value.startsWith(PREFIX)
}

/** The wire text: the value itself if this format made it, else the marked form. */
export function encodeSignature(signature: Signature | undefined, signs: Signed): string {
  if (!signature) return UNSIGNED
  return signature.format === 'messages' ? signature.value : `${PREFIX}${signature.format}.${signs}.${signature.value}`
}

/** Parses a signature from the wire. An empty, unsigned or unknown mark gives no signature. */
export function decodeSignature(value: string | null | undefined): Mark {
  if (!value) return { signs: 'reasoning', signature: undefined }
  if (!isForeignSignature(value)) return { signs: 'reasoning', signature: { format: 'messages', value } }
  const match = MARKED.exec(value)
  if (!match) return { signs: 'reasoning', signature: undefined }
  const format = match[1] as Signature['format']
  return { signs: match[2] as Signed, signature: { format, value: value.slice(match[0].length) } }
}
