/** The time until which a payer can take a payment back. */
import type { OrdersDeps } from './deps'
import type { OrderRow } from './rows'
import type { PaymentSource } from './types'

const DAY_MS = 24 * 60 * 60 * 1000

/** A payment is a deposit if its order or its source says so, even if an administrator confirmed it. */
export function reversibleUntil(
  { deposit, bankTransfer }: OrdersDeps['reversibleDays'],
  { method }: Pick<OrderRow, 'method'>,
  source: PaymentSource,
  receivedAt: Date,
): Date {
  const isDeposit = method === 'deposit' || source.startsWith('deposit:')
  return new Date(receivedAt.getTime() + (isDeposit ? deposit : bankTransfer) * DAY_MS)
}
