/** A request with a claimed idempotency key. It continues if its client disconnects. When it ends, its claim ends. */
import type { Charge, Ending } from '@/ledger/charge'
import type { CrashPoint } from '@/lib/crash-point'
import { withDeadline } from '@/lib/deadline'
import type { Logger } from '@/lib/logger'
import { encodingOf, keptHeaders } from './body-encoding'
import type { Claimant, Claims } from './claims'
import { type KeptAnswer, MAX_ANSWER_BYTES } from './kept-answers'
import { type Recording, recordStream } from './recording'

export type OperationDeps = {
  claims: Claims
  logger: Logger
  crashPoint: CrashPoint
  finishUnseenMs: number
}

export type Once = {
  /** Replaces the client's signal: fires when nobody waits for the answer any more. */
  signal: AbortSignal
  onSettled(ending: Ending, charge: Charge): void
  failed(): void
}

interface Operation {
  readonly once: Once
  keep(response: Response): Promise<Response>
  record(response: Response, body: ReadableStream<Uint8Array>): Response
  fail(): Promise<void>
}

type Verdict = { isWhole: boolean; isCharged: boolean }

const NOTHING: Verdict = { isWhole: false, isCharged: false }
/** How long an answer is awaited after its client disconnected: longer than all but the slowest answers take. */
export const FINISH_UNSEEN_MS = 5 * 60_000
/** Milliseconds for which a client waits for the end of a stream whose charge is not yet known. */
const END_PATIENCE_MS = 2_000

/** Opens the operation of a claim. `client` fires when the client disconnects. */
export function openOperation(deps: OperationDeps, claimant: Claimant, client: AbortSignal): Operation {
  const life = new AbortController()
  const verdict = Promise.withResolvers<Verdict>()
  let known: Verdict | undefined
  let recording: Recording | undefined
  let patience: Timer | undefined
  let isOver = false

  /** Sets the outcome of the claim. Only the first call counts: a later failure does not undo a charge. */
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
      // If the route has not reported an end, the request counts as charged.
      decide({ isWhole: isGiven, isCharged: true })
      const bytes = Buffer.from(await new Response(body).arrayBuffer())
      await conclude({ status, headers: keptHeaders(headers), body: bytes.toString(encodingOf(headers)) })
      return new Response(isGiven ? bytes : null, { status, headers })
    },
    record({ status, headers }, body) {
      recording = recordStream(body, {
        maxBytes: MAX_ANSWER_BYTES,
        encoding: encodingOf(headers),
        onLeave: leave,
        async onEnd(text) {
          const ended = conclude(text === undefined ? undefined : { status, headers: keptHeaders(headers), body: text })
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

/** Ends a claim. If that fails, the claim stays open, and the next request with the key checks the hold. */
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
