/** Tokens in mails: 190 bits, stored as a hash, with a limited lifetime and a single use. */
import { eq } from 'drizzle-orm'
import { voidPending } from '@/accounts/email-addresses'
import { verifications } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { randomBase62 } from '@/lib/ids'
import type { AuthParts } from './parts'

/** `reset-password` is the library's own name, which its `resetPassword` looks for. */
type TokenPurpose = 'reset-password' | 'verify-email'

const TOKEN_LENGTH = 32
const LIFE_SECONDS: Record<TokenPurpose, number> = { 'reset-password': 3600, 'verify-email': 24 * 3600 }

/** Makes a token for `userId`. */
export async function createToken(parts: AuthParts, purpose: TokenPurpose, userId: string): Promise<string> {
  const token = randomBase62(TOKEN_LENGTH)
  const { internalAdapter } = await (await parts.library()).$context
  await internalAdapter.createVerificationValue({
    identifier: `${purpose}:${token}`,
    value: userId,
    expiresAt: new Date(Date.now() + LIFE_SECONDS[purpose] * 1000),
  })
  return token
}

/** The token's user id; undefined if the token is unknown, used or expired. The token stays valid. */
export async function readToken(parts: AuthParts, purpose: TokenPurpose, token: string): Promise<string | undefined> {
  const { internalAdapter } = await (await parts.library()).$context
  const found = await internalAdapter.findVerificationValue(`${purpose}:${token}`)
  return found && found.expiresAt > new Date() ? found.value : undefined
}

/** Voids a person's unfinished sign-ins and mailed links, except undo links, so that they don't outlive a change of password or address. */
export async function voidTokens(db: Database['db'] | Transaction, userId: string): Promise<void> {
  await db.delete(verifications).where(eq(verifications.value, userId))
  await voidPending(db, userId)
}

/** Uses a token up. Returns whether it was valid. */
export async function spendToken(parts: AuthParts, purpose: TokenPurpose, token: string): Promise<boolean> {
  const { internalAdapter } = await (await parts.library()).$context
  return (await internalAdapter.consumeVerificationValue(`${purpose}:${token}`)) !== null
}
