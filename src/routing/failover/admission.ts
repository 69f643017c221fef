/**
 * Admits a request to a target, if breaker, keys and slots allow it: at once, or after waiting for a slot. As a last resort, a request may
 * go to a target that the breaker or keys refuse: one request per target at a time, so that the target really has a pause.
 */

import type { Provider, ProviderKey } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { ConcurrencyLimiter, Release } from '@/routing/health/concurrency'
import type { KeyPool } from '@/routing/health/key-pool'
import { targetId } from '@/routing/health/target-id'
import type { PlannedTarget } from '@/routing/plan/plan'
import { type Entry, type FailoverState, isAtEnd } from './failover-state'
import { classify } from './fault-class'
import { issuePermit, type Permit } from './permit'

/** Maximum silence of a target that is tried although its breaker is open. */
export const LAST_RESORT_PATIENCE_MS = 60_000
/** Silence after which a target counts as slow: before a stream's start, or a whole answer's end. */
const SLOW_STREAM_MS = 30_000
const SLOW_WHOLE_MS = 120_000

/** The minimum `retry-after` while another request's trial is running. */
const MIN_REST_MS = 1_000

/** A permit for the entry if it is admitted right now. */
export function tryEntry(failover: FailoverState, entry: Entry, sameKey: ProviderKey | undefined): Permit | undefined {
  const { provider } = entry.planned.target
  const { keys } = failover.parts
  const key =
    (sameKey && stillUsed(keys, provider, sameKey)) ??
    keys.pickUsable(provider, entry.avoidedKeys, failover.accountId, failover.conversation)
  if (key && isBackedOff(failover, entry, key)) return undefined
  const release = key && failover.parts.limiter.tryTake(provider, failover.accountId)
  return key && release && open(failover, entry, key, release)
}

/** The current catalogue's key with this id; undefined if a reload removed it. */
function stillUsed(keys: KeyPool, provider: Provider, { id }: ProviderKey): ProviderKey | undefined {
  return keys.keysOf(provider).find((key) => key.id === id)
}

/** Waits for a slot at the first entry that lacks only a slot. If it gets none soon, notes the overload and goes on to the next entry. */
export async function waitForSlot(failover: FailoverState, entries: readonly Entry[]): Promise<Permit | undefined> {
  const { breaker, keys, limiter } = failover.parts
  for (const entry of entries) {
    const { target } = entry.planned
    const key = keys.pickUsable(target.provider, entry.avoidedKeys, failover.accountId, failover.conversation)
    if (!key || !breaker.admits(targetId(target)) || isBackedOff(failover, entry, key)) continue
    const release = await takeSlot(failover, entry, limiter)
    if (failover.signal.aborted) release?.()
    if (isAtEnd(failover)) return undefined
    const permit = release && open(failover, entry, key, release)
    if (permit) return permit
  }
  return undefined
}

/**
 * Tries a target although its breaker is open or its keys are paused: one such call is better than a refusal. Doesn't try it during a pause
 * that the target itself requested.
 */
export async function tryAnyway(failover: FailoverState, entries: readonly Entry[]): Promise<Permit | undefined> {
  const { limiter, trials } = failover.parts
  for (const entry of entries) {
    if (entry.isDone) continue
    const { target } = entry.planned
    const id = targetId(target)
    const key = keyForTrial(failover, entry)
    const isTaken = key && trials.has(id)
    if (isTaken) noteRest(failover, failover.parts.breaker.remainingMs(id))
    if (key && !isTaken) {
      trials.add(id)
      const endTrial = () => void trials.delete(id)
      const release = await takeSlot(failover, entry, limiter)
      if (release && !isAtEnd(failover)) return open(failover, entry, key, release, endTrial)
      release?.()
      endTrial()
      if (isAtEnd(failover)) return undefined
    }
    entry.isDone = true
  }
  failover.isOver = true
  return undefined
}

function isBackedOff({ parts, accountId }: FailoverState, { planned }: Entry, key: ProviderKey): boolean {
  return parts.backoffs.remainingMs(planned.target, key, accountId) > 0
}

/** The key for a last resort: the one whose pause ends first. Skips keys for which the target requested a pause, and notes that pause. */
function keyForTrial(failover: FailoverState, entry: Entry): ProviderKey | undefined {
  const { keys, backoffs } = failover.parts
  const { target } = entry.planned
  const avoided = new Set(entry.avoidedKeys)
  for (const key of keys.keysOf(target.provider)) {
    const restMs = backoffs.remainingMs(target, key, failover.accountId)
    if (restMs === 0 || avoided.has(key.id)) continue
    avoided.add(key.id)
    noteRest(failover, restMs)
  }
  return keys.pickResting(target.provider, avoided, failover.accountId)
}

/** Notes a remaining pause. The shortest pause becomes the caller's `retry-after`. */
function noteRest(failover: FailoverState, restMs: number): void {
  failover.restMs = Math.min(failover.restMs ?? Number.POSITIVE_INFINITY, Math.max(restMs, MIN_REST_MS))
}

async function takeSlot(failover: FailoverState, entry: Entry, limiter: ConcurrencyLimiter) {
  try {
    return await limiter.take(entry.planned.target.provider, failover.accountId, failover.signal)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    failover.overload ??= error
    failover.parts.notify({ type: 'shed', provider: entry.planned.target.provider.name })
    entry.isDone = true
    return undefined
  }
}

/** Registers the call at the breaker (which must admit a trial) and issues the permit. Releases the slot if the breaker refuses. */
function open(
  failover: FailoverState,
  entry: Entry,
  key: ProviderKey,
  release: Release,
  endTrial?: () => void,
): Permit | undefined {
  const { parts, accountId, stream } = failover
  const { provider } = entry.planned.target
  const slowAfterMs = Math.min(silenceThatCounts(failover, entry), provider.timeouts.firstByteMs)
  const isAgainstAdvice = endTrial !== undefined && !parts.breaker.admits(targetId(entry.planned.target))
  const circuit = parts.breaker.enter(targetId(entry.planned.target), slowAfterMs, endTrial !== undefined)
  if (!circuit) {
    release()
    return undefined
  }
  noteMove(failover, entry)
  entry.attempts++
  failover.attempts++
  failover.underWay.push({ number: failover.attempts, entry, key })
  const startedMs = parts.clock.monotonic()
  const limitMs = Math.min(
    failover.deadlineMs - startedMs,
    isAgainstAdvice ? LAST_RESORT_PATIENCE_MS : Number.POSITIVE_INFINITY,
  )
  return issuePermit(parts, {
    planned: withPatience(entry.planned, limitMs),
    key,
    number: failover.attempts,
    accountId,
    stream,
    release,
    circuit,
    startedMs,
    onDecided: endTrial,
  })
}

function noteMove(failover: FailoverState, entry: Entry): void {
  const { last } = failover
  if (!last || last.entry.planned.model === entry.planned.model) return
  const [from, to] = [last.entry.planned.model.id, entry.planned.model.id]
  failover.parts.notify({ type: 'fallback', from, to, reason: classify(last.fault) })
}

/** The silence that counts as slow. It is short if another target is left, and long for the only target. */
function silenceThatCounts(failover: FailoverState, entry: Entry): number {
  const { parts, stream } = failover
  const ceilingMs = stream ? SLOW_STREAM_MS : SLOW_WHOLE_MS
  if (!hasOther(failover.entries, entry)) return ceilingMs
  const { hedgeMs, giveUpMs } = patienceOf(failover, entry.planned)
  const isKnown = parts.latency.slowest(targetId(entry.planned.target), stream) !== undefined
  return Math.min(isKnown ? hedgeMs : giveUpMs, ceilingMs)
}

function hasOther(entries: readonly Entry[], entry: Entry): boolean {
  for (const other of entries) if (other !== entry && !other.isDone) return true
  return false
}

/** How long this failover waits for a target. */
export function patienceOf({ parts, stream }: FailoverState, { target }: PlannedTarget): Patience {
  return patienceWith(parts.latency.slowest(targetId(target), stream), stream, target.provider.timeouts.hedgeMs)
}

/** The first entry that is neither done nor in progress and would be admitted now. */
export function findFree(failover: FailoverState): Entry | undefined {
  const { breaker, keys } = failover.parts
  return failover.entries.find((entry) => {
    if (entry.isDone || failover.underWay.some((attempt) => attempt.entry === entry)) return false
    const { target } = entry.planned
    const key = keys.pickUsable(target.provider, entry.avoidedKeys, failover.accountId, failover.conversation)
    return key !== undefined && breaker.admits(targetId(target)) && !isBackedOff(failover, entry, key)
  })
}

function withPatience(planned: PlannedTarget, limitMs: number): PlannedTarget {
  const { target } = planned
  const { provider } = target
  if (provider.timeouts.firstByteMs <= limitMs) return planned
  const timeouts = { ...provider.timeouts, firstByteMs: Math.ceil(limitMs) }
  return { ...planned, target: { ...target, provider: { ...provider, timeouts } } }
}

/** Milliseconds of silence until the next step, if another target is left. */
type Patience = {
  /** Milliseconds until the next target is tried in parallel. */
  hedgeMs: number
  /** Milliseconds until the next target replaces this one, if the retry budget is used up. */
  giveUpMs: number
}

/** The minimum wait for every target, however fast, unless its provider sets `hedgeMs`. */
const MIN_HEDGE_MS = 5_000
/** A silence is unusual if it exceeds the target's 99th percentile by this factor. */
const USUAL_FACTOR = 4
/** Patience for a target without measurements. An answer that isn't streamed is silent until it is complete. */
const UNKNOWN_STREAM: Patience = { hedgeMs: 10_000, giveUpMs: 30_000 }
const UNKNOWN_WHOLE: Patience = { hedgeMs: 15_000, giveUpMs: 60_000 }

/** `slowestMs`: 99th percentile of the target's response times (undefined: unknown). `leastMs`: the minimum wait before another call. */
function patienceWith(slowestMs: number | undefined, stream: boolean, leastMs: number | undefined): Patience {
  if (slowestMs === undefined) {
    if (leastMs !== undefined) return { hedgeMs: leastMs, giveUpMs: 2 * leastMs }
    return stream ? UNKNOWN_STREAM : UNKNOWN_WHOLE
  }
  const hedgeMs = Math.max(leastMs ?? MIN_HEDGE_MS, USUAL_FACTOR * slowestMs)
  return { hedgeMs, giveUpMs: 2 * hedgeMs }
}
