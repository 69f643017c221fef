/** Events of routing for metrics and alerts, and a snapshot of its state. */
import type { CircuitStatus } from '@/routing/health/circuit-breaker'
import type { KeyRest } from '@/routing/health/key-pool'
import type { FaultClass } from './fault-class'

/** `provider` and `model` are names of the catalogue, `target` is `provider/upstream model`, `key` a digest. */
export type RoutingEvent =
  | { type: 'attempt'; model: string; provider: string; outcome: 'answered' | FaultClass; milliseconds: number }
  /** A request moved from one model to another. */
  | { type: 'fallback'; from: string; to: string; reason: FaultClass }
  | { type: 'retry'; provider: string }
  | { type: 'hedge'; provider: string }
  | { type: 'broken'; model: string; provider: string }
  | { type: 'circuit'; target: string; state: 'open' | 'closed' }
  /** An alert: the provider refuses this key. */
  | { type: 'key-out'; provider: string; key: string; status: number }
  /** The last call with a removed key has ended. */
  | { type: 'key-drained'; key: string }
  | { type: 'key-cooling'; key: string; forMs: number }
  /** A request got no slot of a provider, because of its limit of concurrent calls. */
  | { type: 'shed'; provider: string }

export type RoutingListener = (event: RoutingEvent) => void

export type RoutingStatus = {
  circuits: CircuitStatus[]
  keys: Map<string, KeyRest>
  /** Calls in progress with removed keys, by `provider/digest`. */
  draining: Map<string, number>
  providers: { provider: string; inFlight: number; queued: number; limit: number }[]
}
