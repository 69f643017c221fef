/** Reads option values of operator commands. Each function throws a CommandFailure that names the option and what it allows. */
import { PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS } from '@/accounts/passwords'
import { type Nano, parseUsd } from '@/lib/money'
import { isWeakPassword } from '@/lib/weak-password'
import { OPERAND, type Values } from './command'
import { fail } from './failure'
import type { Surroundings } from './services'

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$|^[^\s@]+@localhost$/
const MAX_EMAIL_CHARS = 254
const MAX_TEXT_CHARS = 200

/** A trimmed text of 1 to `most` characters, 200 by default. */
export function readText(values: Values, name: string, most = MAX_TEXT_CHARS): string {
  const text = (values[name] ?? '').trim()
  const what = name === OPERAND ? 'what is named' : `--${name}`
  if (text.length === 0 || text.length > most) fail(`${what} must have 1 to ${most} characters`)
  return text
}

/** One of `choices`; undefined if the option is missing. */
export function readChoice<Word extends string>(
  values: Values,
  name: string,
  choices: readonly Word[],
): Word | undefined {
  const text = values[name]
  if (text === undefined) return undefined
  return choices.find((word) => word === text) ?? fail(`--${name} must be one of ${choices.join(', ')}`)
}

/** Roles of people. */
export const ROLES = ['member', 'admin'] as const

/** A valid e-mail address. */
export function readEmail(values: Values, name: string): string {
  const text = (values[name] ?? '').trim()
  if (!EMAIL.test(text) || text.length > MAX_EMAIL_CHARS) fail(`--${name} must be an e-mail address`)
  return text
}

/** The start of a day (UTC), in milliseconds since 1970. */
export function readDay(values: Values, name: string): number {
  const text = values[name] ?? ''
  const atMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return Number.isNaN(atMs) ? fail(`--${name} must be a day such as 2026-03-01`) : atMs
}

/** An amount other than zero, in USD with up to nine decimals. */
export function readUsd(values: Values, name: string): Nano {
  const amount = parseUsd(values[name] ?? '')
  if (amount === undefined || amount === 0) {
    fail(`--${name} must be an amount in USD other than 0, up to 9000000, with nine decimals at most, e.g. 10.50`)
  }
  return amount
}

/** A budget of 0 USD or more. Null if the option is missing or `none`. */
export function readBudget(values: Values, name: string): Nano | null {
  const text = values[name] ?? 'none'
  if (text === 'none') return null
  const amount = parseUsd(text)
  if (amount === undefined || amount < 0)
    fail(`--${name} must be an amount in USD from 0 to 9000000, e.g. 25.00, or none`)
  return amount
}

export const MAX_LIMITS = { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000, concurrency: 100_000 }

/** An integer from 1 to `most`; null if the option is missing. */
export function readOptionalCount(values: Values, name: string, most: number): number | null {
  const text = values[name]
  if (text === undefined) return null
  const count = /^\d{1,15}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > most) fail(`--${name} must be an integer from 1 to ${most}`)
  return count
}

/** A password: the first line of standard input. Throws if it is too short, too long or, in production, easily guessed. */
export async function readPassword(surroundings: Surroundings, known: readonly string[]): Promise<string> {
  const [password = ''] = (await surroundings.readSecret()).split(/\r?\n/, 1)
  if (password === '') return fail('a password is expected on standard input, e.g. from: read -rs P; echo "$P" | …')
  if (password.length < PASSWORD_MIN_CHARS || password.length > PASSWORD_MAX_CHARS) {
    return fail(`the password on standard input must have ${PASSWORD_MIN_CHARS} to ${PASSWORD_MAX_CHARS} characters`)
  }
  if (surroundings.environment.NODE_ENV === 'production' && isWeakPassword(password, known)) {
    return fail('the password is among the first guesses of everybody; production refuses it')
  }
  return password
}
