/** Signing in, with a second step if set up, and signing out. */

import { and, eq, inArray, lt } from 'drizzle-orm'
import { recordAudit } from '@/accounts/audit'
import { writeMails } from '@/accounts/mails/outbox'
import { inOwnLine } from '@/accounts/passwords'
import { ensureAccount } from '@/accounts/users'
import { takeCode } from '@/console/auth/totp/used-codes'
import { auditEntries } from '@/db/administration-schema'
import { sessions, users } from '@/db/auth-schema'
import type { Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { randomBase62 } from '@/lib/ids'
import { atLeast } from './at-least'
import { disabledUser, notVerified } from './failure'
import { hashSessionToken } from './hashed-sessions'
import {
  changesBy,
  devicePairOf,
  KNOWN_SECONDS,
  pairOf,
  signInsBy,
  signInsFrom,
  signInsWith,
  strangersAt,
} from './limits'
import { type Answer, type AuthParts, ask } from './parts'
import { originOf } from './record'
import { createIdentifyViewer } from './viewer'
import { cookiePrefix, headersOf, headersWithoutSession, type Visitor } from './visitor'

const DEVICE_CHARS = 32

export type SignInResult = { status: 'signed_in' | 'totp_required' }
export type Credentials = { email: string; password: string }

/** Longer than any refusal takes, so that the response time does not reveal whether the address is known. */
const REFUSAL_MS = 200

/** Signs in by password and ends the browser's earlier session. Throws `wrong_credentials`, `email_not_verified`, `too_many_attempts`. */
export async function signIn(parts: AuthParts, visitor: Visitor, input: Credentials): Promise<Answer<SignInResult>> {
  const { throttle } = parts
  const { address } = visitor
  const email = input.email.toLowerCase()
  const known = await knownBy(parts, visitor, email)
  const byNetwork = known === undefined ? signInsFrom(address) : []
  const byPerson = [signInsBy(address, email), ...(typeof known === 'object' ? [signInsWith(known.device, email)] : [])]
  await throttle.attempt(...byNetwork, ...byPerson, ...(known === undefined ? [strangersAt(email)] : []))
  const { body, cookies } = await atLeast(REFUSAL_MS, () =>
    askInLine(parts, known !== undefined, (library) =>
      library.api.signInEmail({
        body: { email, password: input.password },
        headers: headersWithoutSession(visitor),
        returnHeaders: true,
      }),
    ),
  )
  await throttle.giveBack(...byNetwork)
  await throttle.forgive(...byPerson)
  if ('twoFactorRedirect' in body) return { body: { status: 'totp_required' }, cookies }
  const device = await welcome(parts, visitor, { ...body, how: 'password' })
  return { body: { status: 'signed_in' }, cookies: [...cookies, device] }
}

/** Known people's password checks don't wait behind strangers' guesses. */
function askInLine<T>(parts: AuthParts, isKnown: boolean, call: Parameters<typeof ask<T>>[1]): Promise<Answer<T>> {
  return isKnown ? inOwnLine(() => ask(parts, call)) : ask(parts, call)
}

/** The second step: a code of the authenticator app, or a backup code, which works once. */
export async function finishSignIn(
  parts: AuthParts,
  visitor: Visitor,
  input: { kind: 'totp' | 'backup'; code: string },
): Promise<Answer<SignInResult>> {
  await parts.throttle.attempt(...signInsFrom(visitor.address))
  const call = { body: { code: input.code }, headers: headersWithoutSession(visitor), returnHeaders: true } as const
  const { body, cookies } = await ask(parts, (library) =>
    input.kind === 'totp' ? library.api.verifyTOTP(call) : library.api.verifyBackupCode(call),
  )
  const { token, user } = body
  if (input.kind === 'totp') {
    try {
      await takeCode(parts, user.id, input.code)
    } catch (error) {
      await parts.database.db.delete(sessions).where(eq(sessions.token, hashSessionToken(token ?? '')))
      throw error
    }
  }
  await parts.throttle.giveBack(...signInsFrom(visitor.address))
  const device = await welcome(parts, visitor, { token: token ?? '', user, how: input.kind })
  return { body: { status: 'signed_in' }, cookies: [...cookies, device] }
}

/** Ends the session of a request, on the server and in the browser. */
export async function signOut(parts: AuthParts, visitor: Visitor): Promise<Answer<null>> {
  const { cookies } = await ask(parts, (library) =>
    library.api.signOut({ headers: headersOf(visitor), returnHeaders: true }),
  )
  return { body: null, cookies }
}

/** Runs after every sign-in: writes the audit entry, ends the old session, remembers address and browser, creates a missing account. */
export async function welcome(
  parts: AuthParts,
  visitor: Visitor,
  signedIn: { token: string; user: { id: string; email: string }; how: 'sign_up' | 'password' | 'totp' | 'backup' },
): Promise<string> {
  const { db } = parts.database
  const { user, token, how } = signedIn
  const [person] = await db.select({ disabledAt: users.disabledAt }).from(users).where(eq(users.id, user.id))
  if (person?.disabledAt) {
    await db.delete(sessions).where(eq(sessions.userId, user.id))
    throw disabledUser()
  }
  try {
    await parts.throttle.attempt(changesBy(user.id))
  } catch (error) {
    await db.delete(sessions).where(eq(sessions.token, hashSessionToken(token)))
    throw error
  }
  const isNewDevice = !(await isDeviceKnown(parts, visitor, user.email))
  const accountId = await db.transaction(async (transaction) => {
    const ensured = await ensureAccount(transaction, user.id)
    if (ensured === undefined) return undefined
    if (isNewDevice) await tellOfNewDevice(transaction, visitor, user)
    await recordAudit(transaction, {
      ...originOf(visitor, { userId: user.id, email: user.email }),
      action: how === 'sign_up' ? 'user.sign_up' : 'user.sign_in',
      subject: user.id,
      accountId: ensured,
      details: { how },
    })
    return ensured
  })
  if (accountId === undefined) {
    await db.delete(sessions).where(eq(sessions.token, hashSessionToken(token)))
    throw notVerified()
  }
  await db.delete(sessions).where(and(eq(sessions.userId, user.id), lt(sessions.expiresAt, new Date())))
  const before = await createIdentifyViewer(parts)(visitor.request)
  if (before) await db.delete(sessions).where(eq(sessions.id, before.sessionId))
  return rememberVisitor(parts, visitor, user.email)
}

/** How the visitor is known from earlier sign-ins with `email`: by address, or by browser; undefined if by neither. */
async function knownBy(
  { throttle }: Pick<AuthParts, 'throttle'>,
  visitor: Visitor,
  email: string,
): Promise<'address' | { device: string } | undefined> {
  if (await throttle.isRemembered('known', pairOf(visitor.address, email))) return 'address'
  const device = deviceOf(visitor)
  const isKnown = device !== undefined && (await throttle.isRemembered('device', devicePairOf(device, email)))
  return isKnown ? { device } : undefined
}

async function isDeviceKnown({ throttle }: AuthParts, visitor: Visitor, email: string): Promise<boolean> {
  const device = deviceOf(visitor)
  return device !== undefined && throttle.isRemembered('device', devicePairOf(device, email))
}

/** Mails about a new device, except at a person's first sign-in. */
async function tellOfNewDevice(
  transaction: Transaction,
  { request, address }: Visitor,
  user: { id: string; email: string },
): Promise<void> {
  const isSignIn = inArray(auditEntries.action, ['user.sign_in', 'user.sign_up'])
  if (!(await findRow(transaction, auditEntries, and(eq(auditEntries.subject, user.id), isSignIn)))) return
  const browser = request.headers.get('user-agent') ?? ''
  const facts = { address, at: new Date().toISOString(), browser: browser.toWellFormed().slice(0, MAX_BROWSER_CHARS) }
  await writeMails(transaction, { kind: 'new_sign_in', facts }, [user.email], { origin: new URL(request.url).origin })
}

const MAX_BROWSER_CHARS = 300

/** Remembers the address and the browser. Returns the browser's cookie. */
export async function rememberVisitor(
  { throttle, publicUrl }: Pick<AuthParts, 'throttle' | 'publicUrl'>,
  visitor: Visitor,
  email: string,
): Promise<string> {
  const device = deviceOf(visitor) ?? randomBase62(DEVICE_CHARS)
  await throttle.remember('known', pairOf(visitor.address, email), KNOWN_SECONDS)
  await throttle.remember('device', devicePairOf(device, email), KNOWN_SECONDS)
  const secure = publicUrl?.startsWith('https://') ? '; Secure' : ''
  return `${cookiePrefix(publicUrl)}.device=${device}; Max-Age=${KNOWN_SECONDS}; Path=/; HttpOnly${secure}; SameSite=Lax`
}

function deviceOf({ request }: Visitor): string | undefined {
  return /(?:^|;\s*)(?:__Host-)?gateway\.device=([0-9A-Za-z]{32})(?:;|$)/.exec(request.headers.get('cookie') ?? '')?.[1]
}
