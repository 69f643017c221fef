/** Sets up and removes an authenticator app. Each change needs the password; once an app is set up, also a code. */
import { and, eq, ne } from 'drizzle-orm'
import { inOwnLine } from '@/accounts/passwords'
import { hashSessionToken } from '@/console/auth/hashed-sessions'
import { confirmationsBy } from '@/console/auth/limits'
import { type Answer, type AuthParts, ask } from '@/console/auth/parts'
import { record } from '@/console/auth/record'
import type { Viewer } from '@/console/auth/viewer'
import { headersOf, type Visitor } from '@/console/auth/visitor'
import { sessions } from '@/db/auth-schema'
import { proveByPassword, proveBySecondStep } from './step-up'
import { takeCode } from './used-codes'

type TotpSetup = {
  /** An `otpauth://totp/…` address to scan. */
  uri: string
  /** The secret in base32, for typing. */
  secret: string
  /** Each code works once, instead of a code of the app. Only this response contains them. */
  backupCodes: string[]
}

/** Prepares a second step, which becomes active when a code is confirmed. */
export async function enableTotp(
  parts: AuthParts,
  visitor: Visitor,
  viewer: Viewer,
  password: string,
): Promise<TotpSetup> {
  const { body } = await confirmed(parts, viewer, () =>
    ask(parts, (library) =>
      library.api.enableTwoFactor({
        body: { password, method: 'totp' },
        headers: headersOf(visitor),
        returnHeaders: true,
      }),
    ),
  )
  if (!('totpURI' in body)) throw new Error('the second factor has no secret')
  const secret = new URL(body.totpURI).searchParams.get('secret') ?? ''
  return { uri: body.totpURI, secret, backupCodes: body.backupCodes }
}

/** Activates the second step with a first code. The person gets a new session; all others end. */
export async function confirmTotp(
  parts: AuthParts,
  visitor: Visitor,
  viewer: Viewer,
  code: string,
): Promise<Answer<null>> {
  const { cookies } = await confirmed(parts, viewer, async () => {
    // The code is marked as used before it is checked: of two concurrent requests one fails, and no sign-in can use it again.
    await takeCode(parts, viewer.userId, code)
    return ask(parts, (library) =>
      library.api.verifyTOTP({ body: { code }, headers: headersOf(visitor), returnHeaders: true }),
    )
  })
  await parts.database.db
    .delete(sessions)
    .where(and(eq(sessions.userId, viewer.userId), ne(sessions.token, hashSessionToken(sessionTokenIn(cookies)))))
  await record(parts, visitor, viewer, 'user.enable_totp')
  return { body: null, cookies }
}

/** Removes the second step; `code` is from the app or a backup code. A new session replaces the current one. */
export async function disableTotp(
  parts: AuthParts,
  visitor: Visitor,
  viewer: Viewer,
  { password, code }: BothSteps,
): Promise<Answer<null>> {
  const { cookies } = await confirmed(parts, viewer, async () => {
    await proveBothSteps(parts, visitor, viewer, { password, code })
    return ask(parts, (library) =>
      library.api.disableTwoFactor({ body: { password }, headers: headersOf(visitor), returnHeaders: true }),
    )
  })
  await record(parts, visitor, viewer, 'user.disable_totp')
  return { body: null, cookies }
}

/** Makes new backup codes and voids all old ones. */
export async function renewBackupCodes(
  parts: AuthParts,
  visitor: Visitor,
  viewer: Viewer,
  { password, code }: BothSteps,
): Promise<string[]> {
  const { body } = await confirmed(parts, viewer, async () => {
    await proveBothSteps(parts, visitor, viewer, { password, code })
    return ask(parts, (library) =>
      library.api.generateBackupCodes({ body: { password }, headers: headersOf(visitor), returnHeaders: true }),
    )
  })
  await record(parts, visitor, viewer, 'user.renew_backup_codes')
  return body.backupCodes
}

type BothSteps = { password: string; code: string }

/** Checks the password first, so that a wrong one uses up no code. */
async function proveBothSteps(parts: AuthParts, visitor: Visitor, viewer: Viewer, proof: BothSteps): Promise<void> {
  await proveByPassword(parts, viewer, proof.password)
  await proveBySecondStep(parts, visitor, viewer, proof.code)
}

/** Limits attempts, so that a stolen session cannot be used to guess the password. */
async function confirmed<T>(parts: AuthParts, viewer: Viewer, work: () => Promise<T>): Promise<T> {
  await parts.throttle.attempt(confirmationsBy(viewer.userId))
  const result = await inOwnLine(work)
  await parts.throttle.forgive(confirmationsBy(viewer.userId))
  return result
}

/** The token of the session that a response opens: its cookie's value before the signature. */
function sessionTokenIn(cookies: readonly string[]): string {
  const cookie = cookies.find((text) => text.includes('session_token=')) ?? ''
  const value = decodeURIComponent(/session_token=([^;]*)/.exec(cookie)?.[1] ?? '')
  return value.slice(0, value.lastIndexOf('.'))
}
