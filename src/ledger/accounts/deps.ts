/** What the parts of the ledger work with: the store, its epoch, the history it is restored from, limits, the log. */

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
 * How often a call may find that something has to be loaded or looked up first: in a cold store one after the other the account, the
 * key, its secret, its addresses, and that there are budgets; and the account once more where the store fails over.
 */
export const MAX_LOADS = 8
