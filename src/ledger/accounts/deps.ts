/** The dependencies of the ledger's parts: store, epoch, history, limits, log. */

import type { DefaultLimits, Payer } from '@/ledger/outcomes'
import type { EpochGuard } from '@/ledger/store/epoch-guard'
import type { BoundedMap } from '@/lib/bounded-map'
import type { Logger } from '@/lib/logger'
import type { ViewDeps } from './account-view'
import type { Restorer } from './restore'

export type LedgerDeps = ViewDeps & {
  epoch: EpochGuard
  restorer: Restorer
  defaultLimits: DefaultLimits
  /** Accounts that are known to have budgets: their calls name these at once. */
  budgeted: BoundedMap<string, true>
  logger: Logger
  /** From where keys may be used, by their ids, as far as this process knows: compared by each reserve. */
  addresses: { get(keyId: string): string | undefined; set(keyId: string, addresses: string): void }
  /** A usage record was appended to this shard's stream. */
  noteRecord(shard: number): void
  /** A request came with a secret of its key that another is to replace. */
  noteFormerSecret(payer: Payer): void
}

/**
 * The most loads or look-ups in one call. A cold store may need the account, the key, its secret, its addresses and its budgets
 * one after another, and the account once more after a failover.
 */
export const MAX_LOADS = 8
