/** Events of routing for metrics and alerts, and a snapshot of its state. */
import type { CircuitStatus } from '@/routing/health/circuit-breaker'
import type { KeyRest } from '@/routing/health/key-pool'
import type { FaultClass } from './fault-class'

/** `provider` and `model` are names of the catalogue, `target` is `provider/upstream model`, `key` a digest. */
export type RoutingEvent =
  | { type: 'attempt'; model: string; provider: string; outcome: 'answered' | FaultClass; milliseconds: number }
  /** A request went on from one model to another. */
  | { type: 'fallback'; from: string; to: string; reason: FaultClass }
  | { type: 'retry'; provider: string }
  /** A provider was silent for so long that another was asked beside it. */
  | { type: 'hedge'; provider: string }
  /** An answer that had begun was broken off by its provider. */
  | { type: 'broken'; model: string; provider: string }
  | { type: 'circuit'; target: string; state: 'open' | 'closed' }
  /** An alert: the provider refuses this key. */
  | { type: 'key-out'; provider: string; key: string; status: number }
  /** A key that was taken out of use has no call under way any more. */
  | { type: 'key-drained'; key: string }
  | { type: 'key-cooling'; key: string; forMs: number }
  /** A provider's limit of calls in flight turned a request away. */
  | { type: 'shed'; provider: string }

export type RoutingListener = (event: RoutingEvent) => void

/** The present state of everything that routing watches. */
export type RoutingStatus = {
  circuits: CircuitStatus[]
  /** Keys that rest, by `provider/digest`. */
  keys: Map<string, KeyRest>
  /** Calls under way on keys that are no longer in use, by `provider/digest`. */
  draining: Map<string, number>
  providers: { provider: string; inFlight: number; queued: number; limit: number }[]
}
