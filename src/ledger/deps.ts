/** What the parts of the ledger work with. */
import type { Logger } from '@/lib/logger'
import type { ViewDeps } from './account-view'
import type { EpochGuard } from './epoch'
import { SHARD_COUNT } from './keys'
import type { DefaultLimits } from './outcomes'
import type { Restorer } from './restore'
import type { ScriptRunner } from './script-runner'

export type LedgerDeps = ViewDeps & {
  epoch: EpochGuard
  restorer: Restorer
  defaultLimits: DefaultLimits
  logger: Logger
}

/** How often a call may find that its account or key has to be loaded first. */
export const MAX_LOADS = 5

/** Adds up one number of each shard. */
export async function sumOverShards(runner: ScriptRunner, read: (shard: number) => Promise<number>): Promise<number> {
  const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)
  const counts = await runner.guard(() => Promise.all(shards.map(read)))
  return counts.reduce((sum, count) => sum + count, 0)
}
