/** What is asked of every shard of the ledger at once. */
import { SHARD_COUNT } from './names'
import type { ScriptRunner } from './script-runner'

/** The numbers of all shards. */
export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)

/** Adds up one number of each shard. */
export async function sumOverShards(runner: ScriptRunner, read: (shard: number) => Promise<number>): Promise<number> {
  const counts = await runner.guard(() => Promise.all(ALL_SHARDS.map(read)))
  return counts.reduce((sum, count) => sum + count, 0)
}
