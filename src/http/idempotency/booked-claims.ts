/**
 * Claims that survive the loss of a store together with a gateway. While the store may have forgotten claims, the books are
 * asked whether a key was charged before it is used. That lasts a day after the store's last loss. A request that was neither
 * booked nor stored was never charged.
 */
import { withDatabaseDeadline } from '@/db/deadline'
import type { ChargedRequest } from '@/usage/charged-keys'
import { type Claimant, type Claims, claimsUnavailable, digestOf, KEEP_MS } from './claims'

type BookedClaimsOptions = {
  claims: Claims
  /** When the store may have lost something last, milliseconds since 1970; infinity where that is not known now. */
  storeSinceMs: () => number
  now: () => number
  /** Who was charged under this key in the last 24 hours; a key is known by its digest. */
  findCharged: (accountId: string, keyDigest: string) => Promise<ChargedRequest | undefined>
}

/** What a request with a key waits for the books at most. After that it is refused: its key may have been charged. */
const ASK_TIMEOUT_MS = 2_000

/** Adds to `claims` that the books are asked. */
export function createBookedClaims({ claims, storeSinceMs, now, findCharged }: BookedClaimsOptions): Claims {
  const isDoubtful = () => now() - storeSinceMs() < KEEP_MS

  /** Who has paid for the key already. Throws `overloaded` where the books do not say. */
  async function findPayer(claimant: Claimant): Promise<ChargedRequest | undefined> {
    if (!isDoubtful()) return undefined
    try {
      return await withDatabaseDeadline(findCharged(claimant.accountId, digestOf(claimant)), ASK_TIMEOUT_MS)
    } catch (cause) {
      throw claimsUnavailable(cause)
    }
  }

  /** Gives a claim back to the request that was charged. */
  async function spendFor(claimant: Claimant, { requestId, keyId }: ChargedRequest): Promise<void> {
    const payer = { ...claimant, requestId, keyId }
    if (await claims.takeOver(payer, claimant.requestId)) await claims.spend(payer)
  }

  return {
    ...claims,
    async claim(claimant) {
      const outcome = await claims.claim(claimant)
      if (outcome.kind !== 'claimed') return outcome
      try {
        const payer = await findPayer(claimant)
        if (!payer) return outcome
        await spendFor(claimant, payer)
        return { kind: 'spent', ...payer, ageMs: 0 }
      } catch (error) {
        await claims.free(claimant).catch(() => undefined)
        throw error
      }
    },
    async takeOver(claimant, fromRequestId) {
      const payer = await findPayer(claimant)
      if (!payer) return claims.takeOver(claimant, fromRequestId)
      await spendFor({ ...claimant, requestId: fromRequestId }, payer)
      return false
    },
  }
}
