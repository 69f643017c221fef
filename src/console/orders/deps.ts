/** What every act on an order needs: the stores, a clock, the log, and the ways to pay there are. */
import type { Database } from '@/db/client'
import type { Ledger } from '@/ledger/ledger'
import type { Credit } from '@/ledger/outcomes'
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import type { OfferedMethods } from './methods'

export type OrdersDeps = {
  database: Database
  ledger: Ledger
  clock: Clock
  logger: Logger
  /** Which ways to pay there are; orders of other methods are refused. */
  methods: OfferedMethods
  /** Where the acts are steps of a larger transaction: takes the credits of which the ledger has to hear after its commit. */
  afterCommit?: (credit: Credit) => void
}
