/**
 * Claims that outlast a store that loses its last seconds: what this process has got lately is sent again when the store is back, as
 * settlements are. Until that is done, no key is claimed here: it might be one that was charged in those seconds.
 */
import type { Clock } from '@/lib/clock'
import { withDeadline } from '@/lib/deadline'
import type { Logger } from '@/lib/logger'
import { type Claimant, type Claims, claimsUnavailable, type KeptAnswer, MAX_ANSWER_BYTES } from './claims'

interface ResentClaims extends Claims {
  /** The store is back, or another has taken its place: sends again what it may have lost. */
  storeReturned(): void
}

/** The outcome of a claim last, as far as the store has acknowledged it. */
type Known = {
  claimant: Claimant
  /** The request whose claim it took over. */
  from: string | undefined
  state: 'open' | 'free' | 'spent' | 'kept'
  answer: KeptAnswer | undefined
  atMs: number
}

/** As for settlements: a store that syncs every second loses up to two seconds with its power. */
const KEEP_MS = 5_000
/** Bounds the memory: beyond this, the oldest are trusted to have lasted. */
const MAX_KNOWN = 50_000
/** Bounds it for answers: one that finds no room is sent again as spent. */
const MAX_KNOWN_BYTES = 32 * MAX_ANSWER_BYTES
/** The longest wait of a request with a key, besides its own claim. Then it is refused, since its key may have been charged. */
const PATIENCE_MS = 500
/** How many are sent at once. */
const BATCH = 50

/** Adds to `claims` that they are sent again. */
export function createResentClaims(claims: Claims, clock: Clock, logger: Logger): ResentClaims {
  /** By request, in the order of their last acknowledgement. */
  const known = new Map<string, Known>()
  let bytes = 0
  /** Resolves to true once all has been sent. */
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
    // Those of the last seconds before a loss, however long the store is away: nothing is forgotten until more is acknowledged.
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

  /** Until what was sent is what is known: the request may end meanwhile. */
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

/** Puts a claim back to where it was, unless another request has the key by now. */
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
