/** How often one may try to sign in, to sign up, to have a mail sent or to change something, by address, person and account. */
import { networkOf, siteOf } from '@/lib/quota/network'
import { SHARED } from '@/limits/shared-resources'
import type { Limit } from './throttle'

const MINUTES = 60
const HOURS = 60 * MINUTES
const DAYS = 24 * HOURS

/** How long an address from which somebody has signed in is known. */
export const KNOWN_SECONDS = 90 * DAYS

/** Guesses from one address at whatever account. Those that were right don't count: an office shares its address. */
export const signInsFrom = (address: string): Limit[] => fromNetwork(address, 'address', 100, 10 * MINUTES)

/** Guesses from one address at one account. */
export const signInsBy = (address: string, email: string): Limit => ({
  name: 'pair',
  subject: pairOf(address, email),
  max: 10,
  seconds: 15 * MINUTES,
})

/** Guesses at one account from addresses where nobody has signed in to it: its owner is not locked out. */
export const strangersAt = (email: string): Limit => ({
  name: 'account',
  subject: email.toLowerCase(),
  max: 100,
  seconds: HOURS,
})

export const signUpsFrom = (address: string): Limit[] => fromNetwork(address, 'sign-up', 100, HOURS)

/** Mails that one address asks for, to whomever. */
export const mailsFrom = (address: string): Limit[] => fromNetwork(address, 'mails', 20, HOURS)

/** Mails to one person that one address asks for. */
export const mailsBy = (address: string, email: string): Limit => ({
  name: 'mail-pair',
  subject: pairOf(address, email),
  max: 5,
  seconds: HOURS,
})

/** Mails to one person from addresses where they have not signed in: no mailbox is filled by strangers. */
export const strangersMailsTo = (email: string): Limit => ({
  name: 'mail',
  subject: email.toLowerCase(),
  max: 10,
  seconds: HOURS,
})

/** Invitations to one person, whichever accounts send them. */
export const invitationsTo = (email: string): Limit => ({
  name: 'invitation',
  subject: email.toLowerCase(),
  max: 10,
  seconds: HOURS,
})

/** Mails that ask whether somebody wants alerts, which one account causes. */
export const alertQuestionsBy = (accountId: string): Limit => ({
  name: 'alert-question',
  subject: accountId,
  max: 10,
  seconds: HOURS,
})

/** The same to one address, whichever accounts ask. */
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

/** How often one invitation is sent again. */
export const resendsOf = (invitationId: string): Limit => ({
  name: 'invitation-resend',
  subject: invitationId,
  max: 3,
  seconds: HOURS,
})

/** Mails that confirm another address, which one person asks for. */
export const addressMailsBy = (userId: string): Limit => ({
  name: 'address-mail',
  subject: userId,
  max: 5,
  seconds: HOURS,
})

/** The same to one address, whoever asks. */
export const addressMailsTo = (email: string): Limit => ({
  name: 'address-mail-to',
  subject: email.toLowerCase(),
  max: 5,
  seconds: HOURS,
})

export const tokensFrom = (address: string): Limit[] => fromNetwork(address, 'token', 30, 10 * MINUTES)

/** Keys that one address says were found in public, and that all say together: an answer costs a look-up, and may cost mails. */
export const keyReportsFrom = (address: string): Limit[] => [
  ...fromNetwork(address, 'key-report', 10, HOURS),
  { name: 'key-reports', subject: 'all', max: 300, seconds: HOURS },
]

/** Passwords and codes asked for again of somebody who is signed in. */
export const confirmationsBy = (userId: string): Limit => ({
  name: 'confirm',
  subject: userId,
  max: 10,
  seconds: 15 * MINUTES,
})

/** A person's changes, sign-ins included: each may need the audit log, whose writers wait for each other. */
export const changesBy = (userId: string): Limit => ({
  name: 'changes',
  subject: userId,
  max: SHARED.changes.perAccount / 2,
  seconds: MINUTES,
})

/** What one management key changes: 60 a minute. */
export const changesWith = (managementKeyId: string): Limit => ({
  name: 'key-changes',
  subject: managementKeyId,
  max: SHARED.changes.perAccount / 4,
  seconds: MINUTES,
})

/** The same of all people and management keys of an account together. */
export const changesAt = (accountId: string): Limit => ({
  name: 'account-changes',
  subject: accountId,
  max: SHARED.changes.perAccount,
  seconds: MINUTES,
})

/** Guesses from one browser at one account to which it has signed in before, wherever it is now. */
export const signInsWith = (device: string, email: string): Limit => ({
  name: 'device-pair',
  subject: devicePairOf(device, email),
  max: 10,
  seconds: 15 * MINUTES,
})

/** As many networks of one site, which may all be one person's, are counted like this many. */
const NETWORKS_OF_A_SITE = 4

/** A limit of one network, and of its site where it may have many. */
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
