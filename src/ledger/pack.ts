/** Has accounts, keys and holds written as packed strings in a store whose gateways began with hashes. */
import { ALL_SHARDS } from './store/all-shards'
import type { RedisClient } from './store/connection'
import { metaName, PACKED_SHARDS } from './store/names'

/**
 * From now on each is packed when a request next touches it. There is no way back: gateways that know hashes only find another number
 * of shards, and don't start. Whoever calls this has made sure that none of them runs.
 */
export async function packLedger(redis: RedisClient): Promise<void> {
  await Promise.all(ALL_SHARDS.map((shard) => redis.hset(metaName(shard), 'shards', PACKED_SHARDS)))
}
