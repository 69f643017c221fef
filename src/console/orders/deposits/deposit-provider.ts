/** The interface of a payment provider for deposits. */
import type { SavedCard } from '@/db/orders-schema'
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

/** The provider's data for the order: its own id of the payment, and a page to open or an account to pay to. */
export type DepositPayment = { paymentId: string; url: string | null; account: string | null }

type Reversal = {
  /** The provider's id of this movement of money, equal in every delivery. */
  externalId: string
  /** The `externalId` of the deposit, or of the reversal, that this reversal undoes. */
  undoes: string
  paymentId: string
  amountCents: number
  currency: string
  /** The reason, in the provider's words. */
  note: string | undefined
}

export type DepositEvent =
  /** The payment is complete. `externalId` is the provider's id of the payment, the same in each delivery of the event. */
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
      /** The payment was begun before the order's end, although its event may come later: the provider's page closes at that end. */
      isTimely?: boolean
      /** The order whose saved card was charged. This payment pays the order unless the order already has another payment. */
      chargedOrderId?: string
    }
  /** The payer's bank took money back (`chargeback`), or money was sent back (`refund`). Each part has an id of its own. */
  | (Reversal & { kind: 'chargeback' | 'refund' })
  /** A chargeback was won, or a refund failed: all or a part of the money is back. `undoes` names the chargeback or refund. */
  | (Reversal & { kind: 'reinstatement' })
  /** The payer has finished, but the payer's bank needs days. The order stays open during these days. */
  | { kind: 'processing'; paymentId: string }
  /** The payment will never be made: its time is up, or the payer's bank refused it. */
  | { kind: 'ended'; paymentId: string; why: 'expired' | 'failed' }
  /**
   * The charge of a saved card took no money. `confirm`: the bank asks its customer first. `declined`: a later charge may succeed.
   * `unusable`: no later charge of this card can succeed.
   */
  | { kind: 'charge_failed'; orderId: string; why: 'confirm' | 'declined' | 'unusable'; code: string }
  /** A person saved a card on the provider's page. */
  | { kind: 'card_saved'; accountId: string; card: SavedCard; savedAt: Date }
  /** The provider no longer has the card. */
  | { kind: 'card_gone'; cardId: string }
  /** The bank gave the card a new expiry date. */
  | { kind: 'card_renewed'; cardId: string; expMonth: number; expYear: number }
  /** A genuine event that moves no money, of a type that this file lists: started, cancelled, failed, a dispute announced. */
  | { kind: 'ignored'; type: string }
  /** A genuine event of a type that this file does not list. It is answered 200, logged and counted, since it may report money. */
  | { kind: 'unknown'; type: string }
  | { kind: 'malformed'; reason: string }

export interface DepositProvider {
  /** 1 to 40 characters of a-z, 0-9 and dashes; part of the webhook's path. */
  readonly name: string
  /** How long an order waits for its payment. */
  readonly lifetimeMs: number
  /** A larger webhook is refused unread. */
  readonly maxWebhookBytes: number
  /** Creates a payment for this order id, or returns the one created before. Rejects on failure. */
  createPayment(order: DepositOrder): Promise<DepositPayment>
  /** Whether a webhook's headers can be valid; if not, its body is not read. */
  checkHeaders(headers: Headers): Promise<WebhookVerdict>
  /** Whether the provider signed exactly this body at about this time. */
  verify(headers: Headers, rawBody: string): Promise<WebhookVerdict>
  /** Converts a verified body to events, in the order in which to apply them. Rejects only if a needed call to the provider fails. */
  readEvents(body: JsonObject): Promise<DepositEvent[]>
  /** Present if the provider can be asked about a payment. */
  readonly inquiry?: DepositInquiry
  /** Present if the provider can save cards and charge them later. */
  readonly cards?: SavedCards
}

/** A charge of a saved card. If a charge is repeated, it has exactly the same values. */
export type CardCharge = Pick<DepositOrder, 'orderId' | 'reference' | 'amountCents'> & { card: SavedCard; since: Date }

/** Saved cards. Each function rejects if the provider can't be reached. */
export interface SavedCards {
  /** A page of the provider on which a person saves a card. `customer`: the id that the provider gave to the owner of an earlier card. */
  openPage(request: {
    accountId: string
    email: string
    customer: string | undefined
    returnUrl: string
  }): Promise<{ pageId: string; url: string }>
  /** The card that was saved on a page. Undefined if no card was saved there, or if it was removed later. */
  savedOn(pageId: string): Promise<Extract<DepositEvent, { kind: 'card_saved' }> | undefined>
  /** Charges the card once per order, even if called repeatedly. Returns the charge's state. */
  charge(charge: CardCharge): Promise<DepositEvent[]>
  /** The state of an earlier {@link SavedCards.charge}; undefined if it never reached the provider. */
  find(charge: CardCharge): Promise<DepositEvent[] | undefined>
  /** Removes a card. Removing it again is no error. */
  remove(cardId: string): Promise<void>
}

/** Requests to a provider about a payment. Each rejects if the provider can't be reached. */
export interface DepositInquiry {
  /** Whether the provider adds tax to the price. */
  readonly addsTax: boolean
  /** All events of the payment. `isFinal`: an unpaid order gets no more events. */
  lookUp(paymentId: string): Promise<{ events: DepositEvent[]; isFinal: boolean }>
  /** Closes the payment's page, so that nobody can pay there. False if the payer has already paid. */
  close(paymentId: string): Promise<boolean>
  /** The page of the payment's invoice or receipt; undefined if there is none. */
  documentUrl(paymentId: string): Promise<string | undefined>
}
