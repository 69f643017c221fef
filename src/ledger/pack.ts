/** Has accounts, keys and holds written as packed strings in a store whose gateways began with hashes. */
import { ALL_SHARDS } from './store/all-shards'
import type { RedisClient } from './store/connection'
import { metaName, PACKED_SHARDS } from './store/names'

/** Packs from now on, when a request next touches a thing. No way back: the caller has checked for older gateways. */
export async function packLedger(redis: RedisClient): Promise<void> {
  await Promise.all(ALL_SHARDS.map((shard) => redis.hset(metaName(shard), 'shards', PACKED_SHARDS)))
}
