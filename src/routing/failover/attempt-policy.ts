/**
 * Decides what comes after a failed attempt. Pure: given the fault and what is left to try, one step.
 *
 * transient → the same target once more after a jittered pause, then the next · timeout → the next target, the same once more where
 * there is none · rate-limited, credentials → another
 * key at once, then the next target · over-limit, forbidden → one other key, then the next target · target → the next target · model → the next model ·
 * filtered → the next model that the caller named, or else stop · request → stop.
 */
import { type AttemptFault, classify, type FaultClass } from './fault-class'

export type NextStep =
  | { kind: 'retry-same'; delayMs: number }
  | { kind: 'next-key' }
  | { kind: 'next-target' }
  | { kind: 'next-model' }
  | { kind: 'stop' }

/** The state of a request when an attempt has failed. */
export type AttemptState = {
  /** Attempts made at this target with this key, at least 1. */
  attemptsHere: number
  /** Attempts made for this request in all. */
  attemptsInAll: number
  /** Whether the provider has a key that this request has not tried and that is neither cooling nor out. */
  hasOtherKey: boolean
  /** Whether any target or model is left beside this one. */
  hasAlternative: boolean
  /** Whether the caller named models to fall back to. */
  hasOwnFallback: boolean
  /** Whether the breaker still admits the target: what has just tripped it is not asked again. */
  isAdmitted: boolean
  /** Milliseconds until the request's deadline. */
  remainingMs: number
  /** How long a silent attempt at this target lasts, in milliseconds. */
  patienceMs: number
}

type PolicyDeps = {
  /** [0, 1). */
  random(): number
  /** Takes one retry out of the budget; false if it is used up. Asked only when a retry is what should happen. */
  takeRetry(): boolean
}

/** After these the key is not used again for the request at this target; after `credentials` at none of its provider. */
export const AVOIDS_KEY: ReadonlySet<FaultClass> = new Set(['rate-limited', 'over-limit', 'credentials', 'forbidden'])
/** The pause before the same target is asked again: at least half of it, at most all. */
export const BACK_OFF_MS = 200
/** A `retry-after` that is longer than this is not waited for. */
export const MAX_PAUSE_MS = 2_000
/** More attempts than this do not help. */
export const MAX_ATTEMPTS = 12
const MAX_ATTEMPTS_PER_TARGET = 2

/** The step after `fault`. */
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
      // All keys would be refused in turn for the words of one request.
      const isWorthwhile = state.hasOtherKey && state.attemptsHere < MAX_ATTEMPTS_PER_TARGET
      return { kind: isWorthwhile ? 'next-key' : 'next-target' }
    }
    case 'target':
      return { kind: 'next-target' }
    case 'model':
      return { kind: 'next-model' }
    case 'filtered':
      // Whether another filter may judge is the caller's to say, not the catalogue's.
      return { kind: state.hasOwnFallback ? 'next-model' : 'stop' }
    case 'request':
      return { kind: 'stop' }
  }
}

function retryOrMoveOn(fault: AttemptFault, faultClass: FaultClass, state: AttemptState, deps: PolicyDeps): NextStep {
  const { attemptsHere, hasAlternative, isAdmitted, remainingMs, patienceMs } = state
  const askedPauseMs = fault.kind === 'refused' ? (fault.error.retryAfterSeconds ?? 0) * 1000 : 0
  const delayMs = Math.max(askedPauseMs, BACK_OFF_MS * (0.5 + deps.random() / 2))
  // A silent target is not waited for again while another one is left.
  if (faultClass === 'timeout' && hasAlternative) return { kind: 'next-target' }
  const silenceMs = faultClass === 'timeout' ? patienceMs : 0
  const isWorthwhile =
    attemptsHere < MAX_ATTEMPTS_PER_TARGET &&
    delayMs <= MAX_PAUSE_MS &&
    delayMs + silenceMs < remainingMs &&
    (isAdmitted || !hasAlternative)
  return isWorthwhile && deps.takeRetry() ? { kind: 'retry-same', delayMs } : { kind: 'next-target' }
}
