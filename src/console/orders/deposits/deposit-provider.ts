/** The interface of a payment provider for deposits. */
import type { JsonObject } from '@/lib/json'
import type { WebhookVerdict } from './webhook-signature'

export type DepositOrder = {
  orderId: string
  reference: string
  amountCents: number
  currency: 'USD'
  expiresAt: Date
  /** The account's address. */
  email: string
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
      /** Hundredths of `currency`, tax included. */
      amountCents: number
      /** The part of `amountCents` that is tax, which is not credited. */
      taxCents?: number
      currency: string
      sender: string | undefined
      /** The provider's page closes at the order's end: a payment on it was begun in time, whenever its event comes. */
      isTimely?: boolean
    }
  /** Money that is gone: taken by the payer's bank (`chargeback`), or sent back (`refund`), in parts with ids of their own. */
  | (Reversal & { kind: 'chargeback' | 'refund' })
  /** A chargeback was won, or a refund failed: its money, or a part of it, is here again. `undoes` names that reversal. */
  | (Reversal & { kind: 'reinstatement' })
  /** The payer is done, and the payer's bank needs days: the order stays open until then. */
  | { kind: 'processing'; paymentId: string }
  /** The payment will never be made: its time is up, or the payer's bank refused it. */
  | { kind: 'ended'; paymentId: string; why: 'expired' | 'failed' }
  /** A true event that moves no money, of a type that this file lists: started, cancelled, failed, a dispute announced. */
  | { kind: 'ignored'; type: string }
  /** A true event of a type that this file does not list. It is answered 200, logged and counted: it may be money. */
  | { kind: 'unknown'; type: string }
  | { kind: 'malformed'; reason: string }

export interface DepositProvider {
  /** 1 to 40 characters of a-z, 0-9 and dashes; part of the webhook's path. */
  readonly name: string
  /** How long an order waits for its payment. */
  readonly lifetimeMs: number
  /** A larger webhook is refused unread. */
  readonly maxWebhookBytes: number
  /** Sets a payment up, or returns the one it had set up for this order id before. Rejects if it can't. */
  createPayment(order: DepositOrder): Promise<DepositPayment>
  /** Whether a webhook's headers can be right at all; its body is not read if they can't. */
  checkHeaders(headers: Headers): Promise<WebhookVerdict>
  /** Whether the provider signed exactly this body at about this time. */
  verify(headers: Headers, rawBody: string): Promise<WebhookVerdict>
  /** The meaning of a verified body, in the order to apply. Rejects only if the provider has to be asked and can't be. */
  readEvents(body: JsonObject): Promise<DepositEvent[]>
  /** Present if the provider answers questions about a payment that it has set up. */
  readonly inquiry?: DepositInquiry
}

/** Questions to a provider. Each rejects if it can't be reached. */
export interface DepositInquiry {
  /** Whether the provider adds tax to the price. */
  readonly addsTax: boolean
  /** Everything that has happened to the payment. `isFinal`: nothing more is to come for an order that is not paid. */
  lookUp(paymentId: string): Promise<{ events: DepositEvent[]; isFinal: boolean }>
  /** Takes no payment any more. False if the payer was faster. */
  close(paymentId: string): Promise<boolean>
  /** The page of the payment's invoice or receipt; undefined if there is none. */
  documentUrl(paymentId: string): Promise<string | undefined>
}
