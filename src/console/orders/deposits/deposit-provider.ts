/** What a payment provider has to do for deposits; webhook-signature.ts has checked the signature before. */
import type { JsonObject } from '@/lib/json'

/** What the provider gets of an order. Amounts are integer US cents. */
export type DepositOrder = {
  orderId: string
  reference: string
  amountCents: number
  currency: 'USD'
  expiresAt: Date
  /** The customer's address after payment; undefined if no page waits for them. */
  returnUrl: string | undefined
}

/** What the provider assigned to the order: its own id of the payment, and a page to open or an account to pay to. */
export type DepositPayment = { paymentId: string; url: string | null; account: string | null }

type Reversal = {
  /** The provider's id of this movement of money, the same in every delivery. */
  externalId: string
  /** The `externalId` of the deposit, or of the reversal, that it undoes. */
  undoes: string
  paymentId: string
  /** Hundredths of `currency`, positive. */
  amountCents: number
  currency: string
  /** Why, in the provider's words. */
  note: string | undefined
}

export type DepositEvent =
  /** Money has arrived, finally. `externalId` is the provider's id of this movement of money, the same in every delivery. */
  | {
      kind: 'received'
      externalId: string
      paymentId: string
      reference: string
      /** Hundredths of `currency`. */
      amountCents: number
      currency: string
      sender: string | undefined
    }
  /** Money that is gone: taken by the payer's bank (`chargeback`), or sent back (`refund`), in parts with ids of their own. */
  | (Reversal & { kind: 'chargeback' | 'refund' })
  /** A chargeback was won, or a refund failed: its money, or a part of it, is here again. `undoes` names that reversal. */
  | (Reversal & { kind: 'reinstatement' })
  /** A true event that moves no money, of a type that this file lists: started, cancelled, failed, a dispute announced. */
  | { kind: 'ignored'; type: string }
  /** A true event of a type that this file does not list. It is answered 200, logged and counted: it may be money. */
  | { kind: 'unknown'; type: string }
  | { kind: 'malformed'; reason: string }

export interface DepositProvider {
  /** 1 to 40 characters of a-z, 0-9 and dashes; part of the webhook's path. */
  readonly name: string
  /** Sets a payment up, or returns the one it had set up for this order id before. Rejects if it can't. */
  createPayment(order: DepositOrder): Promise<DepositPayment>
  /** Reads a verified body. Never throws. */
  readEvent(body: JsonObject): DepositEvent
}
