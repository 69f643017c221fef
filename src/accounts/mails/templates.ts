/** Every kind of mail: its content, and how long it is worth sending. Names are chosen by users, so they never become links. */
import type { OptionalKind } from '@/db/alert-schema'
import type { MailFacts } from '@/db/mail-schema'
import { browserName } from '@/lib/browser-name'
import { ADDRESS_TEMPLATES } from './address-templates'
import { ALERT_TEMPLATES } from './alert-templates'
import { type Block, type MailContent, type Template, whenAndWhere, withoutLinks } from './content'
import { SCHEDULED_TEMPLATES } from './scheduled-templates'
import { TOP_UP_TEMPLATES } from './top-up-templates'

const DAY_HOURS = 24
const WEEK_HOURS = 7 * DAY_HOURS

/** `by`: the author of a change, as a person's address or the operator's command line. */
type Changed = { accountName: string; by: string }

const NOT_YOU =
  'If it was not you, choose a new password and end all other sessions here, and contact the operator of this service.'
const NOT_EXPECTED =
  'If you did not expect this, look at the audit log of the account, which its owners and admins see, or ask the operator of this service.'

const TEMPLATES = {
  ...ALERT_TEMPLATES,
  ...SCHEDULED_TEMPLATES,
  ...ADDRESS_TEMPLATES,
  ...TOP_UP_TEMPLATES,
  verify_email: template(DAY_HOURS, () => ({
    subject: 'Confirm your e-mail address',
    blocks: [
      { text: 'Welcome. Confirm your e-mail address to start:' },
      { button: 'Confirm the address', page: 'verify-email' },
      { text: 'The link is valid for 24 hours. If you have not signed up, ignore this mail.' },
    ],
  })),
  reset_password: template(1, () => ({
    subject: 'Choose a new password',
    blocks: [
      {
        text: 'Somebody, probably you, has asked to reset the password of your account. Choose a new one here:',
      },
      { button: 'Choose a new password', page: 'reset-password' },
      {
        text: 'The link is valid for one hour and works once. If it was not you, ignore this mail: nothing has changed.',
      },
    ],
  })),
  /** To a registered address that was used to sign up again, maybe by the same person. */
  already_registered: template(1, () => ({
    subject: 'You have an account already',
    blocks: [
      { text: 'Someone, probably you, has tried to sign up with this address, which already has an account.' },
      { text: 'Sign in with your password, or choose a new one here:' },
      { button: 'Choose a new password', page: 'reset-password' },
      {
        text: 'The link is valid for one hour and works once. If it was not you, ignore this mail: nothing has changed.',
      },
    ],
  })),
  invitation: template(
    WEEK_HOURS,
    ({
      accountName,
      invitedBy,
      role,
      days,
    }: {
      accountName: string
      invitedBy: string
      role: string
      days: number
    }) => ({
      subject: `You are invited to ${withoutLinks(accountName)}`,
      blocks: [
        {
          text: `${withoutLinks(invitedBy)} invites you to the account of ${withoutLinks(accountName)}, in the role ${role}. Open this link to accept:`,
        },
        { button: 'Look at the invitation', page: 'invitation' },
        {
          text: `Sign in, or sign up, with the address that this mail was sent to. The link is valid for ${days} days and works once. If you did not expect it, ignore this mail.`,
        },
      ],
    }),
  ),
  confirm_alerts: template(
    WEEK_HOURS,
    ({ accountName, askedBy, days }: { accountName: string; askedBy: string; days: number }) => ({
      subject: `Do you want alerts of ${withoutLinks(accountName)}?`,
      blocks: [
        {
          text: `${withoutLinks(askedBy)} wants alerts of the account of ${withoutLinks(accountName)} to be sent to this address. Look at it, and confirm:`,
        },
        { button: 'Look at it', page: 'confirm-alerts' },
        {
          text: `The link is valid for ${days} days. If you did not expect it, ignore this mail: you get no alerts without your consent.`,
        },
      ],
    }),
  ),
  password_changed: security(({ address, at }: { address: string; at: string }) => ({
    subject: 'Your password was changed',
    blocks: [
      { text: 'The password of your account was changed, and all other sessions were ended.' },
      { rows: whenAndWhere(at, address) },
    ],
  })),
  second_step_changed: security(
    ({ what, address, at }: { what: keyof typeof SECOND_STEP; address: string; at: string }) => ({
      subject: 'Your two-step sign-in was changed',
      blocks: [{ text: SECOND_STEP[what] }, { rows: whenAndWhere(at, address) }],
    }),
  ),
  /** To somebody who has signed in from an unknown browser. */
  new_sign_in: security(({ address, at, browser }: { address: string; at: string; browser: string }) => ({
    subject: 'A new sign-in to your account',
    blocks: [
      { text: 'Somebody, probably you, has signed in to your account from a browser that was not used for it before.' },
      { rows: [...whenAndWhere(at, address), ['Browser', withoutLinks(browserName(browser))]] },
    ],
  })),
  role_changed: ofAccount(({ accountName, before, after, by }: Changed & { before: string; after: string }) => ({
    subject: `Your role in ${withoutLinks(accountName)} was changed`,
    blocks: [
      { text: `In the account of ${withoutLinks(accountName)} you are ${after} now. You were ${before} before.` },
      { rows: [['Changed by', by]] },
    ],
  })),
  member_added: ofAccount(({ accountName, role, by }: Changed & { role: string }) => ({
    subject: `You are a member of ${withoutLinks(accountName)}`,
    blocks: [
      { text: `You were made a member of the account of ${withoutLinks(accountName)}, in the role ${role}.` },
      { rows: [['Added by', by]] },
    ],
  })),
  member_removed: ofAccount(({ accountName, by }: Changed) => ({
    subject: `You are no longer a member of ${withoutLinks(accountName)}`,
    blocks: [
      { text: `Your membership of the account of ${withoutLinks(accountName)} has ended.` },
      { rows: [['Ended by', by]] },
    ],
  })),
  /** To the owners of an account that got another owner. */
  owner_added: ofAccount(({ accountName, owner, by }: Changed & { owner: string }) => ({
    subject: `${withoutLinks(accountName)} has a new owner`,
    blocks: [
      { text: `The account of ${withoutLinks(accountName)} has one more owner, who may do all that you may.` },
      {
        rows: [
          ['New owner', owner],
          ['Added by', by],
        ],
      },
    ],
  })),
  /** To owners and admins, when the networks allowed for their account's keys changed. */
  addresses_changed: ofAccount(({ accountName, after, by }: Changed & { after: string }) => ({
    subject: `Allowed addresses of ${withoutLinks(accountName)} were changed`,
    blocks: [
      { text: `From where keys of the account of ${withoutLinks(accountName)} may be used was changed.` },
      {
        rows: [
          ['Allowed now', after],
          ['Changed by', by],
        ],
      },
    ],
  })),
  /** To owners, admins and the key's member, when the networks allowed for one key changed. */
  key_addresses_changed: ofAccount(({ accountName, key, after, by }: Changed & { key: string; after: string }) => ({
    subject: `Allowed addresses of the API key ${withoutLinks(key)} were changed`,
    blocks: [
      { text: `From where a key of the account of ${withoutLinks(accountName)} may be used was changed.` },
      {
        rows: [
          ['Key', withoutLinks(key)],
          ['Allowed now', after],
          ['Changed by', by],
        ],
      },
    ],
  })),
  /** To owners and admins, when a management key was made. */
  management_key_made: ofAccount(({ accountName, name, scopes, by }: Changed & { name: string; scopes: string }) => ({
    subject: `${withoutLinks(accountName)} has a new management key`,
    blocks: [
      { text: `A program may manage the account of ${withoutLinks(accountName)} by a new key, within its scopes.` },
      {
        rows: [
          ['Key', withoutLinks(name)],
          ['Scopes', scopes || 'none'],
          ['Made by', by],
        ],
      },
    ],
  })),
  /** To owners, admins and the key's member: somebody found the key's text in public. */
  key_leaked: template(
    WEEK_HOURS,
    ({ accountName, key, days }: { accountName: string; key: string; days: number }) => ({
      subject: `The key ${withoutLinks(key)} was found in public`,
      blocks: [
        {
          text: `Someone has found the text of a key of the account of ${withoutLinks(accountName)} where others can read it, and reported it to us. Anyone who has it can spend your credit.`,
        },
        { rows: [['Key', withoutLinks(key)]] },
        { button: 'Switch the key off', page: 'leaked-key/off' },
        {
          text: `The link works once, within ${days} days, without a sign-in. Programs that use the key are refused from then on. To change the text instead, rotate the key without an overlap on its page.`,
        },
      ],
    }),
  ),
  /** To administrators: a payment was reversed, or its reversal undone, without any effect on credit. */
  idle_reversal: template(
    WEEK_HOURS,
    (facts: { reversal: string; amount: string; currency: string; undoes: string; hasOrder: number }) => ({
      subject: `A ${facts.reversal} needs manual review`,
      blocks: [
        { text: `A ${facts.reversal} of ${facts.amount} ${facts.currency} has moved no credit.` },
        {
          text: `${facts.hasOrder ? 'It does not fit what its order has got' : 'Nobody here knows what it undoes'} (${facts.undoes}). Decide under "Chargebacks to look at":`,
        },
        { button: 'Look at it', page: 'admin/orders' },
      ],
    }),
  ),
}

const SECOND_STEP = {
  enabled: 'An authenticator app was set up: signing in asks for its code from now on.',
  disabled: 'Your authenticator app was removed: signing in asks for the password only.',
  codes: 'New backup codes were made for your account: the old ones no longer work.',
  reset: 'The operator of this service has removed your authenticator app: signing in asks for the password only.',
} as const

function template<Facts extends MailFacts = Record<string, never>>(
  hours: number,
  write: (facts: Facts) => MailContent,
): Template<Facts> {
  return { hours, write }
}

/** Mails about a person's own sign-in. They cannot be turned off. */
function security<Facts extends MailFacts>(write: (facts: Facts) => MailContent): Template<Facts> {
  const blocks: Block[] = [{ text: NOT_YOU }, { button: 'Look at your settings', page: 'settings' }]
  return { hours: WEEK_HOURS, write: (facts) => withEnd(write(facts), blocks) }
}

/** Mails about a person's account. They cannot be turned off. */
function ofAccount<Facts extends MailFacts>(write: (facts: Facts) => MailContent): Template<Facts> {
  return { hours: WEEK_HOURS, write: (facts) => withEnd(write(facts), [{ text: NOT_EXPECTED }]) }
}

function withEnd({ subject, blocks }: MailContent, more: readonly Block[]): MailContent {
  return { subject, blocks: [...blocks, ...more] }
}

export type MailKind = keyof typeof TEMPLATES
type FactsOf<Kind extends MailKind> = Parameters<(typeof TEMPLATES)[Kind]['write']>[0]

export type NewMail = { [Kind in MailKind]: { kind: Kind; facts: FactsOf<Kind> } }[MailKind]

export const MAIL_KINDS = Object.keys(TEMPLATES) as MailKind[]

/** How long a mail is worth sending, in milliseconds. */
export function lifeOf(kind: MailKind): number {
  return TEMPLATES[kind].hours * 3_600_000
}

/** The kind that people turn off to stop this mail; undefined if they can't. */
export function optionalKindOf(kind: MailKind): OptionalKind | undefined {
  return TEMPLATES[kind].optional
}

/** The content of a mail of this kind, from its `facts`. */
export function contentOf(kind: MailKind, facts: MailFacts): MailContent {
  return (TEMPLATES[kind].write as (facts: MailFacts) => MailContent)(facts)
}
