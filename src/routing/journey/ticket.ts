/** One attempt at one target: the right to make it, and what its outcome means for breaker, keys, latency and slots. */
import type { ProviderKey } from '@/catalog/types'
import type { Clock } from '@/lib/clock'
import type { CircuitBreaker, CircuitCall } from '@/routing/health/circuit-breaker'
import type { ConcurrencyLimiter, Release } from '@/routing/health/concurrency'
import type { KeyPool } from '@/routing/health/key-pool'
import type { Latencies } from '@/routing/health/latency'
import { targetId } from '@/routing/health/target-id'
import type { PlannedTarget } from '@/routing/plan/plan'
import { type AttemptFault, classify } from './fault-class'
import type { RetryBudget } from './retry-budget'
import type { RoutingListener } from './routing-events'

/** What all attempts of one process share. */
export type RoutingParts = {
  clock: Clock
  /** [0, 1). */
  random: () => number
  breaker: CircuitBreaker
  keys: KeyPool
  limiter: ConcurrencyLimiter
  latency: Latencies
  budget: RetryBudget
  notify: RoutingListener
  /** Waits, or less if `signal` fires. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>
}

/** What became of an attempt that brought no content, and how long it took. */
export type FailedAttempt = { fault: AttemptFault; milliseconds: number }

/**
 * Exactly one of `failed`, `abandoned` and `began` is called; after `began`, `ended` once the answer is over. All may be
 * called again without effect.
 */
export interface Ticket {
  /** Its target's timeouts are the provider's own, cut to what the request's deadline leaves. */
  readonly planned: PlannedTarget
  readonly key: ProviderKey
  /** Counts from 1 over all attempts of the request. */
  readonly number: number
  /** The first content is here: from now on the answer is the client's. */
  began(): void
  /** The answer that had begun is over; `isBroken` where its provider broke it off. Gives the slot back. */
  ended(isBroken: boolean): void
  /** No content came. Returns what the journey asks for to decide what comes next. */
  failed(fault: AttemptFault): FailedAttempt
  /** The client left before any content came. */
  abandoned(): void
}

type TicketInput = {
  planned: PlannedTarget
  key: ProviderKey
  number: number
  accountId: string
  stream: boolean
  release: Release
  circuit: CircuitCall
}

/** Issues a ticket. */
export function issueTicket(parts: RoutingParts, input: TicketInput): Ticket {
  const { planned, key, number, stream, release, circuit } = input
  const { model, target } = planned
  const { provider } = target
  const names = { model: model.id, provider: provider.name }
  const startedMs = parts.clock.monotonic()
  let phase: 'waiting' | 'answering' | 'over' = 'waiting'
  const elapsedMs = () => parts.clock.monotonic() - startedMs
  return {
    planned,
    key,
    number,
    began() {
      if (phase !== 'waiting') return
      phase = 'answering'
      circuit.succeeded()
      parts.keys.noteSuccess(provider, key, startedMs)
      parts.latency.note(targetId(target), stream, elapsedMs())
      parts.notify({ type: 'attempt', ...names, outcome: 'answered', milliseconds: elapsedMs() })
    },
    ended(isBroken) {
      if (phase !== 'answering') return
      phase = 'over'
      release()
      if (!isBroken) return
      parts.breaker.noteBroken(targetId(target))
      parts.notify({ type: 'broken', ...names })
    },
    failed(fault) {
      const milliseconds = elapsedMs()
      if (phase !== 'waiting') return { fault, milliseconds }
      phase = 'over'
      release()
      noteFault(parts, input, fault)
      parts.notify({ type: 'attempt', ...names, outcome: classify(fault), milliseconds })
      return { fault, milliseconds }
    },
    abandoned() {
      if (phase !== 'waiting') return
      phase = 'over'
      release()
      circuit.abandoned()
    },
  }
}

/** Only what speaks against the target counts against it: a refused key or request shows that somebody is there. */
function noteFault(
  parts: RoutingParts,
  { planned: { target }, key, circuit, accountId }: TicketInput,
  fault: AttemptFault,
): void {
  switch (classify(fault)) {
    case 'transient':
    case 'timeout':
      circuit.failed()
      return
    case 'target':
      if (fault.kind === 'unencodable') circuit.abandoned()
      else circuit.failed()
      return
    case 'rate-limited': {
      circuit.answered()
      const seconds = fault.kind === 'refused' ? fault.error.retryAfterSeconds : undefined
      parts.keys.cool(target.provider, key, seconds === undefined ? undefined : seconds * 1000)
      return
    }
    case 'credentials':
      circuit.answered()
      parts.keys.takeOut(target.provider, key, fault.kind === 'refused' ? fault.error.status : 0)
      return
    case 'forbidden':
      circuit.answered()
      parts.keys.accuse(target.provider, key, fault.kind === 'refused' ? fault.error.status : 0, accountId)
      return
    case 'model':
    case 'request':
      circuit.answered()
  }
}
