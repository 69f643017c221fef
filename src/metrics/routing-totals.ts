/** Plain sums of what routing reports, likewise turned into metrics only when somebody asks. */
import type { RoutingEvent } from '@/routing/journey/routing-events'
import { entryOf } from './traffic-totals'

type AttemptTotal = { count: number; milliseconds: number }

export type RoutingTotals = {
  note(event: RoutingEvent): void
  /** Further providers start at zero, and others stay as they are. */
  know(providers: ReadonlySet<string>): void
  /** By provider, then by outcome: `answered` or a class of fault. */
  readonly attempts: ReadonlyMap<string, ReadonlyMap<string, AttemptTotal>>
  /** By the model given up, then by the model that came next, then by reason. */
  readonly fallbacks: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, number>>>
  readonly broken: ReadonlyMap<string, number>
  readonly retries: ReadonlyMap<string, number>
  /** By the provider that was silent. */
  readonly hedges: ReadonlyMap<string, number>
  readonly shed: ReadonlyMap<string, number>
  readonly refusedKeys: ReadonlyMap<string, number>
  /** By the state that a circuit changed to. */
  readonly circuitChanges: ReadonlyMap<string, number>
}

/** Creates totals; every provider starts at zero, so that a first refusal of a key is already a rise. */
export function createRoutingTotals(providers: Iterable<string>): RoutingTotals {
  const names = [...providers]
  const attempts = new Map<string, Map<string, AttemptTotal>>()
  const fallbacks = new Map<string, Map<string, Map<string, number>>>()
  const atZero = () => new Map(names.map((name) => [name, 0]))
  const [broken, retries, hedges, shed, refusedKeys] = [atZero(), atZero(), atZero(), atZero(), atZero()] as const
  const circuitChanges = new Map([
    ['open', 0],
    ['closed', 0],
  ])
  return {
    note(event) {
      switch (event.type) {
        case 'attempt':
          return addAttempt(attempts, event)
        case 'fallback': {
          const byNext = entryOf(fallbacks, event.from, () => new Map<string, Map<string, number>>())
          return add(
            entryOf(byNext, event.to, () => new Map<string, number>()),
            event.reason,
          )
        }
        case 'broken':
          return add(broken, event.provider)
        case 'retry':
          return add(retries, event.provider)
        case 'hedge':
          return add(hedges, event.provider)
        case 'shed':
          return add(shed, event.provider)
        case 'key-out':
          return add(refusedKeys, event.provider)
        case 'circuit':
          return add(circuitChanges, event.state)
        default:
          return
      }
    },
    know(others) {
      for (const totals of [broken, retries, hedges, shed, refusedKeys])
        for (const name of others) totals.set(name, totals.get(name) ?? 0)
    },
    attempts,
    fallbacks,
    broken,
    retries,
    hedges,
    shed,
    refusedKeys,
    circuitChanges,
  }
}

function addAttempt(
  attempts: Map<string, Map<string, AttemptTotal>>,
  event: Extract<RoutingEvent, { type: 'attempt' }>,
): void {
  const byOutcome = entryOf(attempts, event.provider, () => new Map<string, AttemptTotal>())
  const total = entryOf(byOutcome, event.outcome, () => ({ count: 0, milliseconds: 0 }))
  total.count++
  total.milliseconds += event.milliseconds
}

function add(sums: Map<string, number>, name: string): void {
  sums.set(name, (sums.get(name) ?? 0) + 1)
}
