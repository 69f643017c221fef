/**
 * Lets a request through to a target, where breaker, keys and slots do: at once, after a wait for a slot, or as the last resort
 * against their advice, of which there is one at a time for each target, so that a rest stays a rest.
 */
import type { ProviderKey } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { Release } from '@/routing/health/concurrency'
import { targetId } from '@/routing/health/target-id'
import type { PlannedTarget } from '@/routing/plan/plan'
import { classify } from './fault-class'
import { type Entry, isAtEnd, type JourneyState, remainingMs } from './journey-state'
import { type Patience, patienceWith } from './patience'
import { issueTicket, type Ticket } from './ticket'

/** A target that is tried against its breaker's advice may be silent for this long at most. */
export const LAST_RESORT_PATIENCE_MS = 60_000
/** Silence that counts against a target: a stream should have begun, a whole answer be finished. */
const SLOW_STREAM_MS = 30_000
const SLOW_WHOLE_MS = 120_000

/** Told to come back after no less than this, however soon somebody else's trial may be over. */
const MIN_REST_MS = 1_000

/** A ticket for the entry if it is let through right now. */
export function tryEntry(journey: JourneyState, entry: Entry, sameKey: ProviderKey | undefined): Ticket | undefined {
  const { provider } = entry.planned.target
  const { keys } = journey.parts
  // A key that was taken out of use since gets no further call.
  const again = sameKey && keys.keysOf(provider).find(({ id }) => id === sameKey.id)
  const key = again ?? keys.pickUsable(provider, entry.avoidedKeys, journey.accountId, journey.conversation)
  if (key && isPromised(journey, entry, key)) return undefined
  const release = key && journey.parts.limiter.tryTake(provider)
  return key && release && open(journey, entry, key, release)
}

/** Waits for the first provider that is only busy. Where none has room soon enough, says so and leaves them. */
export async function waitForSlot(journey: JourneyState, entries: readonly Entry[]): Promise<Ticket | undefined> {
  const { breaker, keys, limiter } = journey.parts
  for (const entry of entries) {
    const { target } = entry.planned
    const key = keys.pickUsable(target.provider, entry.avoidedKeys, journey.accountId, journey.conversation)
    if (!key || !breaker.admits(targetId(target)) || isPromised(journey, entry, key)) continue
    const release = await takeSlot(journey, entry, limiter.take(target.provider, journey.signal))
    if (journey.signal.aborted) release?.()
    if (isAtEnd(journey)) return undefined
    const ticket = release && open(journey, entry, key, release)
    if (ticket) return ticket
  }
  return undefined
}

/**
 * Tries what breaker or keys advise against: a call that will probably fail is better than a refusal, but one is enough to find
 * out. Not within a time that the target asked for itself.
 */
export async function tryAnyway(journey: JourneyState, entries: readonly Entry[]): Promise<Ticket | undefined> {
  const { limiter, trials } = journey.parts
  for (const entry of entries) {
    if (entry.isDone) continue
    const { target } = entry.planned
    const id = targetId(target)
    const key = keyForTrial(journey, entry)
    const isTaken = key && trials.has(id)
    if (isTaken) noteRest(journey, journey.parts.breaker.remainingMs(id))
    if (key && !isTaken) {
      trials.add(id)
      const endTrial = () => void trials.delete(id)
      const release = await takeSlot(journey, entry, limiter.take(target.provider, journey.signal))
      if (release && !isAtEnd(journey)) return open(journey, entry, key, release, endTrial)
      release?.()
      endTrial()
      if (isAtEnd(journey)) return undefined
    }
    entry.isDone = true
  }
  journey.isOver = true
  return undefined
}

function isPromised({ parts, accountId }: JourneyState, { planned }: Entry, key: ProviderKey): boolean {
  return parts.promises.remainingMs(planned.target, key, accountId) > 0
}

/** The key that rests least long of those with which the target may be asked; where there is none, notes how long that is so. */
function keyForTrial(journey: JourneyState, entry: Entry): ProviderKey | undefined {
  const { keys, promises } = journey.parts
  const { target } = entry.planned
  const avoided = new Set(entry.avoidedKeys)
  for (const key of keys.keysOf(target.provider)) {
    const restMs = promises.remainingMs(target, key, journey.accountId)
    if (restMs === 0 || avoided.has(key.id)) continue
    avoided.add(key.id)
    noteRest(journey, restMs)
  }
  return keys.pickResting(target.provider, avoided, journey.accountId)
}

/** The shortest of them is when it is worth coming back. */
function noteRest(journey: JourneyState, restMs: number): void {
  journey.restMs = Math.min(journey.restMs ?? Number.POSITIVE_INFINITY, Math.max(restMs, MIN_REST_MS))
}

async function takeSlot(journey: JourneyState, entry: Entry, taking: Promise<Release | undefined>) {
  try {
    return await taking
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    journey.overload ??= error
    journey.parts.notify({ type: 'shed', provider: entry.planned.target.provider.name })
    entry.isDone = true
    return undefined
  }
}

/** Enters the breaker, against its advice where this is a trial, and issues the ticket; gives the slot back where it refuses. */
function open(
  journey: JourneyState,
  entry: Entry,
  key: ProviderKey,
  release: Release,
  endTrial?: () => void,
): Ticket | undefined {
  const { parts, accountId, stream } = journey
  const { provider } = entry.planned.target
  const slowAfterMs = Math.min(silenceThatCounts(journey, entry), provider.timeouts.firstByteMs)
  const isAgainstAdvice = endTrial !== undefined && !parts.breaker.admits(targetId(entry.planned.target))
  const circuit = parts.breaker.enter(targetId(entry.planned.target), slowAfterMs, endTrial !== undefined)
  if (!circuit) {
    release()
    return undefined
  }
  noteMove(journey, entry)
  entry.attempts++
  journey.attempts++
  journey.underWay.set(journey.attempts, { entry, key })
  const limitMs = Math.min(remainingMs(journey), isAgainstAdvice ? LAST_RESORT_PATIENCE_MS : Number.POSITIVE_INFINITY)
  return issueTicket(parts, {
    planned: withPatience(entry.planned, limitMs),
    key,
    number: journey.attempts,
    accountId,
    stream,
    release,
    circuit,
    onDecided: endTrial,
  })
}

function noteMove(journey: JourneyState, entry: Entry): void {
  const { last } = journey
  if (!last || last.entry.planned.model === entry.planned.model) return
  const [from, to] = [last.entry.planned.model.id, entry.planned.model.id]
  journey.parts.notify({ type: 'fallback', from, to, reason: classify(last.fault) })
}

/** A target that is all there is gets all the time; where another is left, being silent for longer than it ever is counts. */
function silenceThatCounts(journey: JourneyState, entry: Entry): number {
  const { parts, stream } = journey
  const ceilingMs = stream ? SLOW_STREAM_MS : SLOW_WHOLE_MS
  if (!journey.entries.some((other) => other !== entry && !other.isDone)) return ceilingMs
  const { hedgeMs, giveUpMs } = patienceOf(journey, entry.planned)
  const isKnown = parts.latency.slowest(targetId(entry.planned.target), stream) !== undefined
  return Math.min(isKnown ? hedgeMs : giveUpMs, ceilingMs)
}

/** The patience with a target of this journey. */
export function patienceOf({ parts, stream }: JourneyState, { target }: PlannedTarget): Patience {
  return patienceWith(parts.latency.slowest(targetId(target), stream), stream, target.provider.timeouts.hedgeMs)
}

/** Whether a target that is neither done with nor being asked would be let through now. */
export function findFree(journey: JourneyState): Entry | undefined {
  const { breaker, keys } = journey.parts
  const asked = new Set([...journey.underWay.values()].map(({ entry }) => entry))
  return journey.entries.find((entry) => {
    if (entry.isDone || asked.has(entry)) return false
    const { target } = entry.planned
    const key = keys.pickUsable(target.provider, entry.avoidedKeys, journey.accountId, journey.conversation)
    return key !== undefined && breaker.admits(targetId(target)) && !isPromised(journey, entry, key)
  })
}

function withPatience(planned: PlannedTarget, limitMs: number): PlannedTarget {
  const { target } = planned
  const { provider } = target
  if (provider.timeouts.firstByteMs <= limitMs) return planned
  const timeouts = { ...provider.timeouts, firstByteMs: Math.ceil(limitMs) }
  return { ...planned, target: { ...target, provider: { ...provider, timeouts } } }
}
