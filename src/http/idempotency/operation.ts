/** A request that was claimed by its idempotency key: lives on without its client, and ends its claim as it ended itself. */
import type { Charge, Ending } from '@/ledger/charge'
import type { CrashPoint } from '@/lib/crash-point'
import { withDeadline } from '@/lib/deadline'
import type { Logger } from '@/lib/logger'
import { type Claimant, type Claims, type KeptAnswer, MAX_ANSWER_BYTES } from './claims'
import { type Recording, recordStream } from './recording'

export type OperationDeps = {
  claims: Claims
  logger: Logger
  crashPoint: CrashPoint
  finishUnseenMs: number
}

/** What the use case has to know of a request that is answered once. */
export type Once = {
  /** In the place of the client's own: fires when the answer is not waited for any more. */
  signal: AbortSignal
  /** The answer has ended like this. */
  onSettled(ending: Ending, charge: Charge): void
  /** There is no answer, although a stream had begun. */
  failed(): void
}

interface Operation {
  readonly once: Once
  /** Takes an answer in one piece. */
  keep(response: Response): Promise<Response>
  /** Takes a stream that has begun. */
  record(response: Response, body: ReadableStream<Uint8Array>): Response
  /** No answer began. */
  fail(): Promise<void>
}

type Verdict = { isWhole: boolean; isCharged: boolean }

const NOTHING: Verdict = { isWhole: false, isCharged: false }
/** How long an answer is waited for that its client has left: longer than any but the slowest take. */
export const FINISH_UNSEEN_MS = 5 * 60_000
/** How long a client waits for the end of a stream whose charge is not known yet. */
const END_PATIENCE_MS = 2_000

/** Opens the operation of a claim. `client` fires when the client hangs up. */
export function openOperation(deps: OperationDeps, claimant: Claimant, client: AbortSignal): Operation {
  const life = new AbortController()
  const verdict = Promise.withResolvers<Verdict>()
  let known: Verdict | undefined
  let recording: Recording | undefined
  let patience: Timer | undefined
  let isOver = false

  /** The first word counts: what was charged stays charged, whatever fails after it. */
  function decide(found: Verdict): void {
    known ??= found
    verdict.resolve(known)
    if (known.isWhole) recording?.hurry()
  }

  function leave(): void {
    if (isOver || patience) return
    patience = setTimeout(() => {
      life.abort()
      recording?.giveUp()
    }, deps.finishUnseenMs)
    recording?.leave()
  }

  async function conclude(answer: KeptAnswer | undefined): Promise<void> {
    await endClaim(deps, claimant, answer, await verdict.promise)
    isOver = true
    clearTimeout(patience)
    client.removeEventListener('abort', leave)
  }

  client.addEventListener('abort', leave)
  if (client.aborted) leave()
  return {
    once: {
      signal: life.signal,
      onSettled: (ending, charge) =>
        decide({
          isWhole: ending === 'complete' || ending === 'cut',
          isCharged: charge.kind === 'charge' && charge.cost > 0,
        }),
      failed: () => decide(NOTHING),
    },
    async keep({ status, headers, body }) {
      const isGiven = status === 200
      // Used where the route has not said how it ended: an unknown end counts as charged.
      decide({ isWhole: isGiven, isCharged: true })
      const text = await new Response(body).text()
      await conclude({ status, headers: [...headers], body: text })
      return new Response(isGiven ? text : null, { status, headers })
    },
    record({ status, headers }, body) {
      recording = recordStream(body, {
        maxBytes: MAX_ANSWER_BYTES,
        onLeave: leave,
        async onEnd(text) {
          const ended = conclude(text === undefined ? undefined : { status, headers: [...headers], body: text })
          await withDeadline(ended, END_PATIENCE_MS, () => undefined)
        },
      })
      if (patience) recording.leave()
      else if (known?.isWhole) recording.hurry()
      return new Response(recording.stream, { status, headers })
    },
    async fail() {
      decide(NOTHING)
      await conclude(undefined)
    },
  }
}

/** A claim that can't be ended now stays open: its hold decides at the next request with the key. */
async function endClaim(
  { claims, logger }: OperationDeps,
  claimant: Claimant,
  answer: KeptAnswer | undefined,
  { isWhole, isCharged }: Verdict,
): Promise<void> {
  try {
    if (isWhole && answer && answer.body.length <= MAX_ANSWER_BYTES && (await claims.keep(claimant, answer))) return
    await (isCharged ? claims.spend(claimant) : claims.free(claimant))
  } catch (error) {
    logger.warn('idempotency_claim_left_open', { requestId: claimant.requestId, error })
  }
}
