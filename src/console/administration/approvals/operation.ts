/** What moves money by an administrator's word: stored as it is where a second administrator has to agree. */
import { sha256Hex } from '@/lib/ids'
import { type Nano, nano } from '@/lib/money'

/** Amounts are integer US cents unless the name says otherwise; `amountNano` may be negative. */
export type Operation =
  | { kind: 'credit.adjust'; accountId: string; amountNano: number; allowNegative: boolean }
  | { kind: 'order.confirm'; orderId: string; amountCents: number }
  | { kind: 'order.refund'; orderId: string; amountCents: number; allowNegative: boolean }
  | { kind: 'payment.credit'; paymentId: string; orderId: string; creditCents: number }
  | StatementCredit

/** One line of a bank statement, for the order it names. */
export type StatementCredit = {
  kind: 'statement.credit'
  importId: string
  line: number
  lineKey: string
  orderId: string
  /** The order's reference, and the text that named it. */
  reference: string
  text: string
  amountCents: number
  currency: string
  bookedOn: string
  /** The sender of the money. Requests that wait for a second person store this name. */
  payer: string
}

/** An operation together with why, and the identity that makes it happen once. */
export type OperationRequest = {
  operation: Operation
  /** 1 to `MAX_REASON_CHARS` characters. */
  reason: string
  /** From {@link requestIdOf}. */
  requestId: string
}

/** Names a request by who asks and their key (8 to 60 characters), in 40 hexadecimal characters: repeated it is the same. */
export function requestIdOf(userId: string, key: string): string {
  return sha256Hex(JSON.stringify([userId, key])).slice(0, REQUEST_ID_CHARS)
}

/** Tells whether a request that comes with a known id asks for the same thing as before. */
export function digestOf(operation: Operation): string {
  return sha256Hex(JSON.stringify(Object.entries(operation).sort(([one], [other]) => (one < other ? -1 : 1))))
}

const REQUEST_ID_CHARS = 40

const NANO_PER_CENT = 10_000_000

/** The most orders and payments hold fits an account's range. */
export function centsToNano(cents: number): Nano {
  return nano(cents * NANO_PER_CENT)
}
