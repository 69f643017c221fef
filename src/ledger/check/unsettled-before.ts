import { streamedRecords } from '@/ledger/records/unsynced-records'
import { commandTimeoutOf, type RedisClient } from '@/ledger/store/connection'
import { SHARD_COUNT } from '@/ledger/store/names'
import { createScriptRunner } from '@/ledger/store/script-runner'
import { countHoldsBefore } from './check-holds'

type Unsettled = {
  records: number
  /** Open holds with a passed deadline. */
  holds: number
}

/** Counts charges not yet in Postgres and open holds, from before `beforeMs` (ms since 1970). Throws if Redis is unreachable. */
export async function countUnsettledBefore(redis: RedisClient, beforeMs: number): Promise<Unsettled> {
  const runner = createScriptRunner(redis, commandTimeoutOf(redis))
  const holds = await countHoldsBefore({ redis, runner }, beforeMs)
  let records = 0
  for (let shard = 0; shard < SHARD_COUNT; shard++) {
    for await (const record of streamedRecords({ redis, runner }, shard)) if (record.atMs < beforeMs) records += 1
  }
  return { records, holds }
}
