/** What the parts of the ledger work with. */

import type { ViewDeps } from '@/ledger/accounts/account-view'
import type { Restorer } from '@/ledger/accounts/restore'
import type { EpochGuard } from '@/ledger/store/epoch'
import { SHARD_COUNT } from '@/ledger/store/names'
import type { ScriptRunner } from '@/ledger/store/script-runner'
import type { Logger } from '@/lib/logger'
import type { DefaultLimits } from './outcomes'

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
