/** Runs a query on every shard of the ledger at once. */
import { Cluster } from 'ioredis'
import type { RedisClient } from './connection'
import { SHARD_COUNT } from './names'
import type { ScriptRunner } from './script-runner'

export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)

/** The shards per command: all of them on one server, each alone on a cluster. */
export function shardGroups(redis: RedisClient): readonly (readonly number[])[] {
  return redis instanceof Cluster ? ALL_SHARDS.map((shard) => [shard]) : [ALL_SHARDS]
}

/** Adds up one number of each shard. */
export async function sumOverShards(runner: ScriptRunner, read: (shard: number) => Promise<number>): Promise<number> {
  const counts = await runner.guard(() => Promise.all(ALL_SHARDS.map(read)))
  return counts.reduce((sum, count) => sum + count, 0)
}
