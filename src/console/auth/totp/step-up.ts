/** Re-authentication in an open session, which actions that move money require every few minutes. */
import { eq } from 'drizzle-orm'
import { inOwnLine, verifyPassword } from '@/accounts/passwords'
import { GatewayError } from '@/chat/error'
import { wrongCode, wrongPassword } from '@/console/auth/failure'
import { confirmationsBy } from '@/console/auth/limits'
import { type AuthParts, ask } from '@/console/auth/parts'
import { record } from '@/console/auth/record'
import type { Viewer } from '@/console/auth/viewer'
import { headersOf, type Visitor } from '@/console/auth/visitor'
import { credentials, sessions } from '@/db/auth-schema'
import { takeCode } from './used-codes'

/** A code of the authenticator app, or the password. */
type Proof = { kind: 'code'; code: string } | { kind: 'password'; password: string }

/** Records in the session that its person re-authenticated. Throws `wrong_code`, `wrong_password` or `too_many_attempts`. */
export async function stepUp(parts: AuthParts, visitor: Visitor, viewer: Viewer, proof: Proof): Promise<void> {
  await parts.throttle.attempt(confirmationsBy(viewer.userId))
  if (proof.kind === 'code') await proveBySecondStep(parts, visitor, viewer, proof.code)
  else await proveByPassword(parts, viewer, proof.password)
  await parts.throttle.forgive(confirmationsBy(viewer.userId))
  await parts.database.db.update(sessions).set({ provedAt: new Date() }).where(eq(sessions.id, viewer.sessionId))
  await record(parts, visitor, viewer, 'user.step_up')
}

/** Checks the password, then the second step if there is one. Throws `wrong_password`, `wrong_code` or `too_many_attempts`. */
export async function proveByAll(
  parts: AuthParts,
  visitor: Visitor,
  viewer: Viewer,
  { password, code }: { password: string; code?: string },
): Promise<void> {
  await parts.throttle.attempt(confirmationsBy(viewer.userId))
  await proveByPassword(parts, viewer, password)
  if (viewer.isTotpEnabled) {
    if (code === undefined) throw wrongCode()
    await proveBySecondStep(parts, visitor, viewer, code)
  }
  await parts.throttle.forgive(confirmationsBy(viewer.userId))
}

/** Checks an app's code, or else a backup code, which is used up. Throws `wrong_code`. */
export async function proveBySecondStep(
  parts: AuthParts,
  visitor: Visitor,
  viewer: Viewer,
  code: string,
): Promise<void> {
  // Checking a code would activate an app that is not active yet, so this case is refused.
  if (!viewer.isTotpEnabled) {
    throw new GatewayError('conflict', 'No authenticator app is set up.', { code: 'totp_not_enabled' })
  }
  const isOfApp = APP_CODE.test(code)
  if (isOfApp) await takeCode(parts, viewer.userId, code)
  const call = { body: { code }, headers: headersOf(visitor), returnHeaders: true } as const
  await ask(parts, (library) => (isOfApp ? library.api.verifyTOTP(call) : library.api.verifyBackupCode(call)))
}

const APP_CODE = /^\d{6}$/

/** Checks the password. Throws `wrong_password`. */
export async function proveByPassword(
  { database }: AuthParts,
  { userId }: Pick<Viewer, 'userId'>,
  password: string,
): Promise<void> {
  const [credential] = await database.db.select().from(credentials).where(eq(credentials.userId, userId))
  const isRight = credential?.password
    ? await inOwnLine(() => verifyPassword(password, credential.password ?? ''))
    : false
  if (!isRight) throw wrongPassword()
}
