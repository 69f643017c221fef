/** What follows when a target is silent for longer than it usually is, while another might answer. */
import { targetId } from '@/routing/health/target-id'
import { findFree, patienceOf, tryEntry } from './admission'
import { isAtEnd, type JourneyState } from './journey-state'
import type { Ticket } from './ticket'

/** Attempts of one request at the same time. */
const MAX_UNDER_WAY = 2
/** Of the patience, once the target's circuit has opened: others have found it silent, too. */
const OPEN_SHARE = 0.5

/**
 * Decides after `silentMs` of silence of the latest attempt. A second attempt beside it takes from the retries' budget; giving up
 * for the next target does not, because it is no call more than any fallback.
 */
export function onSilence(journey: JourneyState, ticket: Ticket, silentMs: number): Ticket | 'give-up' | undefined {
  const { breaker, budget } = journey.parts
  const { hedgeMs, giveUpMs } = patienceOf(journey, ticket.planned)
  if (isAtEnd(journey)) return undefined
  const isOpen = !breaker.admits(targetId(ticket.planned.target))
  if (silentMs < (isOpen ? hedgeMs * OPEN_SHARE : hedgeMs)) return undefined
  const free = findFree(journey)
  if (!free) return undefined
  if (isOpen || silentMs >= giveUpMs || journey.underWay.size >= MAX_UNDER_WAY) return 'give-up'
  if (!budget.takeRetry()) return undefined
  const hedge = tryEntry(journey, free, undefined)
  if (hedge) journey.parts.notify({ type: 'hedge', provider: ticket.planned.target.provider.name })
  return hedge
}

/** The trail tells of it as of a failure. */
export function noteOutrun({ underWay, trail }: JourneyState, ticket: Ticket): void {
  const { model, target } = ticket.planned
  trail.push({ model: model.id, provider: target.provider.name, reason: 'silent', milliseconds: ticket.outrun() })
  underWay.delete(ticket.number)
}
