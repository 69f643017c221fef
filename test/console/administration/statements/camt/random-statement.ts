/** Random CAMT.053 statements, and what must be read from them. */
import { fc } from '@test/support/property'
import { CAMT_VERSIONS, type CamtEntry, type CamtPayment } from './build'

/** Cents as banks write them: with two decimals, one, none, or zeros behind. */
const writtenAmount = fc
  .tuple(fc.integer({ min: 1, max: 9_999_999 }), fc.constantFrom(0, 1, 3))
  .map(([cents, zeros]) => {
    const text = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
    if (zeros === 0) return { cents, text: text.replace(/\.?0+$/, '') }
    return { cents, text: `${text}${zeros === 3 ? '000' : ''}` }
  })

const words = fc
  .array(fc.constantFrom('invoice', 'SVC-7K3M-9QXP', 'Müller & Söhne', '<b>', '日本', '2026', 'EREF+'), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join(' '))

const payment: fc.Arbitrary<{ cents: number; payment: CamtPayment }> = fc
  .record({
    amount: writtenAmount,
    text: fc.array(words, { maxLength: 3 }),
    endToEnd: fc.option(fc.constantFrom('E2E-1', 'NOTPROVIDED', 'SVC7K3M9QXP'), { nil: undefined }),
    bankReference: fc.option(
      fc.integer({ min: 1, max: 1e9 }).map((id) => `B${id}`),
      { nil: undefined },
    ),
    payer: fc.option(fc.constantFrom('Ada & Co', 'Grace GmbH'), { nil: undefined }),
    isReturn: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  })
  .map(({ amount, ...rest }) => ({
    cents: amount.cents,
    payment: {
      usd: amount.text,
      text: rest.text,
      isReturn: rest.isReturn,
      ...(rest.endToEnd !== undefined && { endToEnd: rest.endToEnd }),
      ...(rest.bankReference !== undefined && { bankReference: rest.bankReference }),
      ...(rest.payer !== undefined && { payer: rest.payer }),
    },
  }))

/** `credits`: the cents of each payment that may be credited. `booked`: whether it is a booked credit in USD, not reversed. */
export type RandomEntry = { entry: CamtEntry; credits: number[]; cents: number; isBookedCredit: boolean }

const randomEntry: fc.Arbitrary<RandomEntry> = fc
  .record({
    payments: fc.array(payment, { minLength: 1, maxLength: 4 }),
    currency: fc.constantFrom('USD', 'USD', 'USD', 'EUR', 'JPY'),
    direction: fc.constantFrom('CRDT', 'CRDT', 'DBIT'),
    status: fc.constantFrom('BOOK', 'BOOK', 'BOOK', 'PDNG', 'INFO'),
    isReversal: fc.constantFrom(undefined, false, false, true),
    bankReference: fc.option(
      fc.integer({ min: 1, max: 1e9 }).map((id) => `N${id}`),
      { nil: undefined },
    ),
    isShort: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  })
  .map(({ payments, currency, direction, status, isReversal, bankReference, isShort }) => {
    const sum = payments.reduce((total, { cents }) => total + cents, 0)
    const cents = isShort ? sum + 1 : sum
    const isBookedCredit = direction === 'CRDT' && status === 'BOOK' && isReversal !== true && currency === 'USD'
    const entry = {
      ...{ amount: (cents / 100).toFixed(2), currency, payments: payments.map((one) => one.payment) },
      ...(direction === 'DBIT' && { direction }),
      ...(status !== 'BOOK' && { status }),
      ...(isReversal !== undefined && { isReversal }),
      ...(bankReference !== undefined && { bankReference }),
    } as CamtEntry
    const isWhole = payments.length === 1 || !isShort
    const parts = payments.length === 1 ? [cents] : payments.map((one) => one.cents)
    const credits = parts.filter((_, index) => isBookedCredit && isWhole && payments[index]?.payment.isReturn !== true)
    return { entry, credits, cents, isBookedCredit }
  })

/** A file of one to three statements. */
export const randomFile = fc.record({
  version: fc.constantFrom(...CAMT_VERSIONS),
  statements: fc.array(fc.array(randomEntry, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
})
