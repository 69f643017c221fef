/** What the parts of the ledger work with. */
import type { Logger } from '@/lib/logger'
import type { ViewDeps } from './account-view'
import type { EpochGuard } from './epoch'
import type { DefaultLimits } from './outcomes'
import type { Restorer } from './restore'

export type LedgerDeps = ViewDeps & {
  epoch: EpochGuard
  restorer: Restorer
  defaultLimits: DefaultLimits
  logger: Logger
}

/** How often a call may find that its account or key has to be loaded first. */
export const MAX_LOADS = 5
