/** The permission for one attempt at one target, and the effect of its outcome on breaker, keys, latency and slots. */
import type { ProviderKey, Target } from '@/catalog/types'
import type { Clock } from '@/lib/clock'
import type { BackoffWindows } from '@/routing/health/backoff-windows'
import type { CircuitBreaker, CircuitCall } from '@/routing/health/circuit-breaker'
import type { ConcurrencyLimiter, Release } from '@/routing/health/concurrency'
import type { CallsOfKey, KeyCalls } from '@/routing/health/key-calls'
import type { KeyPool } from '@/routing/health/key-pool'
import type { Latencies } from '@/routing/health/latency'
import { targetId } from '@/routing/health/target-id'
import type { Throughputs } from '@/routing/health/throughput'
import type { PlannedTarget } from '@/routing/plan/plan'
import { type AttemptFault, classify, type FaultClass } from './fault-class'
import type { RetryBudget } from './retry-budget'
import type { RoutingListener } from './routing-events'

export type RoutingParts = {
  clock: Clock
  /** A random number in [0, 1). */
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
  /** Ids of targets that a request is trying as a last resort: one request per target. */
  trials: Set<string>
  pause(milliseconds: number, signal: AbortSignal): Promise<void>
}

/** The result of an attempt without content, and its duration. */
export type FailedAttempt = { number: number; fault: AttemptFault; milliseconds: number }

/** Maximum pause for an overloaded provider, even if it requests a longer one. */
const MAX_OVERLOAD_REST_MS = 60_000

type PermitInput = {
  planned: PlannedTarget
  key: ProviderKey
  number: number
  accountId: string
  stream: boolean
  release: Release
  circuit: CircuitCall
  /** Start time by the monotonic clock. */
  startedMs: number
  /** Called once, when the attempt has an answer or has failed. */
  onDecided?: (() => void) | undefined
}

export function issuePermit(parts: RoutingParts, input: PermitInput): Permit {
  return new IssuedPermit(parts, input)
}

export type Permit = Pick<IssuedPermit, keyof IssuedPermit>

class IssuedPermit {
  /** The target with its provider's timeouts, limited to the request's remaining time. */
  readonly planned: PlannedTarget
  readonly key: ProviderKey
  /** The number of this attempt among all attempts of the request, from 1. */
  readonly number: number
  readonly startedMs: number
  private readonly keyCalls: CallsOfKey
  private phase: 'waiting' | 'answering' | 'over' = 'waiting'
  private endedMs = 0

  constructor(
    private readonly parts: RoutingParts,
    private readonly input: PermitInput,
  ) {
    this.planned = input.planned
    this.key = input.key
    this.number = input.number
    this.startedMs = input.startedMs
    this.keyCalls = parts.calls.began(input.planned.target.provider, input.key)
  }

  /** The first content has arrived, so the answer can go to the client. */
  began(): void {
    const { parts, input, startedMs } = this
    if (!this.decide('answering')) return
    const { target } = this.planned
    input.circuit.end('answered')
    parts.keys.noteSuccess(target.provider, this.key, startedMs, input.accountId)
    const milliseconds = this.elapsedMs()
    parts.latency.note(targetId(target), input.stream, milliseconds)
    this.notify('answered', milliseconds)
  }

  /** The answer has ended; `isBroken` if its provider failed. Releases the slot. */
  ended(isBroken: boolean): void {
    if (this.phase !== 'answering') return
    this.phase = 'over'
    this.endedMs = this.parts.clock.monotonic()
    this.release(this.endedMs - this.startedMs)
    if (!isBroken) return
    const { model, target } = this.planned
    this.parts.breaker.noteBroken(targetId(target))
    this.parts.notify({ type: 'broken', model: model.id, provider: target.provider.name })
  }

  /** The output tokens of a complete answer. */
  wrote(tokens: number): void {
    this.parts.throughput.note(targetId(this.planned.target), tokens, this.endedMs - this.startedMs)
  }

  /** The attempt failed before content. Returns the data that decides the next step. */
  failed(fault: AttemptFault): FailedAttempt {
    const milliseconds = this.elapsedMs()
    if (this.decide('over')) {
      this.release(milliseconds)
      noteFault(this.parts, this.input, fault)
      this.notify(classify(fault), milliseconds)
    }
    return { number: this.number, fault, milliseconds }
  }

  /** Another target was tried after a silence, and answered first. Returns the silence in milliseconds. */
  outrun(): number {
    const milliseconds = this.elapsedMs()
    if (this.decide('over')) {
      this.release(milliseconds)
      this.input.circuit.end('outrun')
      this.notify('timeout', milliseconds)
    }
    return milliseconds
  }

  /** The client disconnected, so the target is neither blamed nor praised. */
  abandoned(): void {
    if (!this.decide('over')) return
    this.release(this.elapsedMs())
    this.input.circuit.end('abandoned')
  }

  private decide(phase: 'answering' | 'over'): boolean {
    if (this.phase !== 'waiting') return false
    this.phase = phase
    this.input.onDecided?.()
    return true
  }

  private release(heldMs: number): void {
    this.input.release(heldMs)
    this.parts.calls.ended(this.keyCalls)
  }

  private elapsedMs(): number {
    return this.parts.clock.monotonic() - this.startedMs
  }

  private notify(outcome: 'answered' | FaultClass, milliseconds: number): void {
    const { model, target } = this.planned
    this.parts.notify({ type: 'attempt', model: model.id, provider: target.provider.name, outcome, milliseconds })
  }
}

/** Counts a fault for the breaker. Only the target's own faults count as failures: a target that refuses a key or request works. */
function noteFault(
  parts: RoutingParts,
  { planned: { target }, key, circuit, accountId }: PermitInput,
  fault: AttemptFault,
): void {
  switch (classify(fault)) {
    case 'transient':
    case 'timeout':
      circuit.end('failed')
      promise(parts, target, key, Math.min(retryAfterMs(fault) ?? 0, MAX_OVERLOAD_REST_MS))
      return
    case 'target':
      if (fault.kind === 'unencodable') circuit.end('abandoned')
      else circuit.end('failed')
      return
    case 'rate-limited': {
      circuit.end('refused')
      const restMs = retryAfterMs(fault)
      const left = fault.kind === 'refused' ? fault.error.left : undefined
      const isForAll = parts.keys.cool(target.provider, key, { accountId, retryAfterMs: restMs, left })
      promise(parts, target, key, restMs ?? 0, isForAll ? undefined : accountId)
      return
    }
    case 'credentials':
      circuit.end('refused')
      parts.keys.takeOut(target.provider, key, fault.kind === 'refused' ? fault.error.status : 0)
      return
    case 'forbidden':
      circuit.end('refused')
      parts.keys.strike(target.provider, key, fault.kind === 'refused' ? fault.error.status : 0, accountId)
      return
    case 'over-limit':
    case 'model':
    case 'filtered':
    case 'request':
      circuit.end('refused')
  }
}

function retryAfterMs(fault: AttemptFault): number | undefined {
  const seconds = fault.kind === 'refused' ? fault.error.retryAfterSeconds : undefined
  return seconds === undefined ? undefined : seconds * 1000
}

/** Notes a pause that the target requested, for all accounts or only for `accountId`. */
function promise(parts: RoutingParts, target: Target, key: ProviderKey, forMs: number, accountId?: string): void {
  if (forMs > 0) parts.backoffs.keep(target, key, forMs, accountId)
}
