import { GatewayError } from '@/chat/error'
import type { From } from '@/http/client-address'
import { requireActiveKey } from '@/http/require-active-key'
import type { Unpaid } from '@/http/unpaid'
import type { Ledger } from '@/ledger/ledger'
import type { HoldFate, Payer } from '@/ledger/outcomes'
import type { Clock } from '@/lib/clock'
import type { Metrics } from '@/metrics/metrics'
import { restored } from './body-encoding'
import type { Claimant } from './claims'
import type { KeptAnswer } from './kept-answers'
import { type Once, type OperationDeps, openOperation } from './operation'

type OnceDeps = OperationDeps & {
  ledger: Pick<Ledger, 'readKey' | 'fateOf' | 'sealFate'>
  unpaid: Pick<Unpaid, 'answer'>
  metrics: Pick<Metrics, 'idempotent'>
  clock: Clock
  holdTtlMs: number
}

/** An answer is stored within moments after its charge. If it is not stored after this time, it is lost. */
const KEEP_GRACE_MS = 10_000
/** The `retry-after` for a repetition while the first request runs. The request may take longer, but repeating is free. */
const RETRY_AFTER_SECONDS = 2
const REPLAYED_HEADER = 'idempotent-replayed'

type Asker = {
  from: From
  signal: AbortSignal
  /** Whether the answer is a stream; false until the answer has begun. */
  isStream(): boolean
  /** Called when the stored answer of the request `originalRequestId` is sent in place of a new one. */
  onReplay(originalRequestId: string, status: number): void
}

/**
 * Answers requests with an idempotency key once: the first is sent and its answer stored; repetitions get that answer. The request
 * continues for some time after its client disconnects. docs/decisions/0014-a-key-is-charged-once.md lists all cases. Runs `answer`, unless
 * an earlier request used the key: then returns its answer, or throws 409 (`conflict`). Throws 503 if that cannot be checked.
 */
export async function answerOnce(
  deps: OnceDeps,
  claimant: Claimant,
  { from, signal, isStream, onReplay }: Asker,
  answer: (once: Once) => Promise<Response>,
): Promise<Response> {
  const earlier = await recall(deps, claimant, from)
  if (earlier) {
    onReplay(earlier.requestId, earlier.answer.status)
    return replay(earlier.answer)
  }
  deps.metrics.idempotent('first')
  deps.crashPoint('claimed')
  const operation = openOperation(deps, claimant, signal)
  try {
    const response = await answer(operation.once)
    const { body, status } = response
    return isStream() && status === 200 && body ? operation.record(response, body) : await operation.keep(response)
  } catch (error) {
    await operation.fail()
    throw error
  }
}

/** The earlier request with this key, and its answer; undefined if this is the first one. */
async function recall(
  deps: OnceDeps,
  claimant: Claimant,
  from: From,
): Promise<{ requestId: string; answer: KeptAnswer } | undefined> {
  const outcome = await deps.claims.claim(claimant)
  if (outcome.kind === 'claimed') return undefined
  await requireActiveKey(deps, claimant, from)
  switch (outcome.kind) {
    case 'full':
      deps.metrics.idempotent('full')
      throw new GatewayError('rate_limited', 'Too many idempotency keys were used in the last 24 hours.', {
        code: 'too_many_idempotency_keys',
        retryAfterSeconds: outcome.retryAfterMs / 1000,
      })
    case 'reused':
      deps.metrics.idempotent('reused')
      throw conflict('idempotency_key_reused', 'This Idempotency-Key was used for another request.', outcome.requestId)
    case 'spent':
      deps.metrics.idempotent('lost')
      throw lost(outcome.requestId)
    case 'kept':
      deps.unpaid.answer(claimant)
      deps.metrics.idempotent('replayed')
      return outcome
    case 'open': {
      const fate = await fateOf(deps, claimant, outcome)
      const isLost = fate.kind === 'charged' && fate.sinceMs > KEEP_GRACE_MS
      if (fate.kind === 'free' && (await deps.claims.takeOver(claimant, outcome.requestId))) return undefined
      deps.metrics.idempotent(isLost ? 'lost' : 'in_use')
      if (isLost) throw lost(outcome.requestId)
      throw inUse(outcome.requestId)
    }
  }
}

/** How the hold of a claimed request ended. A request older than a hold's lifetime reserves nothing any more: its gateway has crashed. */
function fateOf({ ledger, holdTtlMs }: OnceDeps, { accountId }: Payer, open: OpenClaim): Promise<HoldFate> {
  const hold = { accountId, keyId: open.keyId, holdId: open.requestId }
  return open.ageMs > holdTtlMs ? ledger.sealFate(hold) : ledger.fateOf(hold)
}

type OpenClaim = { requestId: string; keyId: string; ageMs: number }

function replay({ status, ...kept }: KeptAnswer): Response {
  const { headers, body } = restored(kept)
  return new Response(body, { status, headers: [...headers, [REPLAYED_HEADER, 'true']] })
}

function inUse(originalRequestId: string): GatewayError {
  const message = 'A request with this Idempotency-Key is under way. Ask again for its answer.'
  return new GatewayError('conflict', message, {
    code: 'idempotency_key_in_use',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    details: { originalRequestId },
  })
}

function lost(originalRequestId: string): GatewayError {
  const message =
    'The request with this Idempotency-Key was charged, and its answer cannot be given again: it broke off, was too long to ' +
    'be kept, made room for newer ones, or its server failed. It is not sent a second time. Use a new key to ask and pay again.'
  return conflict('idempotency_answer_lost', message, originalRequestId)
}

/** The 409 for a request that is useless to repeat. With `x-should-retry: false`, libraries don't repeat it. */
function conflict(code: string, message: string, originalRequestId: string): GatewayError {
  const headers = { 'x-should-retry': 'false' }
  return new GatewayError('conflict', message, { code, details: { originalRequestId }, headers })
}
