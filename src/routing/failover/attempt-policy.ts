/**
 * Decides the step after a failed attempt: a pure function of the fault and the remaining options. transient → the same target once more
 * after a jittered pause, then the next · timeout → the next target, or the same once more if it is the only one · rate-limited,
 * credentials → another key at once, then the next target · over-limit, forbidden → one other key, then the next target · target → the next
 * target · model → the next model · filtered → the next model that the caller named, or else stop · request → stop.
 */
import { type AttemptFault, classify, type FaultClass } from './fault-class'

export type NextStep =
  | { kind: 'retry-same'; delayMs: number }
  | { kind: 'next-key' }
  | { kind: 'next-target' }
  | { kind: 'next-model' }
  | { kind: 'stop' }

export type AttemptState = {
  attemptsHere: number
  /** Number of attempts of this request, at all targets. */
  attemptsInAll: number
  /** Whether the provider has an unpaused key that this request has not tried. */
  hasOtherKey: boolean
  /** Whether another target or model remains. */
  hasAlternative: boolean
  hasOwnFallback: boolean
  /** Whether the breaker still admits the target. A target whose breaker has just opened is not tried again. */
  isAdmitted: boolean
  remainingMs: number
  /** The maximum silence of an attempt at this target, in milliseconds. */
  patienceMs: number
}

type PolicyDeps = {
  /** A random number in [0, 1). */
  random(): number
  /** Takes one retry from the budget; false if it is used up. Called only if a retry should follow. */
  takeRetry(): boolean
}

/** After these faults the request doesn't use the key again at this target; after `credentials`, at no target of its provider. */
export const AVOIDS_KEY: ReadonlySet<FaultClass> = new Set(['rate-limited', 'over-limit', 'credentials', 'forbidden'])
/** The maximum pause before the same target is tried again; the minimum is half of it. */
export const BACK_OFF_MS = 200
/** Maximum `retry-after` to wait for. After a longer one, the next target is tried. */
export const MAX_PAUSE_MS = 2_000
/** Maximum attempts of one request: more do not help. */
export const MAX_ATTEMPTS = 12
const MAX_ATTEMPTS_PER_TARGET = 2

/** Decides on the step after `fault`. */
export function nextStep(fault: AttemptFault, state: AttemptState, deps: PolicyDeps): NextStep {
  if (state.attemptsInAll >= MAX_ATTEMPTS || state.remainingMs <= 0) return { kind: 'stop' }
  const faultClass = classify(fault)
  switch (faultClass) {
    case 'transient':
    case 'timeout':
      return retryOrMoveOn(fault, faultClass, state, deps)
    case 'rate-limited':
    case 'credentials':
      return { kind: state.hasOtherKey ? 'next-key' : 'next-target' }
    case 'over-limit':
    case 'forbidden': {
      // If the request's content is the cause, all keys would fail in turn, so only one other key is tried.
      const isWorthwhile = state.hasOtherKey && state.attemptsHere < MAX_ATTEMPTS_PER_TARGET
      return { kind: isWorthwhile ? 'next-key' : 'next-target' }
    }
    case 'target':
      return { kind: 'next-target' }
    case 'model':
      return { kind: 'next-model' }
    case 'filtered':
      // Another provider's filter may judge the request only if the caller named fallback models. The catalogue's don't suffice.
      return { kind: state.hasOwnFallback ? 'next-model' : 'stop' }
    case 'request':
      return { kind: 'stop' }
  }
}

function retryOrMoveOn(fault: AttemptFault, faultClass: FaultClass, state: AttemptState, deps: PolicyDeps): NextStep {
  const { attemptsHere, hasAlternative, isAdmitted, remainingMs, patienceMs } = state
  const askedPauseMs = fault.kind === 'refused' ? (fault.error.retryAfterSeconds ?? 0) * 1000 : 0
  const delayMs = Math.max(askedPauseMs, BACK_OFF_MS * (0.5 + deps.random() / 2))
  // A silent target is not tried again while another one is left.
  if (faultClass === 'timeout' && hasAlternative) return { kind: 'next-target' }
  const silenceMs = faultClass === 'timeout' ? patienceMs : 0
  const isWorthwhile =
    attemptsHere < MAX_ATTEMPTS_PER_TARGET &&
    delayMs <= MAX_PAUSE_MS &&
    delayMs + silenceMs < remainingMs &&
    (isAdmitted || !hasAlternative)
  return isWorthwhile && deps.takeRetry() ? { kind: 'retry-same', delayMs } : { kind: 'next-target' }
}
