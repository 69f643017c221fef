/** What follows when a target is silent for longer than it usually is, while another might answer. */
import { targetId } from '@/routing/health/target-id'
import { findFree, patienceOf, tryEntry } from './admission'
import { type FailoverState, isAtEnd } from './failover-state'
import type { Permit } from './permit'

/** Attempts of one request at the same time. */
const MAX_UNDER_WAY = 2
/** Of the patience, once the target's circuit has opened: others have found it silent, too. */
const OPEN_SHARE = 0.5

/** Decides after `silentMs` of silence: a second attempt takes from the retries' budget, giving up does not. */
export function onSilence(failover: FailoverState, permit: Permit, silentMs: number): Permit | 'give-up' | undefined {
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

/** The trail tells of it as of a failure. */
export function noteOutrun(failover: FailoverState, permit: Permit): void {
  const { model, target } = permit.planned
  failover.trail.push({
    model: model.id,
    provider: target.provider.name,
    reason: 'silent',
    milliseconds: permit.outrun(),
  })
  failover.underWay = failover.underWay.filter(({ number }) => number !== permit.number)
}
