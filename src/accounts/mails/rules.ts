/** Rules of each kind of mail: whether a person waits for it, its recipients, and its hourly limit. The outbox accepts only these kinds. */
import type { MailKind } from './templates'

type Share =
  /** No limit here: the routes that send these mails have limits. */
  | 'asked'
  /** Limited per account: mails that invite somebody or ask for a confirmation. */
  | 'invitations'
  /** Limited per account. */
  | 'alerts'
  | 'reports'
  | 'changes'
  /** Limited per recipient. */
  | 'person'

type MailRule = {
  waits: 'the asker' | 'the recipient' | 'nobody'
  /**
   * `typed`: any address that somebody entered. `own`: a user's confirmed address. `former`: a user's former address, if it was confirmed.
   * `alerts`: like `own`, or an address confirmed for the account's alerts.
   */
  to: 'typed' | 'own' | 'former' | 'alerts'
  share: Share
}

const ASKED = { waits: 'the asker', to: 'typed', share: 'asked' } as const
const INVITED = { waits: 'the recipient', to: 'typed', share: 'invitations' } as const
const ALERT = { waits: 'nobody', to: 'alerts', share: 'alerts' } as const
const REPORT = { waits: 'nobody', to: 'own', share: 'reports' } as const
const CHANGE = { waits: 'nobody', to: 'own', share: 'changes' } as const
const PERSON = { waits: 'nobody', to: 'own', share: 'person' } as const
const FORMER = { waits: 'nobody', to: 'former', share: 'person' } as const

export const MAIL_RULES: Readonly<Record<MailKind, MailRule>> = {
  verify_email: ASKED,
  reset_password: ASKED,
  already_registered: ASKED,
  confirm_address: ASKED,
  address_in_use: ASKED,
  invitation: INVITED,
  confirm_alerts: INVITED,
  password_changed: PERSON,
  second_step_changed: PERSON,
  new_sign_in: PERSON,
  address_changed: FORMER,
  address_put_back: FORMER,
  role_changed: CHANGE,
  member_added: CHANGE,
  member_removed: CHANGE,
  owner_added: CHANGE,
  addresses_changed: CHANGE,
  key_addresses_changed: CHANGE,
  management_key_made: CHANGE,
  key_leaked: CHANGE,
  top_up_needs_confirmation: CHANGE,
  top_up_stopped: CHANGE,
  balance_low: ALERT,
  balance_empty: ALERT,
  budget_reached: ALERT,
  spend_unusual: ALERT,
  key_expires: ALERT,
  former_key_ends: ALERT,
  several_alerts: ALERT,
  digest_weekly: REPORT,
  digest_monthly: REPORT,
  export_daily: REPORT,
  export_weekly: REPORT,
  export_monthly: REPORT,
  idle_reversal: PERSON,
}

/** The kinds of mail that share an hourly limit with `kind`. */
export function kindsOfShare(kind: MailKind): MailKind[] {
  const kinds = Object.keys(MAIL_RULES) as MailKind[]
  return kinds.filter((one) => MAIL_RULES[one].share === MAIL_RULES[kind].share)
}
