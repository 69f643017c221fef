/** Turns the plain sums into counters, at the moment somebody asks. */
import { Counter, type Registry } from 'prom-client'
import type { Ending } from '@/ledger/charge'
import { NANO_PER_USD } from '@/lib/money'
import type { RoutingTotals } from './routing-totals'
import type { TrafficTotals } from './traffic-totals'

type Sample = [labels: Record<string, string | number>, value: number]

const TOKEN_CLASSES = [
  ['uncached', 'input'],
  ['cacheRead', 'cache_read'],
  ['cacheWrite5m', 'cache_write_5m'],
  ['cacheWrite1h', 'cache_write_1h'],
  ['output', 'output'],
] as const

/** Adds requests, tokens, cost, rules and flags. */
export function exposeTraffic(registry: Registry, totals: TrafficTotals): void {
  sums(registry, {
    name: 'svc_requests_total',
    help: 'Inference requests by client format, answering model, provider, HTTP status and how the answer ended.',
    labels: ['format', 'model', 'provider', 'status', 'ending'],
    *samples() {
      for (const lane of totals.lanes()) {
        for (const [status, endings] of lane.requests) {
          for (const [ending, count] of Object.entries(endings) as [Ending, number][]) {
            if (count > 0) yield [{ ...names(lane), status, ending }, count]
          }
        }
      }
    },
  })
  sums(registry, {
    name: 'svc_tokens_total',
    help: 'Charged tokens by class; the classes do not overlap, and reasoning is inside output.',
    labels: ['model', 'provider', 'format', 'class'],
    *samples() {
      for (const lane of totals.lanes()) {
        for (const [field, name] of TOKEN_CLASSES) {
          if (lane.tokens[field] > 0) yield [{ ...names(lane), class: name }, lane.tokens[field]]
        }
      }
    },
  })
  sums(registry, {
    name: 'svc_cost_usd_total',
    help: 'What answered requests were charged, in USD. For reading, not for books: the ledger counts in nano-USD.',
    labels: ['model', 'provider', 'format'],
    *samples() {
      for (const lane of totals.lanes()) if (lane.costNano !== 0) yield [names(lane), lane.costNano / NANO_PER_USD]
    },
  })
  sums(registry, {
    name: 'svc_charges_total',
    help: 'Answers by the billing rule that decided their charge.',
    labels: ['rule'],
    samples: () => Object.entries(totals.rules).map(([rule, count]): Sample => [{ rule }, count]),
  })
  sums(registry, {
    name: 'svc_charge_flags_total',
    help: 'Charges that carry a flag: estimated, clamped, overrun, late, expired, forced.',
    labels: ['flag'],
    samples: () => Object.entries(totals.flags).map(([flag, count]): Sample => [{ flag }, count]),
  })
}

/** Adds what providers ask of us for the same traffic, and answers that they and we count differently. */
export function exposeProviderBills(registry: Registry, totals: TrafficTotals): void {
  const usdOf = (value: 'providerCostNano' | 'uncostedNano') =>
    function* (): Generator<Sample> {
      for (const lane of totals.lanes()) if (lane[value] !== 0) yield [names(lane), lane[value] / NANO_PER_USD]
    }
  sums(registry, {
    name: 'svc_provider_cost_usd_total',
    help: 'What providers charge us for answers, in USD, as far as the catalogue knows; free answers are in it.',
    labels: ['model', 'provider', 'format'],
    samples: usdOf('providerCostNano'),
  })
  sums(registry, {
    name: 'svc_uncosted_usd_total',
    help: 'The part of svc_cost_usd_total for which it is not known what the provider charges us.',
    labels: ['model', 'provider', 'format'],
    samples: usdOf('uncostedNano'),
  })
  sums(registry, {
    name: 'svc_count_gaps_total',
    help: 'Answers whose provider counted more than twice our own count or less than half, or more than we charge.',
    labels: ['model', 'provider', 'format', 'gap'],
    *samples() {
      for (const lane of totals.lanes()) {
        for (const [gap, count] of Object.entries(lane.gaps)) if (count > 0) yield [{ ...names(lane), gap }, count]
      }
    },
  })
}

function names({ format, model, provider }: { format: string; model: string; provider: string }) {
  return { format, model, provider }
}

/** Adds answers with tokens in no class of ours. Every provider starts at zero, so that a first one is already a rise. */
export function exposeUnknownUsage(registry: Registry, byProvider: ReadonlyMap<string, number>): void {
  sums(registry, {
    name: 'svc_unknown_usage_total',
    help: 'Alert: the provider counted tokens in a class that has no price here.',
    labels: ['provider'],
    samples: () => [...byProvider].map(([provider, count]): Sample => [{ provider }, count]),
  })
}

/** Adds answers that broke the published shape of their format, by provider and field. */
export function exposeRepairs(registry: Registry, repairs: ReadonlyMap<string, ReadonlyMap<string, number>>): void {
  sums(registry, {
    name: 'svc_answer_repairs_total',
    help: 'Answers with a field that broke the published shape of the format and was put right on the way through.',
    labels: ['provider', 'field'],
    *samples() {
      for (const [provider, counts] of repairs) for (const [field, count] of counts) yield [{ provider, field }, count]
    },
  })
}

/** Adds what providers of deposits told us of. */
export function exposeDeposits(registry: Registry, byProvider: ReadonlyMap<string, ReadonlyMap<string, number>>): void {
  sums(registry, {
    name: 'svc_deposit_events_total',
    help: 'Alert on chargeback, refund, reinstatement, waiting, kept and unknown: events of providers of deposits by outcome.',
    labels: ['provider', 'outcome'],
    *samples() {
      for (const [provider, byOutcome] of byProvider)
        for (const [outcome, count] of byOutcome) yield [{ provider, outcome }, count]
    },
  })
}

/** Adds attempts, fallbacks and what providers did to us. */
export function exposeRouting(registry: Registry, totals: RoutingTotals): void {
  const attempts = (value: 'count' | 'milliseconds', factor: number) =>
    function* (): Generator<Sample> {
      for (const [provider, byOutcome] of totals.attempts) {
        for (const [outcome, total] of byOutcome) yield [{ provider, outcome }, total[value] / factor]
      }
    }
  sums(registry, {
    name: 'svc_upstream_attempts_total',
    help: 'Calls to providers: answered, or the class of fault before the first content.',
    labels: ['provider', 'outcome'],
    samples: attempts('count', 1),
  })
  sums(registry, {
    name: 'svc_upstream_wait_seconds_total',
    help: 'Time spent in those calls up to the first content or the fault.',
    labels: ['provider', 'outcome'],
    samples: attempts('milliseconds', 1000),
  })
  sums(registry, {
    name: 'svc_fallbacks_total',
    help: 'Requests that went on from one model to another, by reason.',
    labels: ['from', 'to', 'reason'],
    *samples() {
      for (const [from, byNext] of totals.fallbacks) {
        for (const [to, byReason] of byNext) for (const [reason, count] of byReason) yield [{ from, to, reason }, count]
      }
    },
  })
  const byProvider = [
    ['svc_provider_key_refused_total', 'Alert: the provider refused one of our keys.', totals.refusedKeys],
    ['svc_upstream_broken_total', 'Answers that a provider broke off after their first content.', totals.broken],
    ['svc_upstream_retries_total', 'Second calls of the same target for one request.', totals.retries],
    ['svc_upstream_hedges_total', 'Times that another target was asked beside a silent provider.', totals.hedges],
    ['svc_provider_shed_total', 'Requests turned away by the limit of calls in flight.', totals.shed],
  ] as const
  for (const [name, help, values] of byProvider) {
    const samples = () => [...values].map(([provider, count]): Sample => [{ provider }, count])
    sums(registry, { name, help, labels: ['provider'], samples })
  }
  sums(registry, {
    name: 'svc_circuit_changes_total',
    help: 'Changes of circuit breakers, by the state they changed to.',
    labels: ['state'],
    samples: () => [...totals.circuitChanges].map(([state, count]): Sample => [{ state }, count]),
  })
}

type Sums = { name: string; help: string; labels: string[]; samples(): Iterable<Sample> }

function sums(registry: Registry, { name, help, labels, samples }: Sums): void {
  const counter: Counter = new Counter({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    collect() {
      counter.reset()
      for (const [values, value] of samples()) counter.inc(values, value)
    },
  })
}
