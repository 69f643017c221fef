import type { ProviderKey } from '@/catalog/types'
import { assert } from '@/lib/assert'
import { targetId } from '@/routing/health/target-id'
import { AVOIDS_KEY, type NextStep, nextStep } from './attempt-policy'
import { type Entry, type FailoverState, remainingMs } from './failover-state'
import { type AttemptFault, classify } from './fault-class'
import type { FailedAttempt } from './permit'

/** Updates a failover after a failed attempt: the remaining keys and targets, and the next step. */
export function goOn(failover: FailoverState, { number, fault, milliseconds }: FailedAttempt): void {
  const { parts } = failover
  const attempt = failover.underWay.find((one) => one.number === number)
  assert(attempt, 'only an attempt that was made can fail')
  failover.underWay = failover.underWay.filter((one) => one !== attempt)
  const { entry, key } = attempt
  const { model, target } = entry.planned
  failover.trail.push({ model: model.id, provider: target.provider.name, reason: reasonOf(fault), milliseconds })
  failover.last = { entry, fault }
  const faultClass = classify(fault)
  if (AVOIDS_KEY.has(faultClass)) avoid(entry, key)
  if (faultClass === 'credentials') avoidEverywhere(failover, entry, key)
  const state = {
    attemptsHere: entry.attempts,
    attemptsInAll: failover.attempts,
    hasOtherKey: parts.keys.pickUsable(target.provider, entry.avoidedKeys, failover.accountId) !== undefined,
    hasAlternative: failover.entries.some((other) => other !== entry && !other.isDone),
    hasOwnFallback: failover.hasOwnFallback,
    isAdmitted: parts.breaker.admits(targetId(target)),
    remainingMs: remainingMs(failover),
    patienceMs: target.provider.timeouts.firstByteMs,
  }
  take(failover, entry, key, nextStep(fault, state, { random: parts.random, takeRetry: parts.budget.takeRetry }))
}

function take(failover: FailoverState, entry: Entry, key: ProviderKey, step: NextStep): void {
  switch (step.kind) {
    case 'retry-same':
      failover.resume = { entry, key, delayMs: step.delayMs }
      failover.parts.notify({ type: 'retry', provider: entry.planned.target.provider.name })
      return
    case 'next-key':
      failover.resume = { entry, key: undefined, delayMs: 0 }
      return
    case 'next-target':
      entry.isDone = true
      return
    case 'next-model':
      for (const other of failover.entries) if (other.planned.model === entry.planned.model) other.isDone = true
      return
    case 'stop':
      failover.isOver = true
  }
}

/** Avoids a refused key at all targets of its provider, since it is refused for every model. */
function avoidEverywhere(failover: FailoverState, { planned }: Entry, key: ProviderKey): void {
  for (const other of failover.entries) {
    if (other.planned.target.provider === planned.target.provider) avoid(other, key)
  }
}

function avoid(entry: Entry, key: ProviderKey): void {
  entry.avoidedKeys = new Set([...entry.avoidedKeys, key.id])
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
