/** Counters of single events: unexpected data from providers, repeated requests, stored responses, deposits. */
import type { Registry } from 'prom-client'
import { MAIL_OUTCOMES, type MailOutcome } from '@/accounts/mails/worker'
import { REPAIRS, type Repair } from '@/formats/repairs'
import { NANO_PER_USD } from '@/lib/money'
import { STORED_RESPONSE_EVENTS, type StoredResponseEvent } from '@/stored-responses/stored-responses'
import {
  CACHE_OUTCOMES,
  type CacheOutcome,
  IDEMPOTENCY_OUTCOMES,
  type IdempotencyOutcome,
  type Metrics,
  THROWN_AWAY_CAUSES,
} from './metrics'
import { expose, type Sample } from './series'

export function createEventTotals(registry: Registry) {
  const unknownUsage = pairCounter(registry, ['provider'], {
    name: 'svc_unknown_usage_total',
    help: 'Alert: the provider counted tokens in a class that has no price here.',
  })
  const unlistedFinish = pairCounter(registry, ['provider'], {
    name: 'svc_unlisted_finish_reasons_total',
    help: 'Answers that ended for a reason that no table knows; unlisted_finish_reason in the log names it.',
  })
  const thrownAway = pairCounter(registry, ['provider', 'cause'], {
    name: 'svc_thrown_away_calls_total',
    help: 'Calls of providers that were begun and thrown away: hang_up, the client left before the first byte; outrun, another call was faster.',
  })
  const thrownAwayUsd = pairCounter(registry, ['provider', 'cause'], {
    name: 'svc_thrown_away_cost_usd_total',
    help: 'What these calls may cost us, in USD, by our own count and as far as the catalogue knows; in svc_provider_cost_usd_total as well.',
  })
  const repairs = pairCounter(registry, ['provider', 'field'], {
    name: 'svc_answer_repairs_total',
    help: 'Answers with a field that broke the published shape of the format and was put right on the way through.',
  })
  const idempotent = pairCounter(registry, ['outcome'], {
    name: 'svc_idempotent_requests_total',
    help: 'Requests with an idempotency key: first, replayed, or refused: in_use, reused, lost, full.',
  })
  const cached = pairCounter(registry, ['outcome'], {
    name: 'svc_cached_answers_total',
    help: 'Requests that accept a cached answer: hit, miss, bypass (neither read nor stored); kept, answers of misses that were stored.',
  })
  const storedResponses = pairCounter(registry, ['event'], {
    name: 'svc_stored_responses_total',
    help: 'Stored responses: stored, not_stored (no room, or too long), continued by a request, read, missing when named, deleted.',
  })
  const deposits = pairCounter(registry, ['provider', 'outcome'], {
    name: 'svc_deposit_events_total',
    help: 'Alert on chargeback, refund, reinstatement, waiting, kept and unknown: events of providers of deposits by outcome.',
  })
  const mails = pairCounter(registry, ['outcome'], {
    name: 'svc_mails_total',
    help: 'Tries to send a mail: sent, retried (refused for now), failed, refused (no such address), expired, away (no server).',
  })
  for (const outcome of MAIL_OUTCOMES) mails.add(0, outcome)
  for (const outcome of IDEMPOTENCY_OUTCOMES) idempotent.add(0, outcome)
  for (const outcome of CACHE_OUTCOMES) cached.add(0, outcome)
  for (const event of STORED_RESPONSE_EVENTS) storedResponses.add(0, event)
  return {
    open(providers: Iterable<string>): void {
      for (const provider of providers) {
        unknownUsage.add(0, provider)
        unlistedFinish.add(0, provider)
        for (const cause of THROWN_AWAY_CAUSES) {
          thrownAway.add(0, provider, cause)
          thrownAwayUsd.add(0, provider, cause)
        }
        for (const repair of REPAIRS) repairs.add(0, provider, repair)
      }
    },
    thrownAway(...[provider, cause, cost]: Parameters<Metrics['thrownAway']>): void {
      thrownAway.add(1, provider, cause)
      thrownAwayUsd.add((cost ?? 0) / NANO_PER_USD, provider, cause)
    },
    unknownUsage: (provider: string) => unknownUsage.add(1, provider),
    unlistedFinish: (provider: string) => unlistedFinish.add(1, provider),
    repaired: (provider: string, repair: Repair) => repairs.add(1, provider, repair),
    idempotent: (outcome: IdempotencyOutcome) => idempotent.add(1, outcome),
    cached: (outcome: CacheOutcome) => cached.add(1, outcome),
    storedResponse: (event: StoredResponseEvent) => storedResponses.add(1, event),
    mail: (outcome: MailOutcome) => mails.add(1, outcome),
    deposit: (provider: string, outcome: string) => deposits.add(1, provider, outcome),
    takesDeposits(provider: string, outcomes: readonly string[]): void {
      for (const outcome of outcomes) deposits.add(0, provider, outcome)
    },
  }
}

type PairCounter = { add(count: number, first: string, second?: string): void }

function pairCounter(
  registry: Registry,
  [firstLabel, secondLabel]: readonly [string, string?],
  family: { name: string; help: string },
): PairCounter {
  const sums = new Map<string, Map<string, number>>()
  expose(registry, {
    ...family,
    *samples(): Iterable<Sample> {
      for (const [first, bySecond] of sums) {
        for (const [second, count] of bySecond)
          yield [{ [firstLabel]: first, ...(secondLabel !== undefined && { [secondLabel]: second }) }, count]
      }
    },
  })
  return {
    add(count, first, second = '') {
      const bySecond = sums.get(first) ?? new Map<string, number>()
      sums.set(first, bySecond.set(second, (bySecond.get(second) ?? 0) + count))
    },
  }
}
