/** What follows the answer to a line: its end, another try, or a wait of its whole batch. */
import type { GatewayError } from '@/chat/error'
import type { PauseReason } from '@/db/batch-schema'
import type { Nano } from '@/lib/money'

/** The answer to one try. `error`: why there was no answer; `isCharged`: whether anything was charged. */
export type LineAnswer = {
  status: number
  body: string
  cost: Nano
  isCharged: boolean
  error: GatewayError | undefined
}

export type NextStep =
  | { kind: 'end' }
  /** Try again after `waitMs`; `isFault`: a provider's failure, of which a line may have only some. */
  | { kind: 'retry'; waitMs: number; isFault: boolean }
  /** No line of the batch can run for `waitMs`. */
  | { kind: 'wait'; waitMs: number; pause?: { reason: PauseReason; message: string } }

/** A line whose provider failed this often ends as errored. */
const MAX_FAULTS = 4
/** When a batch is looked at again whose account lacks credit, or whose key may not be used. */
const PAUSE_MS = 5_000
const BUSY_MS = 1_000
/** The longest wait that a provider or a limit may ask for. */
const MAX_WAIT_MS = 60_000

/** Decides by the error's kind. A charged answer is final. */
export function nextStep({ error, isCharged }: Pick<LineAnswer, 'error' | 'isCharged'>, faults: number): NextStep {
  if (!error || isCharged) return { kind: 'end' }
  const waitMs = Math.min(Math.max((error.options.retryAfterSeconds ?? 0) * 1000, BUSY_MS), MAX_WAIT_MS)
  switch (error.kind) {
    case 'insufficient_credit':
      if (error.options.details?.transient === true) return { kind: 'wait', waitMs }
      return { kind: 'wait', waitMs: PAUSE_MS, pause: { reason: 'no_credit', message: error.message } }
    case 'invalid_credentials':
      return { kind: 'wait', waitMs: PAUSE_MS, pause: { reason: 'key_disabled', message: error.message } }
    case 'forbidden':
      if (!isOfCaller(error)) return { kind: 'end' }
      return { kind: 'wait', waitMs: PAUSE_MS, pause: { reason: 'key_disabled', message: error.message } }
    case 'rate_limited':
    case 'overloaded':
      return { kind: 'wait', waitMs }
    case 'upstream_failed':
    case 'timeout':
    case 'internal':
    case 'client_gone':
      return faults + 1 >= MAX_FAULTS ? { kind: 'end' } : { kind: 'retry', waitMs: waitMs * 2 ** faults, isFault: true }
    default:
      return { kind: 'end' }
  }
}

/** Whether the key or its account is refused, and not only this request. */
function isOfCaller({ options: { code } }: GatewayError): boolean {
  return code === 'account_suspended' || code === 'address_not_allowed'
}
