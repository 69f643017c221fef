/** The state of one request's failover, which every step reads and changes. */
import type { ProviderKey } from '@/catalog/types'
import type { GatewayError } from '@/chat/error'
import type { Conversation } from '@/routing/health/key-pool'
import type { PlannedTarget } from '@/routing/plan/plan'
import type { AttemptFault } from './fault-class'
import type { RoutingParts } from './permit'

/** One failed attempt, for logs and the caller's headers. */
export type AttemptNote = { model: string; provider: string; reason: string; milliseconds: number }

export type Entry = { planned: PlannedTarget; isDone: boolean; attempts: number; avoidedKeys: ReadonlySet<string> }

/** How to continue: with the same key after a pause, or with another key at once. */
export type Resumption = { entry: Entry; key: ProviderKey | undefined; delayMs: number }

export type UnderWay = { number: number; entry: Entry; key: ProviderKey }

export type FailoverState = {
  parts: RoutingParts
  entries: Entry[]
  accountId: string
  /** Undefined if the request belongs to no conversation. */
  conversation: Conversation | undefined
  stream: boolean
  hasOwnFallback: boolean
  signal: AbortSignal
  deadlineMs: number
  trail: AttemptNote[]
  attempts: number
  isOver: boolean
  resume: Resumption | undefined
  overload: GatewayError | undefined
  /** Milliseconds until a last resort is possible; undefined if no target is paused. */
  restMs: number | undefined
  underWay: UnderWay[]
  last: { entry: Entry; fault: AttemptFault } | undefined
}

/** Whether no more attempts follow. */
export function isAtEnd(failover: FailoverState): boolean {
  return failover.isOver || failover.signal.aborted || failover.parts.clock.monotonic() >= failover.deadlineMs
}

/** Milliseconds until the request's deadline. */
export function remainingMs(failover: FailoverState): number {
  return failover.deadlineMs - failover.parts.clock.monotonic()
}
