/** Counts routing events as plain sums, which become metrics only at a scrape. */
import { FAULT_CLASSES } from '@/routing/failover/fault-class'
import type { RoutingEvent } from '@/routing/failover/routing-events'
import { FALLBACK_REASONS } from './born-series'
import { entryOf } from './traffic-totals'

type AttemptTotal = { count: number; milliseconds: number }

export type RoutingTotals = {
  /** Adds all series of these providers and pairs of models, starting at zero. */
  open(providers: Iterable<string>, fallbacks: readonly (readonly [from: string, to: string])[]): void
  note(event: RoutingEvent): void
  /** Counts by provider, then by outcome: `answered` or a class of error. */
  readonly attempts: ReadonlyMap<string, ReadonlyMap<string, AttemptTotal>>
  /** Counts by the abandoned model, then by the next model, then by reason. */
  readonly fallbacks: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, number>>>
  /** Events of each kind by provider; `hedge` counts for the slow provider. */
  readonly sums: Readonly<Record<'broken' | 'retry' | 'hedge' | 'shed' | 'key-out', ReadonlyMap<string, number>>>
  /** Counts by the new state of a circuit. */
  readonly circuitChanges: ReadonlyMap<string, number>
}

export function createRoutingTotals(): RoutingTotals {
  const attempts = new Map<string, Map<string, AttemptTotal>>()
  const fallbacks: Fallbacks = new Map()
  const empty = () => new Map<string, number>()
  const sums = { broken: empty(), retry: empty(), hedge: empty(), shed: empty(), 'key-out': empty() }
  const circuitChanges = new Map([
    ['open', 0],
    ['closed', 0],
  ])
  return {
    open(providers, pairs) {
      for (const provider of providers) {
        for (const counts of Object.values(sums)) entryOf(counts, provider, () => 0)
        for (const outcome of ['answered', ...FAULT_CLASSES]) attemptsOf(attempts, provider, outcome)
      }
      for (const [from, to] of pairs)
        for (const reason of FALLBACK_REASONS) entryOf(reasonsOf(fallbacks, from, to), reason, () => 0)
    },
    note(event) {
      switch (event.type) {
        case 'attempt':
          return addAttempt(attempts, event)
        case 'fallback':
          return add(reasonsOf(fallbacks, event.from, event.to), event.reason)
        case 'broken':
        case 'retry':
        case 'hedge':
        case 'shed':
        case 'key-out':
          return add(sums[event.type], event.provider)
        case 'circuit':
          return add(circuitChanges, event.state)
        default:
          return
      }
    },
    attempts,
    fallbacks,
    sums,
    circuitChanges,
  }
}

function addAttempt(
  attempts: Map<string, Map<string, AttemptTotal>>,
  event: Extract<RoutingEvent, { type: 'attempt' }>,
): void {
  const total = attemptsOf(attempts, event.provider, event.outcome)
  total.count++
  total.milliseconds += event.milliseconds
}

function attemptsOf(attempts: Map<string, Map<string, AttemptTotal>>, provider: string, outcome: string): AttemptTotal {
  const byOutcome = entryOf(attempts, provider, () => new Map<string, AttemptTotal>())
  return entryOf(byOutcome, outcome, () => ({ count: 0, milliseconds: 0 }))
}

type Fallbacks = Map<string, Map<string, Map<string, number>>>

function reasonsOf(fallbacks: Fallbacks, from: string, to: string): Map<string, number> {
  const byNext = entryOf(fallbacks, from, () => new Map<string, Map<string, number>>())
  return entryOf(byNext, to, () => new Map<string, number>())
}

function add(sums: Map<string, number>, name: string): void {
  sums.set(name, (sums.get(name) ?? 0) + 1)
}
