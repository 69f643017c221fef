/** Usage records of one account, made up at random, and what the usage list has to say of them, computed the simple way. */
import { fc } from '@test/support/property'
import type { UsageFilter } from '@/console/usage-views/usage-filter'
import {
  BILLING_RULES,
  RECORD_FLAGS,
  type RecordFlag,
  type RequestLabels,
  type UsageRecord,
} from '@/ledger/usage-record'
import { tagName } from '@/usage/tags'
import { NOON_MS, usageRecord } from './sample-records'

const KEYS = ['key_a', 'key_b', 'key_c']
const MODELS = ['svc/alpha', 'svc/beta', 'svc/gamma']
const MEMBERS = ['user_a', 'user_b']
const TAGS = ['env=prod', 'team=a', 'team=b']
const APPS = ['App', 'https://app.example']
const REQUESTED = ['auto-smart', ...MODELS]
const DAY_MS = 86_400_000
/** The made-up records lie within so many days before {@link NOON_MS}. */
const DAYS = 9

/** Records that are often in the same millisecond, mostly ordinary, sometimes anything else. */
export function madeUpRecords(accountId: string): fc.Arbitrary<UsageRecord[]> {
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
      fc.constant<RecordFlag[]>([]),
      fc.constant<RecordFlag[]>([]),
      fc.uniqueArray(fc.constantFrom<RecordFlag>(...RECORD_FLAGS), { maxLength: 2 }),
    ),
    isLate: fc.integer({ min: 0, max: 9 }).map((value) => value === 0),
    cost: fc.integer({ min: 0, max: 5_000_000 }),
    output: fc.integer({ min: 0, max: 900 }),
    memberId: fc.constantFrom(undefined, undefined, ...MEMBERS),
    labels: madeUpLabels(),
  })
  return fc.array(one, { minLength: 0, maxLength: 120 }).map((drafts) =>
    drafts.map((draft, index) => {
      const { step, offset, keyId, isLate, cost, flags, output, memberId, ...facts } = draft
      const atMs = NOON_MS - DAYS * DAY_MS + step * (DAY_MS / 3) + offset
      const record = usageRecord({ accountId, keyId, memberId, seq: index + 1, atMs, cost, facts: { ...facts, flags } })
      record.facts.usage = { ...record.facts.usage, output }
      return isLate ? { ...record, kind: 'late' as const, recordId: `${record.holdId}:late`, flags: ['late'] } : record
    }),
  )
}

/** Mostly none, and never two tags of a name. */
function madeUpLabels(): fc.Arbitrary<RequestLabels | undefined> {
  const tags = fc
    .uniqueArray(fc.constantFrom(...TAGS), { maxLength: 2, selector: tagName })
    .map((some) => some.toSorted())
  const said = fc.record({ tags, app: fc.constantFrom(...APPS) }, { requiredKeys: [] })
  return fc.oneof(fc.constant(undefined), said)
}

/** A filter over those records: usually narrow in time, with any mixture of the rest. */
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
        flag: fc.constantFrom(...RECORD_FLAGS),
        rule: fc.constantFrom(...BILLING_RULES),
        memberId: fc.constantFrom(...MEMBERS),
        tag: fc.constantFrom(...TAGS),
        app: fc.constantFrom(...APPS),
      },
      { requiredKeys: ['times'] },
    )
    .map(({ times: [one, other], ...rest }) => ({
      ...{ accountId, fromMs: Math.min(one, other), toMs: Math.max(one, other) + 1 },
      ...rest,
    }))
}

/** The records that match, newest first. */
export function matching(records: readonly UsageRecord[], filter: UsageFilter): UsageRecord[] {
  return records
    .filter((record) => isMatch(record, filter))
    .sort((one, other) => other.atMs - one.atMs || other.seq - one.seq || (other.recordId < one.recordId ? -1 : 1))
}

function isMatch({ accountId, atMs, keyId, memberId, flags, facts }: UsageRecord, filter: UsageFilter): boolean {
  const allFlags = [...flags, ...facts.flags]
  return (
    accountId === filter.accountId &&
    atMs >= filter.fromMs &&
    atMs < filter.toMs &&
    (filter.keyId === undefined || keyId === filter.keyId) &&
    (filter.model === undefined || facts.model === filter.model) &&
    (filter.requestedModel === undefined || facts.requestedModel === filter.requestedModel) &&
    (filter.flag === undefined || allFlags.includes(filter.flag)) &&
    (filter.rule === undefined || facts.rule === filter.rule) &&
    (filter.memberId === undefined || memberId === filter.memberId) &&
    (filter.tag === undefined || facts.labels?.tags?.includes(filter.tag) === true) &&
    (filter.app === undefined || facts.labels?.app === filter.app) &&
    isStatus(facts.status, filter.status)
  )
}

function isStatus(status: number, wanted: UsageFilter['status']): boolean {
  if (wanted === undefined) return true
  if (wanted === 'ok') return status < 400
  return wanted === 'error' ? status >= 400 && status !== 499 : status === wanted
}

/** The sums of records, late corrections as cost only. */
export function sumsOf(records: readonly UsageRecord[]) {
  const requests = records.filter((record) => record.kind !== 'late')
  const input = (record: UsageRecord) => {
    const { uncached, cacheRead, cacheWrite5m, cacheWrite1h } = record.facts.usage
    return uncached + cacheRead + cacheWrite5m + cacheWrite1h
  }
  return {
    requests: requests.length,
    errors: requests.filter((record) => record.facts.status >= 400).length,
    inputTokens: requests.reduce((sum, record) => sum + input(record), 0),
    outputTokens: requests.reduce((sum, record) => sum + record.facts.usage.output, 0),
    cost: records.reduce((sum, record) => sum + record.cost, 0),
  }
}
