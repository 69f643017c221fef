/** Operations by which administrators move money. If a second administrator must agree, the operation is stored. */
import { sha256Hex } from '@/lib/ids'

/** Amounts are integer US cents unless the name says otherwise; `amountNano` may be negative. */
export type Operation =
  | { kind: 'credit.adjust'; accountId: string; amountNano: number; allowNegative: boolean }
  /** Credit that an operator key adds, once per reference. A negative amount removes credit, but none whose payment can be reversed. */
  | { kind: 'credit.add'; accountId: string; amountNano: number; reference: string }
  | { kind: 'order.confirm'; orderId: string; amountCents: number }
  | { kind: 'order.refund'; orderId: string; amountCents: number; allowNegative: boolean }
  | { kind: 'payment.credit'; paymentId: string; orderId: string; creditCents: number }
  | StatementCredit

export type StatementCredit = {
  kind: 'statement.credit'
  importId: string
  line: number
  lineKey: string
  orderId: string
  /** The order's reference, and the text of the bank's line that contains it. */
  reference: string
  text: string
  amountCents: number
  currency: string
  bookedOn: string
  /** The sender of the money. Stored approvals use this name. */
  payer: string
}

export type OperationRequest = {
  operation: Operation
  /** 1 to `MAX_REASON_CHARS` characters. */
  reason: string
  /** The id that {@link requestIdOf} makes. */
  requestId: string
}

/** An idempotent id of 40 hexadecimal characters, made of the requester's id and their idempotency key (8 to 60 characters). */
export function requestIdOf(userId: string, key: string): string {
  return sha256Hex(JSON.stringify([userId, key])).slice(0, REQUEST_ID_CHARS)
}

/** A digest by which a repeated request id is checked: it must be for the same operation. */
export function digestOf(operation: Operation): string {
  return sha256Hex(JSON.stringify(Object.entries(operation).sort(([one], [other]) => (one < other ? -1 : 1))))
}

const REQUEST_ID_CHARS = 40
