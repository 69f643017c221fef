/** One attempt at one target: the right to make it, and what its outcome means for breaker, keys, latency and slots. */
import type { ProviderKey, Target } from '@/catalog/types'
import type { Clock } from '@/lib/clock'
import type { BackoffWindows } from '@/routing/health/backoff-windows'
import type { CircuitBreaker, CircuitCall } from '@/routing/health/circuit-breaker'
import type { ConcurrencyLimiter, Release } from '@/routing/health/concurrency'
import type { KeyCalls } from '@/routing/health/key-calls'
import type { KeyPool } from '@/routing/health/key-pool'
import type { Latencies } from '@/routing/health/latency'
import { targetId } from '@/routing/health/target-id'
import type { Throughputs } from '@/routing/health/throughput'
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
  calls: KeyCalls
  backoffs: BackoffWindows
  limiter: ConcurrencyLimiter
  latency: Latencies
  throughput: Throughputs
  budget: RetryBudget
  notify: RoutingListener
  /** Targets that a request tries against all advice right now, by id: one at a time, so that a rest is a rest. */
  trials: Set<string>
  /** Waits, or less if `signal` fires. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>
}

/** What became of an attempt that brought no content, and how long it took. */
export type FailedAttempt = { number: number; fault: AttemptFault; milliseconds: number }

/**
 * Exactly one of `failed`, `abandoned` and `began` is called; after `began`, `ended` once the answer is over. All may be
 * called again without effect.
 */
export interface Permit {
  /** Its target's timeouts are the provider's own, cut to what the request's deadline leaves. */
  readonly planned: PlannedTarget
  readonly key: ProviderKey
  /** Counts from 1 over all attempts of the request. */
  readonly number: number
  /** The first content is here: from now on the answer is the client's. */
  began(): void
  /** The answer that had begun is over; `isBroken` where its provider broke it off. Gives the slot back. */
  ended(isBroken: boolean): void
  /** What the answer came to, where it is complete: so many tokens of output. */
  wrote(tokens: number): void
  /** No content came. Returns what the failover asks for to decide what comes next. */
  failed(fault: AttemptFault): FailedAttempt
  /** It was silent for so long that another target was asked, which answered first. Returns how long that was, in milliseconds. */
  outrun(): number
  /** Nobody waits for its content any more, and that says nothing about the target: the client left. */
  abandoned(): void
}

/** A provider that is overloaded as a whole is left alone for this long at most, whatever it asks for. */
const MAX_OVERLOAD_REST_MS = 60_000

type PermitInput = {
  planned: PlannedTarget
  key: ProviderKey
  number: number
  accountId: string
  stream: boolean
  release: Release
  circuit: CircuitCall
  /** Called once, when it is known whether an answer has begun. */
  onDecided?: (() => void) | undefined
}

/** Issues a permit. */
export function issuePermit(parts: RoutingParts, input: PermitInput): Permit {
  const { planned, key, number, stream, circuit } = input
  const { model, target } = planned
  const { provider } = target
  const callId = parts.calls.began(provider, key)
  const names = { model: model.id, provider: provider.name }
  const startedMs = parts.clock.monotonic()
  let phase: 'waiting' | 'answering' | 'over' = 'waiting'
  let endedMs = startedMs
  const elapsedMs = () => parts.clock.monotonic() - startedMs
  function release(): void {
    input.release()
    parts.calls.ended(callId)
  }
  return {
    planned,
    key,
    number,
    began() {
      if (phase !== 'waiting') return
      phase = 'answering'
      input.onDecided?.()
      circuit.succeeded()
      parts.keys.noteSuccess(provider, key, startedMs, input.accountId)
      const milliseconds = elapsedMs()
      parts.latency.note(targetId(target), stream, milliseconds)
      parts.notify({ type: 'attempt', ...names, outcome: 'answered', milliseconds })
    },
    ended(isBroken) {
      if (phase !== 'answering') return
      phase = 'over'
      endedMs = parts.clock.monotonic()
      release()
      if (!isBroken) return
      parts.breaker.noteBroken(targetId(target))
      parts.notify({ type: 'broken', ...names })
    },
    wrote: (tokens) => parts.throughput.note(targetId(target), tokens, endedMs - startedMs),
    failed(fault) {
      const milliseconds = elapsedMs()
      if (phase !== 'waiting') return { number, fault, milliseconds }
      phase = 'over'
      input.onDecided?.()
      release()
      noteFault(parts, input, fault)
      parts.notify({ type: 'attempt', ...names, outcome: classify(fault), milliseconds })
      return { number, fault, milliseconds }
    },
    outrun() {
      const milliseconds = elapsedMs()
      if (phase !== 'waiting') return milliseconds
      phase = 'over'
      input.onDecided?.()
      release()
      circuit.outrun()
      parts.notify({ type: 'attempt', ...names, outcome: 'timeout', milliseconds })
      return milliseconds
    },
    abandoned() {
      if (phase !== 'waiting') return
      phase = 'over'
      input.onDecided?.()
      release()
      circuit.abandoned()
    },
  }
}

/** Only what speaks against the target counts against it: a refused key or request shows that somebody is there. */
function noteFault(
  parts: RoutingParts,
  { planned: { target }, key, circuit, accountId }: PermitInput,
  fault: AttemptFault,
): void {
  switch (classify(fault)) {
    case 'transient':
    case 'timeout':
      circuit.failed()
      promise(parts, target, key, Math.min(retryAfterMs(fault) ?? 0, MAX_OVERLOAD_REST_MS))
      return
    case 'target':
      if (fault.kind === 'unencodable') circuit.abandoned()
      else circuit.failed()
      return
    case 'rate-limited': {
      circuit.answered()
      const restMs = retryAfterMs(fault)
      const left = fault.kind === 'refused' ? fault.error.left : undefined
      const isForAll = parts.keys.cool(target.provider, key, { accountId, retryAfterMs: restMs, left })
      promise(parts, target, key, restMs ?? 0, isForAll ? undefined : accountId)
      return
    }
    case 'credentials':
      circuit.answered()
      parts.keys.takeOut(target.provider, key, fault.kind === 'refused' ? fault.error.status : 0)
      return
    case 'forbidden':
      circuit.answered()
      parts.keys.strike(target.provider, key, fault.kind === 'refused' ? fault.error.status : 0, accountId)
      return
    case 'over-limit':
    case 'model':
    case 'filtered':
    case 'request':
      circuit.answered()
  }
}

function retryAfterMs(fault: AttemptFault): number | undefined {
  const seconds = fault.kind === 'refused' ? fault.error.retryAfterSeconds : undefined
  return seconds === undefined ? undefined : seconds * 1000
}

/** For all accounts, or for the one of `accountId` alone. */
function promise(parts: RoutingParts, target: Target, key: ProviderKey, forMs: number, accountId?: string): void {
  if (forMs > 0) parts.backoffs.keep(target, key, forMs, accountId)
}
