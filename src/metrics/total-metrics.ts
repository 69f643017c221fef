/** Turns the plain sums into counters at each scrape. */
import type { Registry } from 'prom-client'
import type { Ending } from '@/ledger/charge'
import { NANO_PER_USD } from '@/lib/money'
import { NO_PROVIDER } from './born-series'
import type { RoutingTotals } from './routing-totals'
import { expose, labelled, type Sample } from './series'
import type { TrafficTotals } from './traffic-totals'

const TOKEN_CLASSES = [
  ['uncached', 'input'],
  ['cacheRead', 'cache_read'],
  ['cacheWrite5m', 'cache_write_5m'],
  ['cacheWrite1h', 'cache_write_1h'],
  ['output', 'output'],
] as const

/** Adds the counters of requests, tokens, cost, billing rules and flags. */
export function exposeTraffic(registry: Registry, totals: TrafficTotals): void {
  expose(registry, {
    name: 'svc_requests_total',
    help: 'Inference requests by client format, answering model, provider, HTTP status and how the answer ended.',
    *samples() {
      for (const lane of totals.lanes()) {
        for (const [status, endings] of lane.requests) {
          for (const [ending, count] of Object.entries(endings) as [Ending, number][])
            yield [{ ...names(lane), status, ending }, count]
        }
      }
    },
  })
  expose(registry, {
    name: 'svc_tokens_total',
    help: 'Charged tokens by class; the classes do not overlap, and reasoning is inside output.',
    *samples() {
      for (const lane of answering(totals))
        for (const [field, name] of TOKEN_CLASSES) yield [{ ...names(lane), class: name }, lane.tokens[field]]
    },
  })
  expose(registry, {
    name: 'svc_cost_usd_total',
    help: 'What answered requests were charged, in USD. For reading, not for books: the ledger counts in nano-USD.',
    *samples() {
      for (const lane of answering(totals)) yield [names(lane), lane.costNano / NANO_PER_USD]
    },
  })
  const flags = 'Charges that carry a flag: estimated, clamped, overrun, late, expired, forced.'
  expose(
    registry,
    labelled('svc_charges_total', 'Answers by the billing rule that decided their charge.', 'rule', () =>
      Object.entries(totals.rules),
    ),
    labelled('svc_charge_flags_total', flags, 'flag', () => Object.entries(totals.flags)),
  )
}

/** Adds the counters of providers' charges, and of answers whose token counts differ from ours. */
export function exposeProviderBills(registry: Registry, totals: TrafficTotals): void {
  const usdOf = (value: 'providerCostNano' | 'uncostedNano') =>
    function* (): Generator<Sample> {
      for (const lane of answering(totals)) yield [names(lane), lane[value] / NANO_PER_USD]
    }
  expose(registry, {
    name: 'svc_provider_cost_usd_total',
    help: 'What providers charge us for answers, in USD, as far as the catalogue knows; free answers are in it.',
    samples: usdOf('providerCostNano'),
  })
  expose(registry, {
    name: 'svc_uncosted_usd_total',
    help: 'The part of svc_cost_usd_total for which it is not known what the provider charges us.',
    samples: usdOf('uncostedNano'),
  })
  expose(registry, {
    name: 'svc_count_gaps_total',
    help: 'Answers whose provider counted more than twice our own count or less than half, or more than we charge.',
    *samples() {
      for (const lane of answering(totals))
        for (const [gap, count] of Object.entries(lane.gaps)) yield [{ ...names(lane), gap }, count]
    },
  })
  expose(registry, {
    name: 'svc_sold_short_total',
    help: 'Complete answers whose provider stated more than was reserved for, which were charged for less.',
    *samples() {
      for (const lane of answering(totals)) yield [names(lane), lane.soldShort]
    },
  })
}

/** The lanes of requests that reached a provider. */
function* answering(totals: TrafficTotals) {
  for (const lane of totals.lanes()) if (lane.provider !== NO_PROVIDER) yield lane
}

function names({ format, model, provider }: { format: string; model: string; provider: string }) {
  return { format, model, provider }
}

/** Adds the counters of attempts, fallbacks and provider failures. */
export function exposeRouting(registry: Registry, totals: RoutingTotals): void {
  const attempts = (value: 'count' | 'milliseconds', factor: number) =>
    function* (): Generator<Sample> {
      for (const [provider, byOutcome] of totals.attempts) {
        for (const [outcome, total] of byOutcome) yield [{ provider, outcome }, total[value] / factor]
      }
    }
  expose(registry, {
    name: 'svc_upstream_attempts_total',
    help: 'Calls to providers: answered, or the class of fault before the first content.',
    samples: attempts('count', 1),
  })
  expose(registry, {
    name: 'svc_upstream_wait_seconds_total',
    help: 'Time spent in those calls up to the first content or the fault.',
    samples: attempts('milliseconds', 1000),
  })
  expose(registry, {
    name: 'svc_fallbacks_total',
    help: 'Requests that went on from one model to another, by reason.',
    *samples() {
      for (const [from, byNext] of totals.fallbacks) {
        for (const [to, byReason] of byNext) for (const [reason, count] of byReason) yield [{ from, to, reason }, count]
      }
    },
  })
  const byProvider = [
    ['svc_provider_key_refused_total', 'Alert: the provider refused one of our keys.', totals.sums['key-out']],
    ['svc_upstream_broken_total', 'Answers that a provider broke off after their first content.', totals.sums.broken],
    ['svc_upstream_retries_total', 'Second calls of the same target for one request.', totals.sums.retry],
    ['svc_upstream_hedges_total', 'Times that another target was asked beside a silent provider.', totals.sums.hedge],
    ['svc_provider_shed_total', 'Requests turned away by the limit of calls in flight.', totals.sums.shed],
  ] as const
  for (const [name, help, values] of byProvider) {
    const samples = () => [...values].map(([provider, count]): Sample => [{ provider }, count])
    expose(registry, { name, help, samples })
  }
  expose(registry, {
    name: 'svc_circuit_changes_total',
    help: 'Changes of circuit breakers, by the state they changed to.',
    samples: () => [...totals.circuitChanges].map(([state, count]): Sample => [{ state }, count]),
  })
}
