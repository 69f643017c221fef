/** Dependencies of all functions on orders: stores, clock, log, and the configured ways to pay. */

import type { DepositProvider } from '@/console/orders/deposits/deposit-provider'
import type { Database } from '@/db/client'
import type { BankDetails, Parties } from '@/db/orders-schema'
import type { Ledger } from '@/ledger/ledger'
import type { Credit } from '@/ledger/outcomes'
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'

export type OrdersDeps = {
  seller: Parties['seller']
  database: Database
  ledger: Ledger
  clock: Clock
  logger: Logger
  methods: OfferedMethods
  amounts: { minimumCents: number; maximumCents: number }
  /** Number of days after a payment in which its payer can take the money back. */
  reversibleDays: { deposit: number; bankTransfer: number }
  /** Set if orders change inside a larger transaction. Collects the credits to send to the ledger after that transaction's commit. */
  afterCommit?: (credit: Credit) => void
}

export type { BankDetails } from '@/db/orders-schema'

export type OfferedMethods = { bankTransfer: BankDetails | undefined; deposit: DepositProvider | undefined }

/** An example bank account, shown outside production if none is configured. The IBAN is a documented example. */
export const EXAMPLE_BANK: BankDetails = {
  beneficiary: 'EXAMPLE ONLY - do not pay',
  bank: 'Example Bank',
  iban: 'GB82WEST12345698765432',
  bic: 'EXMPGB2LXXX',
  address: null,
  note: 'Example details: nobody has configured an account. Money sent here does not arrive.',
  isExample: true,
}
