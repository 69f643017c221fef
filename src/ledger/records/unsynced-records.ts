/** Usage records in the shards' streams that haven't been acknowledged. */
import { sumOverShards } from '@/ledger/store/all-shards'
import type { RedisClient } from '@/ledger/store/connection'
import { recordsName, shardOf } from '@/ledger/store/names'
import type { ScriptRunner } from '@/ledger/store/script-runner'
import { parseRecordEnvelope, parseUsageRecord, type RecordEnvelope, type UsageRecord } from '@/ledger/usage-record'

type StreamDeps = { redis: RedisClient; runner: ScriptRunner }

/** Small, because Redis handles no other call while it sends a page. */
const PAGE_SIZE = 200

/** All unacknowledged records of a shard's stream. */
export async function* streamedRecords({ redis, runner }: StreamDeps, shard: number): AsyncGenerator<RecordEnvelope> {
  let from = '-'
  for (;;) {
    const page = await runner.guard(() => redis.xrange(recordsName(shard), from, '+', 'COUNT', PAGE_SIZE))
    for (const [, fields] of page) {
      const record = parseRecordEnvelope(fields)
      if (record) yield record
    }
    const last = page.at(-1)
    if (page.length < PAGE_SIZE || !last) return
    from = `(${last[0]}`
  }
}

/** Maximum records of a shard to search for one account. */
const MAX_LOOKED_THROUGH = 2_000

/** The latest of an account's records in its shard's stream, newest first: at most `count` of the latest 2,000. */
export async function latestRecords(
  { redis, runner }: StreamDeps,
  accountId: string,
  count: number,
): Promise<UsageRecord[]> {
  const found: UsageRecord[] = []
  let to = '+'
  for (let lookedThrough = 0; lookedThrough < MAX_LOOKED_THROUGH; lookedThrough += PAGE_SIZE) {
    const page = await runner.guard(() => redis.xrevrange(recordsName(shardOf(accountId)), to, '-', 'COUNT', PAGE_SIZE))
    for (const [, fields] of page) {
      const record = parseRecordEnvelope(fields)?.accountId === accountId ? parseUsageRecord(fields) : undefined
      if (record) found.push(record)
    }
    const last = page.at(-1)
    if (found.length >= count || page.length < PAGE_SIZE || !last) break
    to = `(${last[0]}`
  }
  return found.slice(0, count)
}

/** The number of unacknowledged records in all shards. */
export function countUnsynced({ redis, runner }: StreamDeps): Promise<number> {
  return sumOverShards(runner, (shard) => redis.xlen(recordsName(shard)))
}
