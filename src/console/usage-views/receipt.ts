/** The receipt of one request: what was asked and answered, what it used, what that cost and by which rule. */
import type { Usage } from '@/chat/usage'
import type { Database } from '@/db/client'
import type { BillingRule, EventFlag, UsageEvent } from '@/ledger/usage-event'
import { type Nano, nano } from '@/lib/money'
import { readKeyNames } from './key-names'
import { type ListedRecord, type RecordRow, recordColumns, toListed } from './usage-record'

/** Today's price of a usage, class by class; `price` in pico-USD per token. Undefined where the model is not sold any more. */
export type PriceUsage = (
  model: string,
  usage: Usage,
) => { lines: { class: string; tokens: number; price: number }[]; total: Nano } | undefined

/** One charge of a request: there are two where its real cost became known after its reservation had expired. */
type ReceiptCharge = { eventId: string; kind: UsageEvent['kind']; atMs: number; cost: Nano }

export type Receipt = {
  /** The request as its last charge knows it. */
  record: ListedRecord
  upstreamModel: string
  clientFormat: string
  providerFormat: string
  startedAtMs: number
  /** Oldest first; their sum is `cost`. */
  charges: ReceiptCharge[]
  cost: Nano
  rule: BillingRule
  flags: EventFlag[]
  /** The price of each token class, where today's prices give exactly this cost; else undefined. */
  lines: { class: string; tokens: number; price: number }[] | undefined
}

/** What a late correction adds to its request's id to make its own. */
const LATE_SUFFIX = ':late'

/** The receipt of the account's request, found by its request id or by the id of one of its charges; undefined where there is none. */
export async function readReceipt(
  database: Database,
  priceUsage: PriceUsage,
  accountId: string,
  id: string,
): Promise<Receipt | undefined> {
  const requestId = id.endsWith(LATE_SUFFIX) ? id.slice(0, -LATE_SUFFIX.length) : id
  const rows = await readCharges(database, accountId, requestId)
  const last = rows.at(-1)
  if (!last) return undefined
  const names = await readKeyNames(database, accountId, [last.key_id])
  const charges = rows.map((row) => toListed(row, names))
  const record = toListed(last, names)
  const cost = nano(charges.reduce((sum, charge) => sum + charge.cost, 0))
  const price = priceUsage(record.model, record.usage)
  return {
    record,
    upstreamModel: last.upstream_model,
    clientFormat: last.client_format,
    providerFormat: last.provider_format,
    startedAtMs: last.started_ms,
    charges: charges.map(({ eventId, kind, atMs, cost: part }) => ({ eventId, kind, atMs, cost: part })),
    cost,
    rule: record.rule,
    flags: [...new Set(charges.flatMap((charge) => charge.flags))],
    lines: price?.total === cost ? price.lines : undefined,
  }
}

type ChargeRow = RecordRow & {
  upstream_model: string
  client_format: string
  provider_format: string
  started_ms: number
}

/** A request's id is that of its charge, which the primary key finds in every month. */
async function readCharges({ sql }: Database, accountId: string, requestId: string): Promise<ChargeRow[]> {
  const rows = await sql<ChargeRow[]>`
    SELECT ${recordColumns(sql)}, upstream_model, client_format, provider_format,
      (extract(epoch FROM started_at) * 1000)::bigint AS started_ms
    FROM usage_records WHERE event_id IN (${requestId}, ${requestId + LATE_SUFFIX}) AND account_id = ${accountId}
    ORDER BY settled_at, seq`
  return [...rows]
}
