/** One usage record in full: request, answer, usage, cost and billing rule. */
import type { Unit } from '@/chat/units'
import type { Usage } from '@/chat/usage'
import type { Database } from '@/db/client'
import { type BillingRule, type RecordFlag, toolsCost, type UsageRecord } from '@/ledger/usage-record'
import { type Nano, nano } from '@/lib/money'
import { type ListedRecord, type RecordRow, recordColumns, toListed } from './listed-record'
import { readKeyNames, readMemberNames } from './names'
import { madeByCondition, type Sight } from './usage-filter'

/** The charge for `count` units; `price` is pico-USD for one. */
type PriceLine = { class: string; unit: Unit; variant?: string; count: number; price: number }

/** Computes the lines of a usage, each with today's price. Undefined if the model is no longer sold. */
export type PriceUsage = (
  model: string,
  usage: Usage,
  serviceTier: string | null,
) => { lines: PriceLine[]; total: Nano } | undefined

/** One record of a request. A request has two records if its real cost became known after its hold had expired. */
type RecordPart = { recordId: string; kind: UsageRecord['kind']; atMs: number; cost: Nano }

export type RecordDetail = {
  record: ListedRecord
  /** Name of the member who made the request; null if there is none or they are unknown. */
  memberName: string | null
  /** Oldest first; they add up to `cost`. */
  records: RecordPart[]
  cost: Nano
  rule: BillingRule
  flags: RecordFlag[]
  /** Count and price of each kind of usage. Undefined if today's prices don't add up to `cost`. */
  lines: PriceLine[] | undefined
}

const LATE_SUFFIX = ':late'

/** The full record of an account's request, by request id or record id; undefined if there is none. */
export async function readRecordDetail(
  database: Database,
  priceUsage: PriceUsage,
  sight: Sight,
  id: string,
): Promise<RecordDetail | undefined> {
  const requestId = id.endsWith(LATE_SUFFIX) ? id.slice(0, -LATE_SUFFIX.length) : id
  const rows = await readDetailRows(database, sight, requestId)
  const last = rows.at(-1)
  if (!last) return undefined
  const [names, members] = await Promise.all([
    readKeyNames(database, sight.accountId, [last.keyId]),
    readMemberNames(database, [last.memberId ?? '']),
  ])
  const records = rows.map((row) => toListed(row, names))
  const record = toListed(last, names)
  const cost = nano(records.reduce((sum, part) => sum + part.cost, 0))
  const price = priceUsage(record.model, record.usage, record.serviceTier)
  return {
    record,
    memberName: members.get(last.memberId ?? '') ?? null,
    records: records.map(({ recordId, kind, settledAt: atMs, cost: part }) => ({ recordId, kind, atMs, cost: part })),
    cost,
    rule: record.rule,
    flags: [...new Set(records.flatMap((part) => part.flags))],
    // The cost of tools is not computed again: the record has it, at the prices of its day.
    lines: price && price.total + toolsCost(record.tools) === cost ? price.lines : undefined,
  }
}

/** The account of a request, for operators; undefined if Postgres has no record of it. */
export async function findRecordOwner({ sql }: Database, id: string): Promise<string | undefined> {
  const [row] = await sql<{ account_id: string }[]>`
    SELECT account_id FROM usage_records WHERE event_id IN (${id}, ${id + LATE_SUFFIX}) LIMIT 1`
  return row?.account_id
}

/** The request's id is also its record's id, so the primary key finds the record in any month. */
async function readDetailRows({ sql }: Database, sight: Sight, requestId: string): Promise<RecordRow[]> {
  const rows = await sql<RecordRow[]>`
    SELECT ${recordColumns(sql)} FROM usage_records
    WHERE event_id IN (${requestId}, ${requestId + LATE_SUFFIX}) AND account_id = ${sight.accountId} ${madeByCondition(sql, sight)}
    ORDER BY settled_at, seq`
  return [...rows]
}
