/**
 * One request's way through its plan: hands out attempts one at a time, and after each failure decides where to go next.
 *
 * Targets are tried in the plan's order as long as they are let through at that moment: the breaker admits them, a key is
 * free, and the provider has a slot. Those that aren't are left for later; when only such are left, the busy ones are waited
 * for, and then the others are tried anyway, one call at a time.
 */
import { GatewayError } from '@/chat/error'
import type { Soon } from '@/lib/wait/soon'
import type { Conversation } from '@/routing/health/key-pool'
import type { Plan } from '@/routing/plan/plan'
import { tryAnyway, tryEntry, waitForSlot } from './admission'
import { goOn } from './after-failure'
import { type AttemptNote, isAtEnd, type JourneyState, type Resumption } from './journey-state'
import { noteOutrun, onSilence } from './silence'
import type { FailedAttempt, RoutingParts, Ticket } from './ticket'

export interface Journey {
  /**
   * The attempt to make, given how the one before it failed: after whatever pause the policy asks for. Undefined where
   * nothing is left, the deadline is over, or the client is gone. At once where nothing has to be waited for.
   */
  next(failed?: FailedAttempt): Soon<Ticket | undefined>
  /** Whether there is any target beside the one that is asked first. */
  hasOthers(): boolean
  /** Notes how an attempt failed while another is under way. */
  note(failed: FailedAttempt): void
  /**
   * What follows when the latest attempt has been silent for `silentMs`: the ticket of an attempt to make beside it, the order
   * to give up the eldest that is under way, or nothing yet.
   */
  onSilence(ticket: Ticket, silentMs: number): Ticket | 'give-up' | undefined
  /** An attempt was silent for so long that a later one won. */
  outrun(ticket: Ticket): void
  /** The failed attempts so far, in order. */
  readonly trail: readonly AttemptNote[]
  /** Why nothing was tried: the client is gone, every provider is busy, or it is too late. */
  refusal(): GatewayError
}

/** Everything up to the first content has to happen within this time, however many attempts it takes. */
export const DEADLINE_MS = 600_000

/** Who asks, in which conversation, whether for a stream, and what fires when they go away. */
export type Traveller = { accountId: string; conversation?: Conversation; stream: boolean; signal: AbortSignal }

/** Starts a journey through `plan`. */
export function startJourney(parts: RoutingParts, plan: Plan, traveller: Traveller): Journey {
  parts.budget.noteRequest()
  const journey: JourneyState = {
    parts,
    entries: plan.targets.map((planned) => ({ planned, isDone: false, attempts: 0, avoidedKeys: new Set() })),
    ...traveller,
    hasOwnFallback: plan.hasOwnFallback,
    deadlineMs: parts.clock.monotonic() + DEADLINE_MS,
    trail: [],
    attempts: 0,
    isOver: false,
    resume: undefined,
    overload: undefined,
    restMs: undefined,
    underWay: new Map(),
    last: undefined,
  }
  return {
    trail: journey.trail,
    next(failed) {
      if (failed) goOn(journey, failed)
      return advance(journey)
    },
    hasOthers: () => journey.entries.length > 1,
    note: (failed) => goOn(journey, failed),
    onSilence: (ticket, silentMs) => onSilence(journey, ticket, silentMs),
    outrun: (ticket) => noteOutrun(journey, ticket),
    refusal: () => refusalOf(journey),
  }
}

function advance(journey: JourneyState): Soon<Ticket | undefined> {
  const { resume } = journey
  journey.resume = undefined
  if (isAtEnd(journey)) return undefined
  return resume ? resumeAt(journey, resume) : tryOpen(journey)
}

async function resumeAt(journey: JourneyState, { entry, key, delayMs }: Resumption): Promise<Ticket | undefined> {
  if (delayMs > 0) await journey.parts.pause(delayMs, journey.signal)
  if (isAtEnd(journey)) return undefined
  return tryEntry(journey, entry, key) ?? tryOpen(journey)
}

function tryOpen(journey: JourneyState): Soon<Ticket | undefined> {
  for (const entry of journey.entries) {
    const ticket = entry.isDone ? undefined : tryEntry(journey, entry, undefined)
    if (ticket) return ticket
  }
  return tryTaken(journey)
}

/** None lets it through at once. */
async function tryTaken(journey: JourneyState): Promise<Ticket | undefined> {
  const open = journey.entries.filter((entry) => !entry.isDone)
  return (await waitForSlot(journey, open)) ?? (await tryAnyway(journey, open))
}

/** Whoever has gone is told nothing, and is refused by nobody. */
function refusalOf({ signal, overload, restMs }: JourneyState): GatewayError {
  if (signal.aborted) return new GatewayError('client_gone', 'The client left before a model provider was asked.')
  return overload ?? (restMs === undefined ? tooLate() : resting(restMs))
}

/** What could be tried asked to be left alone, or is being tried by somebody else. */
function resting(restMs: number): GatewayError {
  return new GatewayError('overloaded', 'The model provider asked for a pause. Try again after it.', {
    code: 'provider_resting',
    retryAfterSeconds: Math.ceil(restMs / 1000),
  })
}

/** Where nothing was tried and nobody was busy, the deadline is over. */
function tooLate(): GatewayError {
  return new GatewayError('timeout', 'No model provider could be asked in time. Try again.')
}
