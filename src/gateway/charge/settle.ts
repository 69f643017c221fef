import { GatewayError } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import { type Charge, type Ending, FREE_HANG_UPS_PER_HOUR } from '@/ledger/charge'
import type { Payer, SettleOutcome } from '@/ledger/outcomes'
import type { Clock } from '@/lib/clock'
import type { CrashPoint } from '@/lib/crash-point'
import type { Logger } from '@/lib/logger'
import type { EndedAnswer } from '@/metrics/ended-answer'
import type { Metrics } from '@/metrics/metrics'
import {
  billOf,
  chargeAt,
  costThrownAway,
  countNow,
  factsOf,
  lacksCount,
  type OpenCharge,
  readingOf,
  statusAt,
} from './open-charge'

export type SettleDeps = {
  clock: Clock
  logger: Logger
  metrics: Pick<Metrics, 'thrownAway'>
  onEnded(answer: EndedAnswer): void
  failures: FailureNotes
  crashPoint: CrashPoint
}

type FailureNotes = {
  note(failure: { requestId: string; payer: Payer; format: FormatName; model: string; error: GatewayError }): void
}

type Due = Extract<Charge, { kind: 'charge' }>

/** Ends an answer's charge: decides it, settles the hold, reports the end. Returns the charge once the ledger has it (or soon after). */
export async function settle(deps: SettleDeps, open: OpenCharge, ending: Ending): Promise<Charge> {
  if (lacksCount(open)) await countNow(open)
  const reading = readingOf(open)
  const due = chargeAt(open, reading, ending)
  const bill = billOf(open, reading, due)
  let charge: Charge = due
  if (due.kind === 'free') {
    noteFailure(deps.failures, open, ending)
    await open.hold.release()
  } else {
    const freePerHour = ending === 'unanswered' ? FREE_HANG_UPS_PER_HOUR : undefined
    const outcome = await open.hold.settle(due, factsOf(open, due, bill, ending, deps.clock), freePerHour)
    deps.crashPoint('settled')
    if (freePerHour) charge = noteHangUp(deps, open, due, outcome)
  }
  const { line, facts, meter } = open
  open.onObservedEnd?.({
    ending,
    finish: reading.finish,
    outputTokens: charge.kind === 'charge' ? charge.usage.output : 0,
  })
  deps.onEnded({
    line,
    attempts: facts.attempts,
    routeReason: facts.routeReason,
    format: facts.clientFormat,
    model: facts.model,
    provider: facts.provider,
    status: statusAt(ending),
    ending,
    charge,
    providerCost: bill.providerCost,
    counts: bill.counts,
    unknownUsage: reading.unknownUsage,
    unlistedFinish: reading.unlistedFinish,
    usage: reading.usage,
    finish: reading.finish,
    answeredAs: meter.answeredAs(),
    firstTokenMs: meter.firstTokenMs(),
    durationMs: deps.clock.monotonic() - open.arrivedMonotonicMs,
  })
  open.onSettled?.(ending, charge)
  if (ending === 'complete' && charge.kind === 'charge') open.permit.wrote(charge.usage.output)
  return charge
}

/** Lists a client's disconnect among the account's failed requests. Its charge applies unless the ledger makes it free. */
function noteHangUp(
  { failures, metrics }: SettleDeps,
  open: OpenCharge,
  due: Due,
  outcome: SettleOutcome | undefined,
): Due {
  const { facts, payer } = open
  const cost = outcome?.kind === 'settled' ? outcome.record.cost : due.cost
  const { requestId, requestedModel: model, clientFormat: format, provider } = facts
  metrics.thrownAway(provider, 'hang_up', costThrownAway(open))
  const words =
    cost === 0
      ? `The client disconnected before the answer began. This cost nothing, as up to ${FREE_HANG_UPS_PER_HOUR} times an hour.`
      : `The client left before the answer had begun. It did more than ${FREE_HANG_UPS_PER_HOUR} times in this hour: the input was charged.`
  const error = new GatewayError('client_gone', words, { code: cost === 0 ? 'hang_up_free' : 'hang_up_charged' })
  failures.note({ requestId, payer, format, model, error })
  return cost === 0 ? { ...due, cost, rule: 'hangup_free' } : due
}

/** Lists a started answer without content and without charge, because it has no usage record. */
function noteFailure(failures: FailureNotes, { facts, payer }: OpenCharge, ending: Ending): void {
  if (ending !== 'broken' && ending !== 'complete') return
  const { requestId, requestedModel: model, clientFormat: format } = facts
  const error = new GatewayError('upstream_failed', 'The answer ended in an error before any content.')
  failures.note({ requestId, payer, format, model, error })
}
