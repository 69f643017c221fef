/** Encrypts texts with the sign-in secret: tokens of waiting mails, and unsubscribe links. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Secrets } from '@/lib/secrets'

const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/** `text`, encrypted for `purpose`, in base64url. */
export function seal([secret]: Secrets, purpose: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret, purpose), nonce)
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

/** The decrypted text; undefined if no secret decrypts it for this purpose. */
export function unseal(secrets: Secrets, purpose: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  for (const secret of secrets) {
    const text = openBy(keyOf(secret, purpose), bytes)
    if (text !== undefined) return text
  }
  return undefined
}

function openBy(key: Uint8Array, bytes: Buffer): string | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return undefined
  }
}

function keyOf(secret: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', `gateway ${purpose}`, KEY_BYTES))
}
