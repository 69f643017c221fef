/** The ways to pay that this gateway offers, as its configuration has them. */

import type { DepositProvider } from '@/console/orders/deposits/deposit-provider'
import type { BankDetails } from '@/db/orders-schema'

export type { BankDetails } from '@/db/orders-schema'

/** Undefined: not offered. */
export type OfferedMethods = { bankTransfer: BankDetails | undefined; deposit: DepositProvider | undefined }

/** Shown outside production where nothing is configured, so that every page can be seen. The IBAN is a documented example. */
export const EXAMPLE_BANK: BankDetails = {
  beneficiary: 'EXAMPLE ONLY - do not pay',
  bank: 'Example Bank',
  iban: 'GB82WEST12345698765432',
  bic: 'EXMPGB2LXXX',
  address: null,
  note: 'Example details: nobody has configured an account. Money sent here does not arrive.',
  isExample: true,
}
