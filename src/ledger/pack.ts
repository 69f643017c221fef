/** Has accounts, keys, holds and usage records written compactly in a store whose gateways began with a larger layout. */
import { ALL_SHARDS } from './store/all-shards'
import type { RedisClient } from './store/connection'
import { COMPACT_SHARDS, metaName } from './store/names'

/** Packs from now on, when a request next touches a thing. No way back: the caller has checked for older gateways. */
export async function packLedger(redis: RedisClient): Promise<void> {
  await Promise.all(ALL_SHARDS.map((shard) => redis.hset(metaName(shard), 'shards', COMPACT_SHARDS)))
}
