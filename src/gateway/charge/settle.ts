/** Ends the charge of an answer: decides it, has the ledger take it from the hold, counts it and writes it to the log. */
import type { Charge, Ending } from '@/ledger/charge'
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import type { Metrics } from '@/metrics/metrics'
import { chargeAt, factsOf, type OpenCharge, statusAt } from './open-charge'

export type SettleDeps = { clock: Clock; logger: Logger; metrics: Pick<Metrics, 'answered' | 'unknownUsage'> }

/** Settles for `ending`. Returns the charge once the ledger knows it (or soon after). */
export async function settle(deps: SettleDeps, open: OpenCharge, ending: Ending): Promise<Charge> {
  const charge = chargeAt(open, ending)
  if (charge.kind === 'free') await open.hold.release()
  else await open.hold.settle(charge, factsOf(open, charge, ending, deps.clock))
  const durationMs = deps.clock.monotonic() - open.arrivedMonotonicMs
  const { unknownUsage } = open.meter.reading()
  if (unknownUsage) warnOfUnknownUsage(deps, open, unknownUsage)
  countAnswer(deps.metrics, open, charge, ending, durationMs)
  logAnswer(deps.logger, open, charge, ending, durationMs)
  return charge
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
    firstTokenMs: meter.firstTokenMs(),
    durationMs,
  })
}

function logAnswer(
  logger: Logger,
  { facts, meter, payer }: OpenCharge,
  charge: Charge,
  ending: Ending,
  durationMs: number,
): void {
  const own = {
    requestId: facts.requestId,
    accountId: payer.accountId,
    keyId: payer.keyId,
    format: facts.clientFormat,
    model: facts.model,
    provider: facts.provider,
    stream: facts.stream,
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
    }),
  }
  logger.infoOwn('chat', own, { requestedModel: facts.requestedModel, routeReason: facts.routeReason })
}
