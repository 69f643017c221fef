/** What the history has not acknowledged yet: the usage records that are still in the shards' streams. */
import { sumOverShards } from '@/ledger/store/all-shards'
import type { RedisClient } from '@/ledger/store/connection'
import { recordsName } from '@/ledger/store/names'
import type { ScriptRunner } from '@/ledger/store/script-runner'
import { parseRecordEnvelope, type RecordEnvelope } from '@/ledger/usage-record'

type StreamDeps = { redis: RedisClient; runner: ScriptRunner }

/** A page is written out in one go, and everybody else in the store waits for it. */
const PAGE_SIZE = 200

/** Reads a shard's stream from end to end: every record that is not acknowledged by the history. */
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

/** How many there are, over all shards. */
export function countUnsynced({ redis, runner }: StreamDeps): Promise<number> {
  return sumOverShards(runner, (shard) => redis.xlen(recordsName(shard)))
}
