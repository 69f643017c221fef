/** Decides the step after a line's try: the line ends, is tried again, or its whole batch waits. */
import type { GatewayError } from '@/chat/error'
import type { PauseReason } from '@/db/batch-schema'
import type { Nano } from '@/lib/money'

/** The result of one try. `error`: the reason if there was no answer; `isCharged`: whether it cost anything. */
export type LineAnswer = {
  status: number
  body: string
  cost: Nano
  isCharged: boolean
  error: GatewayError | undefined
}

export type NextStep =
  | { kind: 'end' }
  /** Try again after `waitMs`. `isFault`: a provider failed, which counts towards {@link MAX_FAULTS}. */
  | { kind: 'retry'; waitMs: number; isFault: boolean }
  /** No line of the batch can run for `waitMs`. */
  | { kind: 'wait'; waitMs: number; pause?: { reason: PauseReason; message: string } }

/** Maximum failures of providers for one line. After them the line ends as errored. */
const MAX_FAULTS = 4
/** Wait of a batch whose account lacks credit, or whose key may not be used. Then it is checked again. */
const PAUSE_MS = 5_000
const BUSY_MS = 1_000
/** Maximum wait, even if a provider or a limit requests a longer one. */
const MAX_WAIT_MS = 60_000

/** Decides the step by the error's kind. A charged answer always ends the line. */
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

/** Whether the error concerns the key or its account, and so all lines of the batch. */
function isOfCaller({ options: { code } }: GatewayError): boolean {
  return code === 'account_suspended' || code === 'address_not_allowed'
}
