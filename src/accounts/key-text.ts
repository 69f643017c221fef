/** An API key: `<service>-`, 30 random base62 characters, and a checksum of 6, so that a typo is refused without a lookup. */
import { crc32 } from 'node:zlib'
import { randomBase62, sha256Hex, toBase62 } from '@/lib/ids'

const SECRET_CHARS = 30
const CHECKSUM_CHARS = 6
const BODY = /^[0-9A-Za-z]{36}$/

/** A new key for `service` (the catalogue's `service`, e.g. `svc`): 178 random bits. Never stored, only shown once. */
export function generateKey(service: string): string {
  const secret = randomBase62(SECRET_CHARS)
  return `${service}-${secret}${checksum(secret)}`
}

/** Whether `text` could be a key of `service`: right prefix, length, alphabet and checksum. Without a lookup. */
export function isWellFormedKey(text: string, service: string): boolean {
  const prefix = `${service}-`
  if (text.length !== prefix.length + SECRET_CHARS + CHECKSUM_CHARS || !text.startsWith(prefix)) return false
  const body = text.slice(prefix.length)
  return BODY.test(body) && checksum(body.slice(0, SECRET_CHARS)) === body.slice(SECRET_CHARS)
}

/** The kinds of keys that call no model: management keys and operator keys. The kind follows the service's name in the key's text. */
type ProgramKeyKind = 'mgmt' | 'op'

/** A new key of this kind for `service`, with its shown parts. As random as {@link generateKey}. */
export function generateProgramKey(
  service: string,
  kind: ProgramKeyKind,
): { key: string; prefix: string; lastFour: string } {
  const lead = `${service}-${kind}`
  const key = generateKey(lead)
  return { key, prefix: key.slice(0, lead.length + 1 + 4), lastFour: key.slice(-4) }
}

/** Whether `text` could be a key of this kind of `service`. Without a lookup. */
export function isProgramKey(text: string, service: string, kind: ProgramKeyKind): boolean {
  return isWellFormedKey(text, `${service}-${kind}`)
}

/** The kind of key whose form `text` has, for any service. Undefined if it is no management or operator key. */
export function programKeyKind(text: string): ProgramKeyKind | undefined {
  return /^[\w.-]{1,40}-(mgmt|op)-\w/.exec(text)?.[1] as ProgramKeyKind | undefined
}

/** The stored form of a key: SHA-256 of the whole text in hexadecimal. 178 random bits need no slow hash. */
export function hashKey(text: string): string {
  return sha256Hex(text)
}

/** The shown parts of a key: its first characters and its last four. */
export function keyHint(text: string): { prefix: string; lastFour: string } {
  return { prefix: text.slice(0, text.indexOf('-') + 1 + 4), lastFour: text.slice(-4) }
}

/** CRC-32 of the 30 characters in base62: detects every single wrong character and every swapped pair. */
function checksum(secret: string): string {
  return toBase62(crc32(secret), CHECKSUM_CHARS)
}
