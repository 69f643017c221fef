/** The state of one request on its way through its plan, which every step of the failover reads and changes. */
import type { ProviderKey } from '@/catalog/types'
import type { GatewayError } from '@/chat/error'
import type { Conversation } from '@/routing/health/key-pool'
import type { PlannedTarget } from '@/routing/plan/plan'
import type { AttemptFault } from './fault-class'
import type { RoutingParts } from './permit'

/** One failed attempt, as logs and the caller's headers tell it. */
export type AttemptNote = { model: string; provider: string; reason: string; milliseconds: number }

export type Entry = { planned: PlannedTarget; isDone: boolean; attempts: number; avoidedKeys: ReadonlySet<string> }

/** Where to go on first: with the same key after a pause, or with another key at once. */
export type Resumption = { entry: Entry; key: ProviderKey | undefined; delayMs: number }

/** An attempt under way. */
export type UnderWay = { number: number; entry: Entry; key: ProviderKey }

export type FailoverState = {
  parts: RoutingParts
  entries: Entry[]
  accountId: string
  /** Left out if one request has nothing to do with the next. */
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
  /** How long what would have been tried as a last resort asked to be left alone still; undefined if nothing did. */
  restMs: number | undefined
  underWay: UnderWay[]
  last: { entry: Entry; fault: AttemptFault } | undefined
}

/** Nothing more is tried. */
export function isAtEnd(failover: FailoverState): boolean {
  return failover.isOver || failover.signal.aborted || failover.parts.clock.monotonic() >= failover.deadlineMs
}

/** Milliseconds until the request's deadline. */
export function remainingMs(failover: FailoverState): number {
  return failover.deadlineMs - failover.parts.clock.monotonic()
}
