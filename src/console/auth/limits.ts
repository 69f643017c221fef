/** How often one may try to sign in, to sign up or to have a mail sent, by address and by account. */
import { networkOf } from '@/lib/quota/network'
import type { Limit } from './throttle'

const MINUTES = 60
const HOURS = 60 * MINUTES
const DAYS = 24 * HOURS

/** How long an address from which somebody has signed in is known. */
export const KNOWN_SECONDS = 90 * DAYS

/** Guesses from one address at whatever account. Those that were right don't count: an office shares its address. */
export const signInsFrom = (address: string): Limit => ({
  name: 'address',
  subject: networkOf(address),
  max: 100,
  seconds: 10 * MINUTES,
})

/** Guesses from one address at one account. */
export const signInsBy = (address: string, email: string): Limit => ({
  name: 'pair',
  subject: pairOf(address, email),
  max: 10,
  seconds: 15 * MINUTES,
})

/**
 * Guesses at one account from all addresses from which nobody has signed in to it before. Whoever has is not counted, and
 * so is not locked out by those who guess.
 */
export const strangersAt = (email: string): Limit => ({
  name: 'account',
  subject: email.toLowerCase(),
  max: 100,
  seconds: HOURS,
})

export const signUpsFrom = (address: string): Limit => ({
  name: 'sign-up',
  subject: networkOf(address),
  max: 100,
  seconds: HOURS,
})

/** Mails that one address asks for, to whomever. */
export const mailsFrom = (address: string): Limit => ({
  name: 'mails',
  subject: networkOf(address),
  max: 20,
  seconds: HOURS,
})

/** Mails to one person that one address asks for. */
export const mailsBy = (address: string, email: string): Limit => ({
  name: 'mail-pair',
  subject: pairOf(address, email),
  max: 5,
  seconds: HOURS,
})

/**
 * Mails to one person that are asked for from addresses where they have never signed in: nobody's box is filled by strangers.
 * Whoever asks from where they have signed in is not counted, and so is not kept from a mail of their own.
 */
export const strangersMailsTo = (email: string): Limit => ({
  name: 'mail',
  subject: email.toLowerCase(),
  max: 10,
  seconds: HOURS,
})

export const tokensFrom = (address: string): Limit => ({
  name: 'token',
  subject: networkOf(address),
  max: 30,
  seconds: 10 * MINUTES,
})

/** Passwords and codes asked for again of somebody who is signed in. */
export const confirmationsBy = (userId: string): Limit => ({
  name: 'confirm',
  subject: userId,
  max: 10,
  seconds: 15 * MINUTES,
})

/** What stands for an address and an account together. */
export function pairOf(address: string, email: string): string {
  return `${networkOf(address)} ${email.toLowerCase()}`
}
