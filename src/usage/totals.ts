/** The sums that a batch of usage records adds to accounts, keys and days, computed in memory and written as one statement each. */
import { inputTokens, type Usage, ZERO_USAGE } from '@/chat/usage'
import { providerCostOf } from '@/db/usage-columns'
import { isErrorStatus, type UsageRecord } from '@/ledger/usage-record'
import { createBoundedMap } from '@/lib/bounded-map'
import { type Nano, nano, ZERO_NANO } from '@/lib/money'
import { slicesOf } from '@/lib/wait/slices'

export type AccountTotal = {
  accountId: string
  cost: Nano
  /** The latest calendar month of the records (yyyymm, UTC), and their cost in that month. */
  month: number
  monthCost: Nano
  /** The highest sequence number among the records. */
  seq: number
}

export type KeyTotal = { keyId: string; month: number; monthCost: Nano; lastUsedMs: number }

export type DayTotal = Usage & {
  accountId: string
  /** yyyy-mm-dd, UTC. */
  day: string
  keyId: string
  /** '' for none. */
  memberId: string
  model: string
  requests: number
  errors: number
  cost: Nano
  durationMs: number
  firstTokenMs: number
  firstTokenCount: number
  /** The providers' charges, and the part of `cost` with a known charge; null if none is known. */
  providerCost: number | null
  costed: number | null
}

/** `memberId` is never empty. */
export type MemberTotal = { accountId: string; day: string; memberId: string; requests: number; cost: Nano }

/** `tags`: all tags of a request, `name=value,…`, never empty; `input` and `output` are tokens. */
export type TagTotal = Pick<DayTotal, 'accountId' | 'day' | 'model' | 'requests' | 'errors' | 'output' | 'cost'> & {
  tags: string
  input: number
}

type UsageTotals = {
  accounts: AccountTotal[]
  keys: KeyTotal[]
  days: DayTotal[]
  members: MemberTotal[]
  tags: TagTotal[]
}

/** Records to handle between two pauses: about a millisecond of work. */
export const RECORDS_PER_TURN = 200

/** Sums `records`. Asserts that all sums are valid amounts. */
export async function totalsOf(records: readonly UsageRecord[]): Promise<UsageTotals> {
  const accounts = new Map<string, AccountTotal>()
  const keys = new Map<string, KeyTotal>()
  const days = new Map<string, DayTotal>()
  const members = new Map<string, MemberTotal>()
  const tags = new Map<string, TagTotal>()
  for await (const slice of slicesOf(records, RECORDS_PER_TURN))
    for (const record of slice) {
      const moment = utcDay(record.atMs)
      addToAccount(accounts, record, moment.month)
      addToKey(keys, record, moment.month)
      addToDay(days, record, moment.day)
      if (record.memberId) addToMember(members, record, record.memberId, moment.day)
      if (record.facts.labels?.tags?.length) addToTags(tags, record, record.facts.labels.tags.join(','), moment.day)
    }
  return {
    accounts: [...accounts.values()],
    keys: [...keys.values()],
    days: [...days.values()],
    members: [...members.values()],
    tags: [...tags.values()],
  }
}

function addToAccount(accounts: Map<string, AccountTotal>, record: UsageRecord, month: number): void {
  const total = entry(accounts, record.accountId, () => ({
    accountId: record.accountId,
    cost: ZERO_NANO,
    month,
    monthCost: ZERO_NANO,
    seq: 0,
  }))
  total.cost = nano(total.cost + record.cost)
  total.seq = Math.max(total.seq, record.seq)
  addMonthly(total, month, record.cost)
}

function addToKey(keys: Map<string, KeyTotal>, record: UsageRecord, month: number): void {
  const total = entry(keys, record.keyId, () => ({ keyId: record.keyId, month, monthCost: ZERO_NANO, lastUsedMs: 0 }))
  total.lastUsedMs = Math.max(total.lastUsedMs, record.atMs)
  addMonthly(total, month, record.cost)
}

/** Only the latest month counts, since late records of a past month don't matter for "this month". */
function addMonthly(total: { month: number; monthCost: Nano }, month: number, cost: Nano): void {
  if (month > total.month) {
    total.month = month
    total.monthCost = cost
  } else if (month === total.month) total.monthCost = nano(total.monthCost + cost)
}

function addToDay(days: Map<string, DayTotal>, record: UsageRecord, day: string): void {
  const { accountId, keyId, memberId = '', facts, cost } = record
  const total = entry(days, JSON.stringify([accountId, day, keyId, facts.model, memberId]), () => ({
    accountId,
    day,
    keyId,
    memberId,
    model: facts.model,
    requests: 0,
    errors: 0,
    cost: ZERO_NANO,
    ...ZERO_USAGE,
    durationMs: 0,
    firstTokenMs: 0,
    firstTokenCount: 0,
    providerCost: null,
    costed: null,
  }))
  total.cost = nano(total.cost + cost)
  const providerCost = providerCostOf(record)
  if (providerCost !== null) {
    total.providerCost = (total.providerCost ?? 0) + providerCost
    total.costed = (total.costed ?? 0) + cost
  }
  // A late correction changes only the cost: its request was counted when the hold expired.
  if (record.kind === 'late') return
  total.requests += 1
  if (isErrorStatus(facts.status)) total.errors += 1
  total.uncached += facts.usage.uncached
  total.cacheRead += facts.usage.cacheRead
  total.cacheWrite5m += facts.usage.cacheWrite5m
  total.cacheWrite1h += facts.usage.cacheWrite1h
  total.output += facts.usage.output
  total.reasoning += facts.usage.reasoning
  total.durationMs += facts.durationMs
  if (facts.firstTokenMs !== null) {
    total.firstTokenMs += facts.firstTokenMs
    total.firstTokenCount += 1
  }
}

function addToMember(
  members: Map<string, MemberTotal>,
  { accountId, cost, kind }: UsageRecord,
  memberId: string,
  day: string,
): void {
  const total = entry(members, JSON.stringify([accountId, memberId, day]), () => ({
    ...{ accountId, day, memberId, requests: 0, cost: ZERO_NANO },
  }))
  total.cost = nano(total.cost + cost)
  if (kind !== 'late') total.requests += 1
}

function addToTags(totals: Map<string, TagTotal>, record: UsageRecord, tags: string, day: string): void {
  const { accountId, cost, kind, facts } = record
  const { model, status, usage } = facts
  const total = entry(totals, JSON.stringify([accountId, day, tags, model]), () => ({
    ...{ accountId, day, tags, model, requests: 0, errors: 0, input: 0, output: 0, cost: ZERO_NANO },
  }))
  total.cost = nano(total.cost + cost)
  if (kind === 'late') return
  total.requests += 1
  if (isErrorStatus(status)) total.errors += 1
  total.input += inputTokens(usage)
  total.output += usage.output
}

function entry<T>(map: Map<string, T>, key: string, create: () => T): T {
  const known = map.get(key)
  if (known !== undefined) return known
  const created = create()
  map.set(key, created)
  return created
}

const MS_PER_DAY = 86_400_000
const DAY_CACHE_SIZE = 64
const dayCache = createBoundedMap<number, { day: string; month: number }>(DAY_CACHE_SIZE)

/** The UTC day (yyyy-mm-dd) and month (yyyymm) of a time. Cached: formatting costs more than all sums of a batch. */
export function utcDay(atMs: number): { day: string; month: number } {
  const index = Math.floor(atMs / MS_PER_DAY)
  const known = dayCache.get(index)
  if (known !== undefined) return known
  const day = new Date(index * MS_PER_DAY).toISOString().slice(0, 10)
  const moment = { day, month: Number(day.slice(0, 4) + day.slice(5, 7)) }
  dayCache.set(index, moment)
  return moment
}
