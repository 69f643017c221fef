/** Usage events of one account, made up at random, and what the usage list has to say of them, computed the simple way. */
import fc from 'fast-check'
import type { UsageFilter } from '@/console/usage-views/usage-filter'
import { BILLING_RULES, EVENT_FLAGS, type EventFlag, type UsageEvent } from '@/ledger/usage-event'
import { NOON_MS, usageEvent } from './sample-events'

const KEYS = ['key_a', 'key_b', 'key_c']
const MODELS = ['svc/alpha', 'svc/beta', 'svc/gamma']
const REQUESTED = ['auto-smart', ...MODELS]
const DAY_MS = 86_400_000
/** The made-up events lie within so many days before {@link NOON_MS}. */
const DAYS = 9

/** Events that are often in the same millisecond, mostly ordinary, sometimes anything else. */
export function madeUpEvents(accountId: string): fc.Arbitrary<UsageEvent[]> {
  const one = fc.record({
    // Steps of eight hours: many ties, and moments exactly at midnight.
    step: fc.integer({ min: 0, max: DAYS * 3 }),
    offset: fc.constantFrom(0, 0, 1, 999),
    keyId: fc.constantFrom(...KEYS),
    model: fc.constantFrom(...MODELS),
    requestedModel: fc.constantFrom(...REQUESTED),
    status: fc.constantFrom(200, 200, 200, 200, 499, 502),
    rule: fc.constantFrom('usage' as const, 'usage' as const, ...BILLING_RULES),
    flags: fc.oneof(
      fc.constant<EventFlag[]>([]),
      fc.constant<EventFlag[]>([]),
      fc.uniqueArray(fc.constantFrom<EventFlag>(...EVENT_FLAGS), { maxLength: 2 }),
    ),
    isLate: fc.integer({ min: 0, max: 9 }).map((value) => value === 0),
    cost: fc.integer({ min: 0, max: 5_000_000 }),
    output: fc.integer({ min: 0, max: 900 }),
  })
  return fc.array(one, { minLength: 0, maxLength: 120 }).map((drafts) =>
    drafts.map((draft, index) => {
      const { step, offset, keyId, isLate, cost, flags, output, ...record } = draft
      const atMs = NOON_MS - DAYS * DAY_MS + step * (DAY_MS / 3) + offset
      const event = usageEvent({ accountId, keyId, seq: index + 1, atMs, cost, record: { ...record, flags } })
      event.record.usage = { ...event.record.usage, output }
      return isLate ? { ...event, kind: 'late' as const, eventId: `${event.holdId}:late`, flags: ['late'] } : event
    }),
  )
}

/** A filter over those events: usually narrow in time, with any mixture of the rest. */
export function madeUpFilter(accountId: string): fc.Arbitrary<UsageFilter> {
  const moment = fc.oneof(
    fc.integer({ min: NOON_MS - (DAYS + 1) * DAY_MS, max: NOON_MS + DAY_MS }),
    fc.integer({ min: 0, max: DAYS + 1 }).map((days) => Math.floor(NOON_MS / DAY_MS) * DAY_MS - days * DAY_MS),
  )
  return fc
    .record(
      {
        times: fc.tuple(moment, moment),
        keyId: fc.constantFrom(...KEYS),
        model: fc.constantFrom(...MODELS),
        requestedModel: fc.constantFrom(...REQUESTED),
        status: fc.constantFrom('ok' as const, 'error' as const, 200, 499),
        flag: fc.constantFrom(...EVENT_FLAGS),
        rule: fc.constantFrom(...BILLING_RULES),
      },
      { requiredKeys: ['times'] },
    )
    .map(({ times: [one, other], ...rest }) => ({
      ...{ accountId, fromMs: Math.min(one, other), toMs: Math.max(one, other) + 1 },
      ...rest,
    }))
}

/** The events that match, newest first. */
export function matching(events: readonly UsageEvent[], filter: UsageFilter): UsageEvent[] {
  return events
    .filter((event) => isMatch(event, filter))
    .sort((one, other) => other.atMs - one.atMs || other.seq - one.seq || (other.eventId < one.eventId ? -1 : 1))
}

function isMatch({ accountId, atMs, keyId, flags, record }: UsageEvent, filter: UsageFilter): boolean {
  const allFlags = [...flags, ...record.flags]
  return (
    accountId === filter.accountId &&
    atMs >= filter.fromMs &&
    atMs < filter.toMs &&
    (filter.keyId === undefined || keyId === filter.keyId) &&
    (filter.model === undefined || record.model === filter.model) &&
    (filter.requestedModel === undefined || record.requestedModel === filter.requestedModel) &&
    (filter.flag === undefined || allFlags.includes(filter.flag)) &&
    (filter.rule === undefined || record.rule === filter.rule) &&
    isStatus(record.status, filter.status)
  )
}

function isStatus(status: number, wanted: UsageFilter['status']): boolean {
  if (wanted === undefined) return true
  if (wanted === 'ok') return status < 400
  return wanted === 'error' ? status >= 400 : status === wanted
}

/** The sums of events, late corrections as cost only. */
export function sumsOf(events: readonly UsageEvent[]) {
  const requests = events.filter((event) => event.kind !== 'late')
  const input = (event: UsageEvent) => {
    const { uncached, cacheRead, cacheWrite5m, cacheWrite1h } = event.record.usage
    return uncached + cacheRead + cacheWrite5m + cacheWrite1h
  }
  return {
    requests: requests.length,
    errors: requests.filter((event) => event.record.status >= 400).length,
    inputTokens: requests.reduce((sum, event) => sum + input(event), 0),
    outputTokens: requests.reduce((sum, event) => sum + event.record.usage.output, 0),
    cost: events.reduce((sum, event) => sum + event.cost, 0),
  }
}
