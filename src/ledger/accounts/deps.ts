/** The dependencies of the ledger's parts: Redis, epoch, history, limits, log. */

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
  /** Accounts known to have budgets. The first call of a script already passes the name of their budgets. */
  budgeted: BoundedMap<string, true>
  logger: Logger
  /** Allowed networks of keys known to this process, by key id. A reserve tells Redis which lists it has checked. */
  addresses: { get(keyId: string): string | undefined; set(keyId: string, addresses: string): void }
  /** Reports that a usage record was appended to this shard's stream. */
  noteRecord(shard: number): void
  /** Reports that a request used a rotated-out secret of its key. */
  noteFormerSecret(payer: Payer): void
}

/** Maximum loads in one call. An empty Redis may need account, key, secret, addresses and budgets, and the account again. */
export const MAX_LOADS = 8
