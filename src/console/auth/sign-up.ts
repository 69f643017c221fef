/** Sign-up, and the confirmation of its address. */
import { eq, sql } from 'drizzle-orm'
import { isKept } from '@/accounts/email-addresses'
import { writeMails } from '@/accounts/mails/outbox'
import { verifyPassword } from '@/accounts/passwords'
import { ensureAccount } from '@/accounts/users'
import { GatewayError } from '@/chat/error'
import { credentials, sessions, users } from '@/db/auth-schema'
import { findRow } from '@/db/find-row'
import { accounts } from '@/db/schema'
import { alwaysAtLeast } from './at-least'
import { emailTaken, invalidLink, wrongPassword } from './failure'
import { confirmationsBy, mailsBy, mailsFrom, pairOf, signUpsFrom, strangersMailsTo, tokensFrom } from './limits'
import { type Answer, type AuthParts, ask } from './parts'
import { checkNewPassword } from './profile'
import { record } from './record'
import { type Credentials, type SignInResult, signIn, welcome } from './sign-in'
import type { Throttle } from './throttle'
import { createToken, readToken, spendToken } from './tokens'
import { headersWithoutSession, linkFor, type Visitor } from './visitor'

type SignUpResult = { status: 'signed_in' | 'verification_sent' }
type NewPerson = Credentials & { name: string }

/** Longer than a sign-up takes, so that the response time does not reveal whether the address is known. */
const ANSWER_MS = 300

/** Creates a person. If addresses must be confirmed, it sends a mail, and responds the same for an address in use. */
export async function signUp(parts: AuthParts, visitor: Visitor, input: NewPerson): Promise<Answer<SignUpResult>> {
  if (parts.settings.signUp === 'closed') {
    throw new GatewayError('forbidden', 'Sign-up is closed. Ask the operator of this service for an account.', {
      code: 'sign_up_closed',
    })
  }
  const email = input.email.toLowerCase()
  checkNewPassword(input.password, [email, input.name])
  await parts.throttle.attempt(...signUpsFrom(visitor.address))
  const person = { ...input, email }
  return parts.requiresVerification
    ? alwaysAtLeast(ANSWER_MS, () => signUpUnverified(parts, visitor, person))
    : signUpAtOnce(parts, visitor, person)
}

/** Confirms an address with the mailed token and the password chosen at sign-up, and signs in. */
export async function verifyEmail(
  parts: AuthParts,
  visitor: Visitor,
  input: { token: string; password: string },
): Promise<Answer<SignInResult>> {
  const { db } = parts.database
  await parts.throttle.attempt(...tokensFrom(visitor.address))
  const userId = await readToken(parts, 'verify-email', input.token)
  const [user] = userId === undefined ? [] : await db.select().from(users).where(eq(users.id, userId))
  if (!user) throw invalidLink()
  await parts.throttle.attempt(confirmationsBy(user.id))
  // Without this check an attacker could sign up with a stranger's address, and own the account once the stranger confirms it.
  const [credential] = await db.select().from(credentials).where(eq(credentials.userId, user.id))
  const isRight = credential?.password ? await verifyPassword(input.password, credential.password) : false
  if (!isRight) throw wrongPassword()
  if (!(await spendToken(parts, 'verify-email', input.token))) throw invalidLink()
  await markVerified(parts, user.id)
  await record(parts, visitor, { ...user, userId: user.id, ownAccountId: user.accountId }, 'user.verify_email')
  return signIn(parts, visitor, { email: user.email, password: input.password })
}

/** Counts a mail before any look-up: per requester and per recipient. Throws `too_many_attempts`. */
export async function countMail(throttle: Throttle, address: string, email: string): Promise<void> {
  const isKnown = await throttle.isRemembered('known', pairOf(address, email))
  await throttle.attempt(...mailsFrom(address), mailsBy(address, email), ...(isKnown ? [] : [strangersMailsTo(email)]))
}

/** Sends the confirmation mail again. The response is the same for an unknown or confirmed address. */
export async function resendVerification(parts: AuthParts, visitor: Visitor, address: string): Promise<void> {
  const email = address.toLowerCase()
  await countMail(parts.throttle, visitor.address, email)
  await alwaysAtLeast(ANSWER_MS, async () => {
    const [user] = await parts.database.db.select().from(users).where(eq(users.email, email))
    if (user && !user.emailVerified) await sendVerification(parts, visitor, user)
  })
}

/** Marks an address as confirmed. Its user now gets the account that an operator may have created for it. */
export async function markVerified(parts: AuthParts, userId: string): Promise<void> {
  await parts.database.db.transaction(async (transaction) => {
    await transaction.update(users).set({ emailVerified: true, updatedAt: new Date() }).where(eq(users.id, userId))
    await ensureAccount(transaction, userId)
  })
}

async function signUpUnverified(parts: AuthParts, visitor: Visitor, person: NewPerson): Promise<Answer<SignUpResult>> {
  const { db } = parts.database
  await countMail(parts.throttle, visitor.address, person.email)
  const [existing] = await db.select().from(users).where(eq(users.email, person.email))
  const sent: Answer<SignUpResult> = { body: { status: 'verification_sent' }, cookies: [] }
  if (!existing && (await isKept(db, person.email))) {
    const { origin } = new URL(visitor.request.url)
    await writeMails(db, { kind: 'address_in_use', facts: {} }, [person.email], { origin })
    parts.mails?.hurry()
    return sent
  }
  const { body } = await ask(parts, (library) => callSignUp(library, visitor, person))
  if (existing) {
    const token = await createToken(parts, 'reset-password', existing.id)
    await post(parts, existing.email, 'already_registered', linkFor(visitor, token))
  } else {
    await sendVerification(parts, visitor, { id: body.user.id, email: person.email })
  }
  return sent
}

async function signUpAtOnce(parts: AuthParts, visitor: Visitor, person: NewPerson): Promise<Answer<SignUpResult>> {
  const { db } = parts.database
  // An account that an operator created for this address needs proof of the address, so sign-up must be able to send mail.
  const reserved = await findRow(db, accounts, eq(sql`lower(${accounts.email})`, person.email))
  if (reserved && !parts.mails) throw emailTaken()
  const { body, cookies } = await ask(parts, (library) => callSignUp(library, visitor, person))
  if (reserved) {
    await db.delete(sessions).where(eq(sessions.userId, body.user.id))
    await sendVerification(parts, visitor, body.user)
    return { body: { status: 'verification_sent' }, cookies: [] }
  }
  const device = await welcome(parts, visitor, { token: body.token ?? '', user: body.user, how: 'sign_up' })
  return { body: { status: 'signed_in' }, cookies: [...cookies, device] }
}

/** Passes only these fields to the library. Otherwise a body could set a role, for instance. */
function callSignUp(library: Awaited<ReturnType<AuthParts['library']>>, visitor: Visitor, person: NewPerson) {
  const { name, email, password } = person
  return library.api.signUpEmail({
    body: { name, email, password },
    headers: headersWithoutSession(visitor),
    returnHeaders: true,
  })
}

async function sendVerification(
  parts: AuthParts,
  visitor: Visitor,
  user: { id: string; email: string },
): Promise<void> {
  const token = await createToken(parts, 'verify-email', user.id)
  await post(parts, user.email, 'verify_email', linkFor(visitor, token))
}

/** Stores the mail with the link. The token is stored before: if the gateway dies in between, the person must request a new mail. */
async function post(
  { mails, database }: AuthParts,
  to: string,
  kind: 'already_registered' | 'verify_email',
  link: { token: string; origin: string },
): Promise<void> {
  await mails?.post(database.db, to, { kind, facts: {} }, link)
  mails?.hurry()
}
