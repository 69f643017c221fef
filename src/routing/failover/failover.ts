/**
 * Runs one request through its plan: returns attempts one at a time, and decides the next step after each failure. Targets are tried in the
 * plan's order if currently admitted: by the breaker, a free key, and a slot of the provider. Targets that aren't admitted are postponed.
 * If only these remain, the request waits for a slot at a busy one. Then it tries the refused ones anyway, one call at a time.
 */

import { GatewayError } from '@/chat/error'
import type { Soon } from '@/lib/wait/soon'
import type { Conversation } from '@/routing/health/key-pool'
import { targetId } from '@/routing/health/target-id'
import type { Plan } from '@/routing/plan/plan'
import { findFree, patienceOf, tryAnyway, tryEntry, waitForSlot } from './admission'
import { goOn } from './after-failure'
import {
  type AttemptNote,
  type Entry,
  type FailoverState,
  isAtEnd,
  type Resumption,
  type UnderWay,
} from './failover-state'
import type { FailedAttempt, Permit, RoutingParts } from './permit'
import { inTurn } from './target-turns'

/** The time limit until the first content, over all attempts. */
export const DEADLINE_MS = 600_000

export type RequestContext = {
  accountId: string
  conversation?: Conversation | undefined
  stream: boolean
  signal: AbortSignal
}

/** Starts a failover through `plan`. */
export function startFailover(parts: RoutingParts, plan: Plan, context: RequestContext): Failover {
  parts.budget.noteRequest()
  return new StartedFailover(parts, plan, context)
}

/** The keys that a new entry avoids: none. */
const NO_KEYS: ReadonlySet<string> = new Set()

export type Failover = Pick<
  StartedFailover,
  'next' | 'hasOthers' | 'note' | 'onSilence' | 'outrun' | 'trail' | 'refusal'
>

class StartedFailover implements FailoverState {
  readonly entries: Entry[] = []
  readonly accountId: string
  readonly conversation: Conversation | undefined
  readonly stream: boolean
  readonly signal: AbortSignal
  readonly hasOwnFallback: boolean
  readonly deadlineMs: number
  /** The failed attempts so far, in order. */
  readonly trail: AttemptNote[] = []
  attempts = 0
  isOver = false
  resume: Resumption | undefined
  overload: GatewayError | undefined
  restMs: number | undefined
  underWay: UnderWay[] = []
  last: FailoverState['last']

  constructor(
    readonly parts: RoutingParts,
    plan: Plan,
    { accountId, conversation, stream, signal }: RequestContext,
  ) {
    this.accountId = accountId
    this.conversation = conversation
    this.stream = stream
    this.signal = signal
    this.hasOwnFallback = plan.hasOwnFallback
    this.deadlineMs = parts.clock.monotonic() + DEADLINE_MS
    for (const planned of inTurn(plan, parts.random, conversation))
      this.entries.push({ planned, isDone: false, attempts: 0, avoidedKeys: NO_KEYS })
  }

  /** The next attempt, after the policy's pause; at once if possible. Undefined without targets or time, or after a disconnect. */
  next(failed?: FailedAttempt): Soon<Permit | undefined> {
    if (failed) goOn(this, failed)
    return advance(this)
  }

  /** Whether there is another target besides the first. */
  hasOthers(): boolean {
    return this.entries.length > 1
  }

  note(failed: FailedAttempt): void {
    goOn(this, failed)
  }

  /** The next step after `silentMs` of silence: a permit for a parallel attempt, giving up the oldest attempt, or nothing yet. */
  onSilence(permit: Permit, silentMs: number): Permit | 'give-up' | undefined {
    return onSilence(this, permit, silentMs)
  }

  outrun(permit: Permit): void {
    noteOutrun(this, permit)
  }

  /** The reason why no target was tried: the client disconnected, every provider is busy, or the deadline has passed. */
  refusal(): GatewayError {
    return refusalOf(this)
  }
}

function advance(failover: FailoverState): Soon<Permit | undefined> {
  const { resume } = failover
  failover.resume = undefined
  if (isAtEnd(failover)) return undefined
  return resume ? resumeAt(failover, resume) : tryOpen(failover)
}

async function resumeAt(failover: FailoverState, { entry, key, delayMs }: Resumption): Promise<Permit | undefined> {
  if (delayMs > 0) await failover.parts.pause(delayMs, failover.signal)
  if (isAtEnd(failover)) return undefined
  return tryEntry(failover, entry, key) ?? tryOpen(failover)
}

function tryOpen(failover: FailoverState): Soon<Permit | undefined> {
  for (const entry of failover.entries) {
    const permit = entry.isDone ? undefined : tryEntry(failover, entry, undefined)
    if (permit) return permit
  }
  return tryTaken(failover)
}

/** Gets a permit when no entry is admitted at once: waits for a slot, and then tries a last resort. */
async function tryTaken(failover: FailoverState): Promise<Permit | undefined> {
  const open = failover.entries.filter((entry) => !entry.isDone)
  return (await waitForSlot(failover, open)) ?? (await tryAnyway(failover, open))
}

function refusalOf({ signal, overload, restMs }: FailoverState): GatewayError {
  if (signal.aborted) return new GatewayError('client_gone', 'The client left before a model provider was asked.')
  return overload ?? (restMs === undefined ? tooLate() : resting(restMs))
}

/** The error if all remaining targets asked for a pause, or another request is trying them. */
function resting(restMs: number): GatewayError {
  return new GatewayError('overloaded', 'The model provider asked for a pause. Try again after it.', {
    code: 'provider_resting',
    retryAfterSeconds: Math.ceil(restMs / 1000),
  })
}

function tooLate(): GatewayError {
  return new GatewayError('timeout', 'No model provider could be asked in time. Try again.')
}

/** Maximum concurrent attempts of one request. */
const MAX_UNDER_WAY = 2
/** If the target's circuit is open, the wait is this share of the usual wait, since other requests saw the silence too. */
const OPEN_SHARE = 0.5

/** Decides the step after `silentMs` of silence. A parallel attempt takes a retry from the budget; giving up takes none. */
function onSilence(failover: FailoverState, permit: Permit, silentMs: number): Permit | 'give-up' | undefined {
  const { breaker, budget } = failover.parts
  const { hedgeMs, giveUpMs } = patienceOf(failover, permit.planned)
  if (isAtEnd(failover)) return undefined
  const isOpen = !breaker.admits(targetId(permit.planned.target))
  if (silentMs < (isOpen ? hedgeMs * OPEN_SHARE : hedgeMs)) return undefined
  const free = findFree(failover)
  if (!free) return undefined
  if (isOpen || silentMs >= giveUpMs || failover.underWay.length >= MAX_UNDER_WAY) return 'give-up'
  if (!budget.takeRetry()) return undefined
  const hedge = tryEntry(failover, free, undefined)
  if (hedge) failover.parts.notify({ type: 'hedge', provider: permit.planned.target.provider.name })
  return hedge
}

function noteOutrun(failover: FailoverState, permit: Permit): void {
  const { model, target } = permit.planned
  failover.trail.push({
    model: model.id,
    provider: target.provider.name,
    reason: 'silent',
    milliseconds: permit.outrun(),
  })
  failover.underWay = failover.underWay.filter(({ number }) => number !== permit.number)
}
