/** The cheapest way of usage records into the history: COPY, for a batch of which nothing is there yet. */
import type { TransactionSql } from 'postgres'
import { usageColumns } from '@/db/schema'
import type { Cell } from '@/db/usage-columns'
import { LATEST_MS, type UsageRecord } from '@/ledger/usage-record'
import { NAMES, repeatsOf } from './insert-records'

const CELLS = usageColumns.map(({ cell }) => cell)
const NULL = '\\N'

/** Writes all of `records`; or none and returns false where one may exist or depends on others. Rejects on a refused row. */
export async function copyRecords(transaction: TransactionSql, records: readonly UsageRecord[]): Promise<boolean> {
  if (!records.every(isOrdinary)) return false
  const [repeat] = await transaction`${repeatsOf(transaction, records)} LIMIT 1`
  if (repeat) return false
  const stream = await transaction`COPY usage_records (${transaction.unsafe(NAMES)}) FROM STDIN`.writable()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  stream.on('error', reject)
  stream.on('finish', resolve)
  stream.end(records.map(lineOf).join(''))
  await promise
  return true
}

/** Late charges are compared with what they correct; a moment that no date can hold is for the other statement to judge. */
function isOrdinary({ kind, atMs }: UsageRecord): boolean {
  return kind !== 'late' && atMs >= 0 && atMs <= LATEST_MS
}

function lineOf(record: UsageRecord): string {
  return `${CELLS.map((cell) => copied(cell(record.facts, record))).join('\t')}\n`
}

function copied(cell: Cell): string | number | boolean {
  return typeof cell === 'string' ? escaped(cell) : (cell ?? NULL)
}

const NEEDS_ESCAPE = /[\\\t\n\r\0]/
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '' }

/** As COPY reads text. NUL characters, which Postgres can't store in text, are left out. */
function escaped(text: string): string {
  return NEEDS_ESCAPE.test(text) ? text.replace(/[\\\t\n\r\0]/g, (sign) => ESCAPES[sign] ?? '') : text
}
