/** Ends the charge of an answer: decides it, has the ledger take it from the hold, counts it and writes it to the log. */
import { GatewayError } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { Charge, Ending } from '@/ledger/charge'
import type { Payer } from '@/ledger/outcomes'
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import type { Metrics } from '@/metrics/metrics'
import { writeLine } from '@/metrics/request-line'
import type { Tracing } from '@/telemetry/tracing'
import { billOf, chargeAt, countNow, factsOf, lacksCount, type OpenCharge, readingOf, statusAt } from './open-charge'
import type { ProviderBill } from './provider-bill'

export type SettleDeps = {
  clock: Clock
  logger: Logger
  metrics: Pick<Metrics, 'answered' | 'unknownUsage'>
  failures: FailureNotes
  tracing?: Tracing | undefined
}

/** Who is told of requests that came to nothing. Waits for nothing. */
type FailureNotes = {
  note(failure: { requestId: string; payer: Payer; format: FormatName; model: string; error: GatewayError }): void
}

/** Settles for `ending`. Returns the charge once the ledger knows it (or soon after). */
export async function settle(deps: SettleDeps, open: OpenCharge, ending: Ending): Promise<Charge> {
  if (lacksCount(open)) await countNow(open)
  const reading = readingOf(open)
  const charge = chargeAt(open, reading, ending)
  const bill = billOf(open, reading, charge)
  if (charge.kind === 'free') {
    noteFailure(deps.failures, open, ending)
    await open.hold.release()
  } else {
    const settling = open.hold.settle(charge, factsOf(open, charge, bill, ending, deps.clock))
    deps.tracing?.step(open.facts.requestId, 'settle', settling)
    await settling
  }
  const durationMs = deps.clock.monotonic() - open.arrivedMonotonicMs
  if (reading.unknownUsage) warnOfUnknownUsage(deps, open, reading.unknownUsage)
  open.onObservedEnd?.({ ending, finish: reading.finish, outputTokens: outputOf(charge) })
  countAnswer(deps.metrics, open, charge, bill, ending, durationMs)
  logAnswer(deps.logger, open, charge, bill, ending, durationMs)
  deps.tracing?.answered(open.facts.requestId, open.facts.attempts, {
    ...{ ending, charge, usage: reading.usage, finish: reading.finish, answeredAs: open.meter.answeredAs() },
    ...{ model: open.facts.model, providerCost: bill.providerCost },
    ...{ firstTokenMs: open.meter.firstTokenMs(), durationMs },
  })
  return charge
}

/** What began, said nothing and is free has no usage record that would tell of it. Whoever hung up knows already. */
function noteFailure(failures: FailureNotes, { facts, payer }: OpenCharge, ending: Ending): void {
  if (ending !== 'broken' && ending !== 'complete') return
  const { requestId, requestedModel: model, clientFormat: format } = facts
  const error = new GatewayError('upstream_failed', 'The answer ended in an error before it had said anything.')
  failures.note({ requestId, payer, format, model, error })
}

function outputOf(charge: Charge): number {
  return charge.kind === 'charge' ? charge.usage.output : 0
}

/** An alarm: the provider may be charging for something that nobody pays us for. */
function warnOfUnknownUsage({ logger, metrics }: SettleDeps, { facts }: OpenCharge, classes: readonly string[]): void {
  const { requestId, provider, model } = facts
  logger.error('unknown_usage_classes', { requestId, provider, model, classes })
  metrics.unknownUsage(provider)
}

function countAnswer(
  metrics: SettleDeps['metrics'],
  { facts, meter }: OpenCharge,
  charge: Charge,
  bill: ProviderBill,
  ending: Ending,
  durationMs: number,
): void {
  metrics.answered({
    format: facts.clientFormat,
    model: facts.model,
    provider: facts.provider,
    status: statusAt(ending),
    ending,
    charge,
    providerCost: bill.providerCost,
    gaps: bill.counts?.gaps,
    firstTokenMs: meter.firstTokenMs(),
    durationMs,
  })
}

function logAnswer(
  logger: Logger,
  { facts, meter, line }: OpenCharge,
  charge: Charge,
  bill: ProviderBill,
  ending: Ending,
  durationMs: number,
): void {
  const own = {
    model: facts.model,
    provider: facts.provider,
    ending,
    status: statusAt(ending),
    attempts: facts.attempts,
    firstTokenMs: meter.firstTokenMs(),
    durationMs: Math.round(durationMs),
    ...(charge.kind === 'charge' && {
      costNano: charge.cost,
      rule: charge.rule,
      flags: charge.flags,
      usage: charge.usage,
      ...(charge.tools && { tools: charge.tools }),
    }),
    ...(bill.providerCost !== undefined && { providerCostNano: bill.providerCost }),
    ...(bill.counts && { counts: bill.counts }),
  }
  writeLine(logger, line, own, { routeReason: facts.routeReason })
}
