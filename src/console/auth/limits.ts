/** Rate limits for signing in, signing up, mails and changes, per address, person and account. */
import { networkOf, siteOf } from '@/lib/quota/network'
import { SHARED } from '@/limits/shared-resources'
import type { Limit } from './throttle'

const MINUTES = 60
const HOURS = 60 * MINUTES
const DAYS = 24 * HOURS

/** How long an address counts as known after a sign-in. */
export const KNOWN_SECONDS = 90 * DAYS

/** Failed sign-ins from one address, to all accounts. Successful ones don't count, since an office may share an address. */
export const signInsFrom = (address: string): Limit[] => fromNetwork(address, 'address', 100, 10 * MINUTES)

/** Wrong sign-ins from one address to one account. */
export const signInsBy = (address: string, email: string): Limit => ({
  name: 'pair',
  subject: pairOf(address, email),
  max: 10,
  seconds: 15 * MINUTES,
})

/** Wrong sign-ins to one account from addresses unknown to it. The owner's known addresses are not limited by it. */
export const strangersAt = (email: string): Limit => ({
  name: 'account',
  subject: email.toLowerCase(),
  max: 100,
  seconds: HOURS,
})

export const signUpsFrom = (address: string): Limit[] => fromNetwork(address, 'sign-up', 100, HOURS)

/** Mails requested from one address, to all recipients. */
export const mailsFrom = (address: string): Limit[] => fromNetwork(address, 'mails', 20, HOURS)

/** Mails requested from one address, to one person. */
export const mailsBy = (address: string, email: string): Limit => ({
  name: 'mail-pair',
  subject: pairOf(address, email),
  max: 5,
  seconds: HOURS,
})

/** Mails to one person requested from addresses unknown to them, so that strangers cannot flood a mailbox. */
export const strangersMailsTo = (email: string): Limit => ({
  name: 'mail',
  subject: email.toLowerCase(),
  max: 10,
  seconds: HOURS,
})

/** Invitations to one person, from all accounts. */
export const invitationsTo = (email: string): Limit => ({
  name: 'invitation',
  subject: email.toLowerCase(),
  max: 10,
  seconds: HOURS,
})

/** Confirmation mails for alert addresses, caused by one account. */
export const alertQuestionsBy = (accountId: string): Limit => ({
  name: 'alert-question',
  subject: accountId,
  max: 10,
  seconds: HOURS,
})

/** Confirmation mails to one alert address, from all accounts. */
export const alertQuestionsTo = (email: string): Limit[] =>
  (
    [
      ['hour', 3, HOURS],
      ['day', 6, DAYS],
    ] as const
  ).map(([span, max, seconds]) => ({
    ...{ name: `alert-question-to-${span}`, subject: email.toLowerCase() },
    ...{ max, seconds },
  }))

/** Repeated mails of one invitation. */
export const resendsOf = (invitationId: string): Limit => ({
  name: 'invitation-resend',
  subject: invitationId,
  max: 3,
  seconds: HOURS,
})

/** Confirmation mails for new sign-in addresses, requested by one person. */
export const addressMailsBy = (userId: string): Limit => ({
  name: 'address-mail',
  subject: userId,
  max: 5,
  seconds: HOURS,
})

/** Confirmation mails to one new sign-in address, from all persons. */
export const addressMailsTo = (email: string): Limit => ({
  name: 'address-mail-to',
  subject: email.toLowerCase(),
  max: 5,
  seconds: HOURS,
})

export const tokensFrom = (address: string): Limit[] => fromNetwork(address, 'token', 30, 10 * MINUTES)

/** Reports of leaked keys, from one address and in total: each costs a look-up, and may cause mails. */
export const keyReportsFrom = (address: string): Limit[] => [
  ...fromNetwork(address, 'key-report', 10, HOURS),
  { name: 'key-reports', subject: 'all', max: 300, seconds: HOURS },
]

/** Attempts of a signed-in person to confirm an action by password or code. */
export const confirmationsBy = (userId: string): Limit => ({
  name: 'confirm',
  subject: userId,
  max: 10,
  seconds: 15 * MINUTES,
})

/** A person's changes, including sign-ins: each may write to the audit log, which takes one entry at a time. */
export const changesBy = (userId: string): Limit => ({
  name: 'changes',
  subject: userId,
  max: SHARED.changes.perAccount / 2,
  seconds: MINUTES,
})

/** Changes by one management key: 60 a minute. */
export const changesWith = (managementKeyId: string): Limit => ({
  name: 'key-changes',
  subject: managementKeyId,
  max: SHARED.changes.perAccount / 4,
  seconds: MINUTES,
})

/** Changes by all people and management keys of an account together. */
export const changesAt = (accountId: string): Limit => ({
  name: 'account-changes',
  subject: accountId,
  max: SHARED.changes.perAccount,
  seconds: MINUTES,
})

/** Wrong sign-ins from one browser, at any address, to one account that it has signed in to before. */
export const signInsWith = (device: string, email: string): Limit => ({
  name: 'device-pair',
  subject: devicePairOf(device, email),
  max: 10,
  seconds: 15 * MINUTES,
})

/** The limit of a site (an IPv6 /48) is this many times a network's limit: one person may own all networks of a site. */
const NETWORKS_OF_A_SITE = 4

/** The limit of an address's network and, for IPv6, the limit of its site, which may have many networks. */
function fromNetwork(address: string, name: string, max: number, seconds: number): Limit[] {
  const site = siteOf(address)
  const limit = { name, subject: networkOf(address), max, seconds }
  if (site === undefined) return [limit]
  return [limit, { name: `${name}-site`, subject: site, max: max * NETWORKS_OF_A_SITE, seconds }]
}

/** The key for a browser and an account together. */
export function devicePairOf(device: string, email: string): string {
  return `${device} ${email.toLowerCase()}`
}

/** The key for an address and an account together. */
export function pairOf(address: string, email: string): string {
  return `${networkOf(address)} ${email.toLowerCase()}`
}
