import type { TransactionSql } from 'postgres'
import { plainArray, textArray } from '@/db/array-literal'
import { providerCostOf } from '@/db/usage-columns'
import type { UsageRecord } from '@/ledger/usage-record'
import { utcDay } from './totals'

type ThrownAway = { day: string; model: string; calls: number; cost: number }

/** Adds the started and abandoned calls of `records` to the operators' sums, in the same transaction. No query if there are none. */
export async function addThrownAway(transaction: TransactionSql, records: readonly UsageRecord[]): Promise<void> {
  const sums = new Map<string, ThrownAway>()
  for (const record of records) {
    const { calls, cost } = thrownAwayFor(record)
    if (calls === 0) continue
    const { day } = utcDay(record.atMs)
    const { model } = record.facts
    const name = `${day} ${model}`
    const sum = sums.get(name) ?? { day, model, calls: 0, cost: 0 }
    sums.set(name, { day, model, calls: sum.calls + calls, cost: sum.cost + cost })
  }
  if (sums.size === 0) return
  const rows = [...sums.values()]
  await transaction`
    INSERT INTO thrown_away_daily AS t (day, model, calls, cost_nano)
    SELECT * FROM unnest(
      ${textArray(rows.map(({ day }) => day))}::text::date[], ${textArray(rows.map(({ model }) => model))}::text::text[],
      ${plainArray(rows.map(({ calls }) => calls))}::text::bigint[], ${plainArray(rows.map(({ cost }) => cost))}::text::bigint[]
    ) AS e (day, model) ORDER BY day, model
    ON CONFLICT (day, model) DO UPDATE SET calls = t.calls + excluded.calls, cost_nano = t.cost_nano + excluded.cost_nano`
}

/** The abandoned calls of one request, and their known cost in nano-USD. */
function thrownAwayFor(record: UsageRecord): { calls: number; cost: number } {
  const { rule, outrun = { calls: 0, cost: 0 } } = record.facts
  if (record.kind === 'late') return { calls: 0, cost: 0 }
  if (rule !== 'hangup_free' && rule !== 'hangup_input') return outrun
  // The cost of calls that lost against a faster one is part of the record's.
  return { calls: outrun.calls + 1, cost: Math.max(outrun.cost, providerCostOf(record) ?? 0) }
}
