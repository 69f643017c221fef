/**
 * Keeps claims safe if Redis and a gateway fail together. For a day after Redis lost data, claims may be missing there. So Postgres is
 * asked first whether a key was charged. A request that is neither in Postgres nor in Redis was never charged.
 */
import { withDatabaseDeadline } from '@/db/deadline'
import type { ChargedRequest } from '@/usage/charged-keys'
import { type Claimant, type Claims, digestOf } from './claims'
import { claimsUnavailable, KEEP_MS } from './kept-answers'

type BookedClaimsOptions = {
  claims: Claims
  /** The last time at which Redis may have lost data, in milliseconds since 1970; infinity if unknown. */
  storeSinceMs: () => number
  now: () => number
  /** The request that was charged with this key in the last 24 hours; keys are stored as hashes. */
  findCharged: (accountId: string, keyDigest: string) => Promise<ChargedRequest | undefined>
}

/** Maximum wait for Postgres. Then the request is refused, since its key may have been charged. */
const ASK_TIMEOUT_MS = 2_000

export function createBookedClaims({ claims, storeSinceMs, now, findCharged }: BookedClaimsOptions): Claims {
  const isDoubtful = () => now() - storeSinceMs() < KEEP_MS

  async function findPayer(claimant: Claimant): Promise<ChargedRequest | undefined> {
    if (!isDoubtful()) return undefined
    try {
      return await withDatabaseDeadline(findCharged(claimant.accountId, digestOf(claimant)), ASK_TIMEOUT_MS)
    } catch (cause) {
      throw claimsUnavailable(cause)
    }
  }

  /** Restores the claim of the charged request in Redis, as spent. */
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
