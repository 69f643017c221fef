/** The mails of signing in and up, in plain text. Links carry their token after a #, which no server sees. */

import type { Mail } from './mailer'
import type { AuthParts } from './parts'
import type { Visitor } from './visitor'

/** The link in a mail: to a page of the dashboard, at the configured address wherever the request was sent. */
export function linkTo(
  { publicUrl }: Pick<AuthParts, 'publicUrl'>,
  visitor: Pick<Visitor, 'request'>,
  page: string,
  token: string,
): string {
  return `${pageOf({ publicUrl }, visitor, page)}#token=${encodeURIComponent(token)}`
}

/** The address of a page of the dashboard. */
export function pageOf(
  { publicUrl }: Pick<AuthParts, 'publicUrl'>,
  visitor: Pick<Visitor, 'request'>,
  page: string,
): string {
  return `${publicUrl ?? new URL(visitor.request.url).origin}/dashboard/${page}`
}

/** To somebody who has signed up. */
export function verificationMail(to: string, link: string): Mail {
  return mail(to, link, 'Confirm your e-mail address', [
    'Welcome. Confirm your e-mail address to start:',
    link,
    'The link is valid for 24 hours. If you have not signed up, ignore this mail.',
  ])
}

/** To somebody who has forgotten the password. */
export function resetMail(to: string, link: string): Mail {
  return mail(to, link, 'Choose a new password', [
    'Somebody, probably you, has asked to reset the password of your account. Choose a new one here:',
    link,
    'The link is valid for one hour and works once. If it was not you, ignore this mail: nothing has changed.',
  ])
}

/** To somebody with whose address somebody, perhaps they themselves, has tried to sign up again. */
export function alreadyRegisteredMail(to: string, link: string): Mail {
  return mail(to, link, 'You have an account already', [
    'Somebody, probably you, has tried to sign up with this address, which has an account already.',
    'Sign in with your password, or choose a new one here:',
    link,
    'The link is valid for one hour and works once. If it was not you, ignore this mail: nothing has changed.',
  ])
}

/** To somebody whose second step of signing in was changed in a session of theirs; `what` says how. */
export function secondStepChangedMail(to: string, link: string, what: string): Mail {
  return mail(to, link, 'Your two-step sign-in was changed', [
    what,
    'If it was not you, somebody knows your password: choose a new one and end all other sessions here, and tell the operator of this service.',
    link,
  ])
}

type Invited = { accountName: string; invitedBy: string; role: string; days: number }

/** To somebody who is to become a member of an organisation. Names are what strangers call themselves: no link is made of them. */
export function invitationMail(to: string, link: string, { accountName, invitedBy, role, days }: Invited): Mail {
  return mail(to, link, `You are invited to ${withoutLinks(accountName)}`, [
    `${withoutLinks(invitedBy)} invites you to the account of ${withoutLinks(accountName)}, in the role ${role}. Open this link to accept:`,
    link,
    `Sign in, or sign up, with the address that this mail was sent to. The link is valid for ${days} days and works once. If you know nothing of it, ignore this mail.`,
  ])
}

const MAX_NAME_CHARS = 80

/** A name in which no program that shows a mail finds an address to click on. */
function withoutLinks(name: string): string {
  const text = name.replace(/[/:@<>\\]/g, ' ').replace(/\.(?=\S)/g, '. ')
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_NAME_CHARS)
}

function mail(to: string, link: string, subject: string, paragraphs: string[]): Mail {
  return { to, subject, link, text: `${paragraphs.join('\n\n')}\n` }
}
