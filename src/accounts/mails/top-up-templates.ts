/** Mails about an account's auto top-up. They cannot be turned off. */
import type { StopReason } from '@/db/orders-schema'
import { type Template, withoutLinks } from './content'

const WEEK_HOURS = 7 * 24

type OfAccount = { accountId: string; accountName: string }

/** Reasons for the end of an auto top-up that are mailed. If a person turned it off or removed the card, no mail is sent. */
export type MailedStop = Exclude<StopReason, 'person' | 'card_removed'>

const REASONS: Record<MailedStop, string> = {
  card_gone: 'The saved card was removed at the payment provider.',
  card_refused: 'The bank or the payment provider refuses the saved card. Save another one.',
  declined: 'The last three charges of the saved card failed.',
  returned: 'A payment of the account was refunded or charged back, so the card is not charged again by itself.',
}

const needsConfirmation: Template<OfAccount & { orderId: string; reference: string; amount: string }> = {
  hours: WEEK_HOURS,
  write: ({ accountId, accountName, orderId, reference, amount }) => ({
    subject: `Confirm a payment of ${amount} for ${withoutLinks(accountName)}`,
    blocks: [
      {
        text: `The credit of the account of ${withoutLinks(accountName)} is low. Your bank asks you to confirm the automatic top-up. Nothing was charged yet.`,
      },
      {
        rows: [
          ['Order', reference],
          ['Credit', amount],
        ],
      },
      { button: 'Pay the order', page: `a/${accountId}/credit/orders/${orderId}` },
      { text: 'Until you pay or cancel this order, no further credit is bought automatically.' },
    ],
  }),
}

const stopped: Template<OfAccount & { reason: MailedStop }> = {
  hours: WEEK_HOURS,
  write: ({ accountId, accountName, reason }) => ({
    subject: `The automatic top-up of ${withoutLinks(accountName)} is off`,
    blocks: [
      { text: `No more credit is bought automatically for the account of ${withoutLinks(accountName)}.` },
      { text: REASONS[reason] },
      { text: 'Requests are refused once the credit is used up. Buy credit, or turn the top-up on again:' },
      { button: 'Look at the credit', page: `a/${accountId}/credit` },
    ],
  }),
}

export const TOP_UP_TEMPLATES = {
  /** To owners and billing members. */
  top_up_needs_confirmation: needsConfirmation,
  top_up_stopped: stopped,
}
