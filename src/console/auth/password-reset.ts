/** Password changes, with the old password or a mailed link. All sessions end; a signed-in person gets a new one. */
import { eq } from 'drizzle-orm'
import { inOwnLine } from '@/accounts/passwords'
import { GatewayError } from '@/chat/error'
import { users } from '@/db/auth-schema'
import { alwaysAtLeast } from './at-least'
import { invalidLink, mailNotConfigured, wrongPassword } from './failure'
import { confirmationsBy, KNOWN_SECONDS, pairOf, tokensFrom } from './limits'
import { type Answer, type AuthParts, ask } from './parts'
import { checkNewPassword } from './profile'
import { record } from './record'
import { countMail, markVerified } from './sign-up'
import { createToken, readToken, voidTokens } from './tokens'
import type { Viewer } from './viewer'
import { headersOf, linkFor, type Visitor } from './visitor'

const ANSWER_MS = 300

/** Changes a signed-in person's password. They get a new session; all others end. */
export async function changePassword(
  parts: AuthParts,
  visitor: Visitor,
  viewer: Viewer,
  input: { currentPassword: string; newPassword: string },
): Promise<Answer<null>> {
  checkNewPassword(input.newPassword, [viewer.email, viewer.name], 'newPassword')
  await parts.throttle.attempt(confirmationsBy(viewer.userId))
  const { cookies } = await inOwnLine(() =>
    ask(parts, (library) =>
      library.api.changePassword({
        body: { ...input, revokeOtherSessions: true },
        headers: headersOf(visitor),
        returnHeaders: true,
      }),
    ),
  ).catch((error: unknown) => {
    const isWrong = error instanceof GatewayError && error.options.code === 'wrong_password'
    throw isWrong ? wrongPassword('currentPassword') : error
  })
  await parts.throttle.forgive(confirmationsBy(viewer.userId))
  await voidTokens(parts.database.db, viewer.userId)
  await record(parts, visitor, viewer, 'user.change_password')
  return { body: null, cookies }
}

/** Mails a link to set a new password. The response is the same for an unknown address. */
export async function forgotPassword(parts: AuthParts, visitor: Visitor, address: string): Promise<void> {
  const { mails } = parts
  if (!mails) throw mailNotConfigured('Ask its operator for a new password.')
  const email = address.toLowerCase()
  await countMail(parts.throttle, visitor.address, email)
  await alwaysAtLeast(ANSWER_MS, async () => {
    const [user] = await parts.database.db.select().from(users).where(eq(users.email, email))
    if (!user) return
    const token = await createToken(parts, 'reset-password', user.id)
    await mails.post(parts.database.db, user.email, { kind: 'reset_password', facts: {} }, linkFor(visitor, token))
    mails.hurry()
  })
}

/** Sets a new password with a mailed token, which also confirms the address. All sessions end. */
export async function resetPassword(
  parts: AuthParts,
  visitor: Visitor,
  input: { token: string; newPassword: string },
): Promise<void> {
  await parts.throttle.attempt(...tokensFrom(visitor.address))
  const userId = await readToken(parts, 'reset-password', input.token)
  const [user] = userId === undefined ? [] : await parts.database.db.select().from(users).where(eq(users.id, userId))
  if (!user) throw invalidLink()
  checkNewPassword(input.newPassword, [user.email, user.name], 'newPassword')
  await ask(parts, (library) => library.api.resetPassword({ body: input, returnHeaders: true }))
  await voidTokens(parts.database.db, user.id)
  await markVerified(parts, user.id)
  await record(parts, visitor, { ...user, userId: user.id, ownAccountId: user.accountId }, 'user.reset_password')
  await parts.throttle.remember('known', pairOf(visitor.address, user.email), KNOWN_SECONDS)
}
