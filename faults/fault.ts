/** What a fault of the suite is, and what it may use to happen. */
import type { Customer } from '@faults/world/bank'
import type { Sighting } from '@faults/world/client'
import type { Random } from '@faults/world/random'
import type { Wish } from '@faults/world/request'
import type { ClusterWorld, SingleWorld, WatchedWorld } from '@faults/world/world'

/** What may differ from the provider's bill under this fault, and why nothing else may. All of it is in docs/RELIABILITY.md. */
export type Tolerance = {
  /** The store has lost part of what it knew: its memory of resolved holds need not be whole. */
  storeLost?: boolean
  /**
   * When gateways were killed (milliseconds since 1970): what they had not recorded by then is charged by the last
   * renewal, and a request in its first moments not at all.
   */
  killedAtMs?: number[]
  /** How much of what killed gateways had recorded last the store has lost. */
  recordsLostMs?: number
  /** Tokens of one request that the provider may bill beyond the charge: what was under way when one side hung up. */
  tokensUnderWay?: number
  /** Requests (by marker, or by hold where no provider was asked) whose bill and charge differ for a reason of the fault. */
  waived?: ReadonlySet<string>
  /** Requests (by marker) whose answer the gateway itself ends before its last word, as the format ends one at its limit. */
  shortened?: ReadonlySet<string>
  /** How long the recovery may take; 10 seconds unless said. */
  recoveryMs?: number
  /** What the check of the books may find, by kind: only what this fault really leaves behind for a person. */
  expectedViolations?: readonly string[]
}

export type Phase = 'before' | 'during' | 'after'

export type Stage<World> = {
  world: World
  random: Random
  /** Repetitions and sizes are small. */
  isQuick: boolean
  /** A new customer, whose balance is watched and whose every charge is checked afterwards. 5 USD unless said. */
  customer(usd?: number): Promise<Customer>
  /** Starts the everyday load with this many clients, and waits until all have had an answer. */
  traffic(clients: number): Promise<void>
  /** Sends one request to a gateway (the first unless said), and keeps what was seen. */
  send(wish: Wish, gateway?: number): Promise<Sighting>
  /** Keeps what was seen by other means. */
  see(sighting: Sighting): void
  /** From now on the fault is on. */
  inject(fault: () => unknown): Promise<void>
  /** Ends the fault and waits until every gateway answers again: `probe`, or a new customer. */
  lift(remedy: () => unknown, probe?: Customer): Promise<void>
  /** Everything that was seen, and when it was seen. */
  sightings: { phase: Phase; sighting: Sighting }[]
  /** Notes that something is not as promised. */
  expect(isTrue: boolean, what: string): void
  /** Notes a measurement, for the report. */
  note(text: string): void
  tolerance: Tolerance
}

type Common = {
  /** As in the list of faults, e.g. `F5`. */
  id: string
  title: string
  /** What clients see, in one sentence: the promise. */
  promise: string
  /** Part of the quick run. */
  isQuick?: boolean
  /** What it may take before it counts as broken, milliseconds; two minutes unless said. */
  limitMs?: number
}

export type Fault = Common &
  (
    | { world: 'single'; run(stage: Stage<SingleWorld>): Promise<void> }
    | { world: 'cluster'; run(stage: Stage<ClusterWorld>): Promise<void> }
    | { world: 'watched'; run(stage: Stage<WatchedWorld>): Promise<void> }
  )

/** The requests that were seen while the fault was on. */
export function seenDuring<World>(stage: Stage<World>): Sighting[] {
  return stage.sightings.filter(({ phase }) => phase === 'during').map(({ sighting }) => sighting)
}
