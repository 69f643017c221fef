/** Keeps claims safe if Redis loses its last seconds of data. Recent claims are sent again, and new claims wait for that. */
import type { Clock } from '@/lib/clock'
import { withDeadline } from '@/lib/deadline'
import type { Logger } from '@/lib/logger'
import type { Claimant, Claims } from './claims'
import { claimsUnavailable, type KeptAnswer, MAX_ANSWER_BYTES } from './kept-answers'

interface ResentClaims extends Claims {
  /** Sends claims again that may be lost. Call it when Redis is reachable again or was replaced. */
  storeReturned(): void
}

/** The last acknowledged state of a claim. */
type Known = {
  claimant: Claimant
  /** The request whose claim this request took over. */
  from: string | undefined
  state: 'open' | 'free' | 'spent' | 'kept'
  answer: KeptAnswer | undefined
  atMs: number
}

/** Time for which claims are remembered. A Redis that syncs every second loses up to two seconds in a power loss. */
const KEEP_MS = 5_000
/** Maximum claims remembered in memory. If there are more, the oldest are forgotten. */
const MAX_KNOWN = 50_000
/** Limit of the remembered answers' bytes. A claim whose answer exceeds it is sent again as spent. */
const MAX_KNOWN_BYTES = 32 * MAX_ANSWER_BYTES
/** Maximum wait for resent claims. Then the request is refused, because its key may have been charged. */
const PATIENCE_MS = 500
/** Number of claims that are sent at the same time. */
const BATCH = 50

export function createResentClaims(claims: Claims, clock: Clock, logger: Logger): ResentClaims {
  /** Claims by the id of their request, in order of their last acknowledgement. */
  const known = new Map<string, Known>()
  let bytes = 0
  let resending: Promise<true> | undefined
  let isRepeated = false

  function forget(requestId: string): void {
    bytes -= sizeOf(known.get(requestId)?.answer)
    known.delete(requestId)
  }

  function note(claimant: Claimant, state: Known['state'], answer?: KeptAnswer, from?: string): void {
    const { requestId } = claimant
    const atMs = clock.monotonic()
    const isSaid = answer !== undefined && bytes + sizeOf(answer) <= MAX_KNOWN_BYTES
    const told = { claimant, state: answer && !isSaid ? 'spent' : state, answer: isSaid ? answer : undefined } as const
    const taken = from ?? known.get(requestId)?.from
    forget(requestId)
    known.set(requestId, { ...told, from: taken, atMs })
    bytes += sizeOf(told.answer)
    if (resending) return
    // Keeps the writes of the last seconds before an outage, however long it takes: entries are only removed when newer ones are
    // acknowledged.
    for (const [oldest, { atMs: sinceMs }] of known) {
      if (known.size <= MAX_KNOWN && atMs - sinceMs <= KEEP_MS) break
      forget(oldest)
    }
  }

  async function resendAll(): Promise<true> {
    do {
      isRepeated = false
      const requestIds = [...known.keys()]
      for (let first = 0; first < requestIds.length; first += BATCH)
        await Promise.all(requestIds.slice(first, first + BATCH).map(resend))
    } while (isRepeated)
    resending = undefined
    return true
  }

  /** Sends a claim's state again, until the last sent state is the current one: the request may end meanwhile. */
  async function resend(requestId: string): Promise<void> {
    let sent: Known | undefined
    try {
      for (let one = known.get(requestId); one && one !== sent; one = known.get(requestId)) {
        sent = one
        await sendAgain(claims, one)
      }
    } catch (error) {
      logger.warn('idempotency_claim_not_resent', { requestId, error })
    }
  }

  return {
    async claim(claimant) {
      if (resending && !(await withDeadline(resending, PATIENCE_MS, () => false))) throw claimsUnavailable()
      const outcome = await claims.claim(claimant)
      if (outcome.kind === 'claimed') note(claimant, 'open')
      return outcome
    },
    isKnown: (claimant) => claims.isKnown(claimant),
    async takeOver(claimant, from) {
      const isTaken = await claims.takeOver(claimant, from)
      if (isTaken) note(claimant, 'open', undefined, from)
      return isTaken
    },
    async keep(claimant, answer) {
      const isKept = await claims.keep(claimant, answer)
      if (isKept) note(claimant, 'kept', answer)
      return isKept
    },
    async free(claimant) {
      await claims.free(claimant)
      note(claimant, 'free')
    },
    async spend(claimant) {
      await claims.spend(claimant)
      note(claimant, 'spent')
    },
    storeReturned() {
      isRepeated = true
      resending ??= resendAll()
    },
  }
}

/** Restores a claim's state, unless another request has the key by now. */
async function sendAgain(claims: Claims, { claimant, from, state, answer }: Known): Promise<void> {
  if (state === 'free') return claims.free(claimant)
  const outcome = await claims.claim(claimant)
  const isOpenBy = (requestId: string | undefined) => outcome.kind === 'open' && outcome.requestId === requestId
  const isTaken = from !== undefined && isOpenBy(from) && (await claims.takeOver(claimant, from))
  if (outcome.kind !== 'claimed' && !isOpenBy(claimant.requestId) && !isTaken) return
  if (state === 'open' || (answer && (await claims.keep(claimant, answer)))) return
  await claims.spend(claimant)
}

function sizeOf(answer: KeptAnswer | undefined): number {
  return answer ? answer.body.length : 0
}
