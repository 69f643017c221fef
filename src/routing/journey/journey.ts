/**
 * One request's way through its plan: hands out attempts one at a time, and after each failure decides where to go next.
 *
 * Targets are tried in the plan's order as long as they are let through at that moment: the breaker admits them, a key is
 * free, and the provider has a slot. Those that aren't are left for later; when only such are left, the busy ones are waited
 * for, and then the others are tried anyway, because a call that will probably fail is better than a refusal.
 */
import type { ProviderKey } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import { assert } from '@/lib/assert'
import type { Release } from '@/routing/health/concurrency'
import { targetId } from '@/routing/health/target-id'
import type { Plan, PlannedTarget } from '@/routing/plan/plan'
import { type NextStep, nextStep } from './attempt-policy'
import { type AttemptFault, classify, type FaultClass } from './fault-class'
import { type FailedAttempt, issueTicket, type RoutingParts, type Ticket } from './ticket'

/** One failed attempt, as logs and the caller's headers tell it. */
export type AttemptNote = { model: string; provider: string; reason: string; milliseconds: number }

export interface Journey {
  /**
   * The attempt to make, given how the one before it failed: after whatever pause the policy asks for. Undefined where
   * nothing is left, the deadline is over, or the client is gone.
   */
  next(failed?: FailedAttempt): Promise<Ticket | undefined>
  /** The failed attempts so far, in order. */
  readonly trail: readonly AttemptNote[]
  /** Why nothing was tried: every provider is busy, or it is too late. */
  refusal(): GatewayError
}

/** Everything up to the first content has to happen within this time, however many attempts it takes. */
export const DEADLINE_MS = 600_000
/** A target that is tried against its breaker's advice may be silent for this long at most. */
export const LAST_RESORT_PATIENCE_MS = 60_000
/** Silence that counts against a target: a stream should have begun, a whole answer be finished. */
const SLOW_STREAM_MS = 30_000
const SLOW_WHOLE_MS = 120_000

type Entry = { planned: PlannedTarget; isDone: boolean; attempts: number; avoidedKeys: Set<string> }

type JourneyState = {
  parts: RoutingParts
  entries: Entry[]
  accountId: string
  stream: boolean
  signal: AbortSignal
  deadlineMs: number
  trail: AttemptNote[]
  attempts: number
  isOver: boolean
  /** Go on with this entry first: the same key after a pause, or another key at once. */
  resume: { entry: Entry; key: ProviderKey | undefined; delayMs: number } | undefined
  overload: GatewayError | undefined
  /** The attempt under way. */
  current: { entry: Entry; key: ProviderKey } | undefined
  last: { entry: Entry; fault: AttemptFault } | undefined
}

/** Who asks, whether for a stream, and what fires when they go away. */
export type Traveller = { accountId: string; stream: boolean; signal: AbortSignal }

/** Starts a journey through `plan`. */
export function startJourney(parts: RoutingParts, plan: Plan, traveller: Traveller): Journey {
  const { accountId, stream, signal } = traveller
  parts.budget.noteRequest()
  const journey: JourneyState = {
    parts,
    entries: plan.targets.map((planned) => ({ planned, isDone: false, attempts: 0, avoidedKeys: new Set() })),
    accountId,
    stream,
    signal,
    deadlineMs: parts.clock.monotonic() + DEADLINE_MS,
    trail: [],
    attempts: 0,
    isOver: false,
    resume: undefined,
    overload: undefined,
    current: undefined,
    last: undefined,
  }
  return {
    trail: journey.trail,
    next(failed) {
      if (failed) goOn(journey, failed)
      return advance(journey)
    },
    refusal: () => journey.overload ?? tooLate(),
  }
}

async function advance(journey: JourneyState): Promise<Ticket | undefined> {
  const { resume, signal } = journey
  journey.resume = undefined
  if (isAtEnd(journey)) return undefined
  if (resume) {
    if (resume.delayMs > 0) await journey.parts.pause(resume.delayMs, signal)
    if (isAtEnd(journey)) return undefined
    const ticket = tryEntry(journey, resume.entry, resume.key)
    if (ticket) return ticket
  }
  const open = journey.entries.filter((entry) => !entry.isDone)
  for (const entry of open) {
    const ticket = tryEntry(journey, entry, undefined)
    if (ticket) return ticket
  }
  return (await waitForSlot(journey, open)) ?? (await tryAnyway(journey, open))
}

function isAtEnd(journey: JourneyState): boolean {
  return journey.isOver || journey.signal.aborted || journey.parts.clock.monotonic() >= journey.deadlineMs
}

/** A ticket for the entry if it is let through right now. */
function tryEntry(journey: JourneyState, entry: Entry, sameKey: ProviderKey | undefined): Ticket | undefined {
  const { provider } = entry.planned.target
  const key = sameKey ?? journey.parts.keys.pickUsable(provider, entry.avoidedKeys)
  const release = key && journey.parts.limiter.tryTake(provider)
  return key && release && open(journey, entry, key, release, false)
}

/** Waits for the first provider that is only busy. Where none has room soon enough, says so and leaves them. */
async function waitForSlot(journey: JourneyState, entries: readonly Entry[]): Promise<Ticket | undefined> {
  const { breaker, keys, limiter } = journey.parts
  for (const entry of entries) {
    const { target } = entry.planned
    const key = keys.pickUsable(target.provider, entry.avoidedKeys)
    if (!key || !breaker.admits(targetId(target))) continue
    const release = await takeSlot(journey, entry, limiter.take(target.provider, journey.signal))
    if (journey.signal.aborted) release?.()
    if (isAtEnd(journey)) return undefined
    const ticket = release && open(journey, entry, key, release, false)
    if (ticket) return ticket
  }
  return undefined
}

async function tryAnyway(journey: JourneyState, entries: readonly Entry[]): Promise<Ticket | undefined> {
  const { keys, limiter } = journey.parts
  for (const entry of entries) {
    if (entry.isDone) continue
    const { target } = entry.planned
    const key = keys.pickResting(target.provider, entry.avoidedKeys)
    const release = key && (await takeSlot(journey, entry, limiter.take(target.provider, journey.signal)))
    if (journey.signal.aborted) release?.()
    if (isAtEnd(journey)) return undefined
    if (key && release) return open(journey, entry, key, release, true)
    entry.isDone = true
  }
  journey.isOver = true
  return undefined
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

/** Enters the breaker and issues the ticket; gives the slot back where the breaker refuses. */
function open(
  journey: JourneyState,
  entry: Entry,
  key: ProviderKey,
  release: Release,
  isForced: boolean,
): Ticket | undefined {
  const { parts, accountId, stream } = journey
  const { provider } = entry.planned.target
  const slowAfterMs = Math.min(stream ? SLOW_STREAM_MS : SLOW_WHOLE_MS, provider.timeouts.firstByteMs)
  const isAgainstAdvice = isForced && !parts.breaker.admits(targetId(entry.planned.target))
  const circuit = parts.breaker.enter(targetId(entry.planned.target), slowAfterMs, isForced)
  if (!circuit) {
    release()
    return undefined
  }
  noteMove(journey, entry)
  journey.current = { entry, key }
  entry.attempts++
  journey.attempts++
  const limitMs = Math.min(remainingMs(journey), isAgainstAdvice ? LAST_RESORT_PATIENCE_MS : Number.POSITIVE_INFINITY)
  return issueTicket(parts, {
    planned: withPatience(entry.planned, limitMs),
    key,
    number: journey.attempts,
    accountId,
    stream,
    release,
    circuit,
  })
}

/** What speaks against the key, at least for this request at this target. */
const AVOIDS_KEY: ReadonlySet<FaultClass> = new Set(['rate-limited', 'credentials', 'forbidden'])

/** Notes how the attempt under way failed and decides on the step after it. */
function goOn(journey: JourneyState, { fault, milliseconds }: FailedAttempt): void {
  const { parts, current } = journey
  assert(current, 'only an attempt that was made can fail')
  const { entry, key } = current
  const { model, target } = entry.planned
  journey.trail.push({ model: model.id, provider: target.provider.name, reason: reasonOf(fault), milliseconds })
  journey.last = { entry, fault }
  const faultClass = classify(fault)
  if (AVOIDS_KEY.has(faultClass)) entry.avoidedKeys.add(key.id)
  if (faultClass === 'credentials') avoidEverywhere(journey, entry, key)
  const state = {
    attemptsHere: entry.attempts,
    attemptsInAll: journey.attempts,
    hasOtherKey: parts.keys.pickUsable(target.provider, entry.avoidedKeys) !== undefined,
    hasAlternative: journey.entries.some((other) => other !== entry && !other.isDone),
    isAdmitted: parts.breaker.admits(targetId(target)),
    remainingMs: remainingMs(journey),
    patienceMs: target.provider.timeouts.firstByteMs,
  }
  take(journey, entry, key, nextStep(fault, state, { random: parts.random, takeRetry: parts.budget.takeRetry }))
}

function take(journey: JourneyState, entry: Entry, key: ProviderKey, step: NextStep): void {
  switch (step.kind) {
    case 'retry-same':
      journey.resume = { entry, key, delayMs: step.delayMs }
      journey.parts.notify({ type: 'retry', provider: entry.planned.target.provider.name })
      return
    case 'next-key':
      journey.resume = { entry, key: undefined, delayMs: 0 }
      return
    case 'next-target':
      entry.isDone = true
      return
    case 'next-model':
      for (const other of journey.entries) if (other.planned.model === entry.planned.model) other.isDone = true
      return
    case 'stop':
      journey.isOver = true
  }
}

/** A key that was refused is refused for every model of its provider. */
function avoidEverywhere(journey: JourneyState, { planned }: Entry, key: ProviderKey): void {
  for (const other of journey.entries) {
    if (other.planned.target.provider === planned.target.provider) other.avoidedKeys.add(key.id)
  }
}

function noteMove(journey: JourneyState, entry: Entry): void {
  const { last } = journey
  if (!last || last.entry.planned.model === entry.planned.model) return
  const [from, to] = [last.entry.planned.model.id, entry.planned.model.id]
  journey.parts.notify({ type: 'fallback', from, to, reason: classify(last.fault) })
}

function remainingMs(journey: JourneyState): number {
  return journey.deadlineMs - journey.parts.clock.monotonic()
}

function withPatience(planned: PlannedTarget, limitMs: number): PlannedTarget {
  const { target } = planned
  const { provider } = target
  if (provider.timeouts.firstByteMs <= limitMs) return planned
  const timeouts = { ...provider.timeouts, firstByteMs: Math.ceil(limitMs) }
  return { ...planned, target: { ...target, provider: { ...provider, timeouts } } }
}

function reasonOf(fault: AttemptFault): string {
  switch (fault.kind) {
    case 'refused':
      return String(fault.error.status)
    case 'timeout':
      return `${fault.phase}-timeout`
    default:
      return fault.kind
  }
}

/** Where nothing was tried and nobody was busy, the deadline is over or the client is gone. */
function tooLate(): GatewayError {
  return new GatewayError('timeout', 'No model provider could be asked in time. Try again.')
}
