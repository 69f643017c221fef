/** The operations of visitors without a session: signing up, in and out, and using mailed links. */
import { Type } from '@sinclair/typebox'
import { PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS } from '@/accounts/passwords'
import { confirmAddress } from '@/console/auth/address/confirm'
import { undoAddress } from '@/console/auth/address/undo'
import { forgotPassword, resetPassword } from '@/console/auth/password-reset'
import { finishSignIn, signIn, signOut } from '@/console/auth/sign-in'
import { resendVerification, signUp, verifyEmail } from '@/console/auth/sign-up'
import { exactly } from '@/console/http/wire'
import { visitorsOver } from '@/people/operation'
import * as schemas from './schemas'
import { DONE_BODY, doneWithCookies, type SessionDeps, visitorOf, withCookies } from './visitor'

const { BackupCode, Done, Email, NewPassword, Password, PersonName, SignedIn, Token, TotpCode } = schemas

const operation = visitorsOver<SessionDeps>()

const options = operation('sign_in.options', 'GET /session/options', {
  summary: 'What signing in offers here',
  description: 'Whether sign-up is open, whether mail is sent, and how long passwords are. Needs no session.',
  gives: schemas.SignInOptions,
  async run({ deps }) {
    const { settings, mails, requiresVerification } = deps.auth.parts
    return {
      signUp: settings.signUp,
      isMailConfigured: requiresVerification,
      isPasswordResetPossible: mails !== undefined,
      passwordMinChars: PASSWORD_MIN_CHARS,
      passwordMaxChars: PASSWORD_MAX_CHARS,
    }
  },
})

const register = operation('sign_up', 'POST /session/sign-up', {
  summary: 'Create an account',
  description:
    'Creates a person and an empty account. Where mail is configured the address has to be confirmed first, and the ' +
    'answer is the same for an address that is in use. 403 `sign_up_closed` where sign-up is closed.',
  takes: exactly({ name: PersonName, email: Email, password: NewPassword }),
  gives: schemas.SignedUp,
  run: async ({ deps, request, set }, body) =>
    withCookies(set, await signUp(deps.auth.parts, visitorOf(deps, request), body)),
})

const begin = operation('sign_in', 'POST /session/sign-in', {
  summary: 'Sign in',
  description:
    'By e-mail address and password. Sets the cookie of a new session, or asks for a code. 401 `wrong_credentials` ' +
    'whether the address or the password is wrong; 429 `too_many_attempts` with `retry-after`.',
  takes: exactly({ email: Email, password: Password }),
  gives: SignedIn,
  run: async ({ deps, request, set }, body) =>
    withCookies(set, await signIn(deps.auth.parts, visitorOf(deps, request), body)),
})

const finishWithTotp = operation('sign_in.totp', 'POST /session/sign-in/totp', {
  summary: 'Finish signing in with a code',
  description: 'Within ten minutes and five attempts of the first step; after that 401 `sign_in_again`.',
  takes: exactly({ code: TotpCode }),
  gives: SignedIn,
  run: async ({ deps, request, set }, { code }) =>
    withCookies(set, await finishSignIn(deps.auth.parts, visitorOf(deps, request), { kind: 'totp', code })),
})

const finishWithBackup = operation('sign_in.backup_code', 'POST /session/sign-in/backup-code', {
  summary: 'Finish signing in with a backup code',
  description: 'The code is used up.',
  takes: exactly({ code: BackupCode }),
  gives: SignedIn,
  run: async ({ deps, request, set }, { code }) =>
    withCookies(set, await finishSignIn(deps.auth.parts, visitorOf(deps, request), { kind: 'backup', code })),
})

const leave = operation('sign_out', 'POST /session/sign-out', {
  summary: 'Sign out',
  description: 'Ends the session on the server, and takes its cookie away.',
  gives: Done,
  run: async ({ deps, request, set }) => doneWithCookies(set, await signOut(deps.auth.parts, visitorOf(deps, request))),
})

const verify = operation('email.verify', 'POST /session/email/verify', {
  summary: 'Confirm an e-mail address',
  description:
    'With the token of the mail and the password chosen at sign-up: so nobody can make a stranger confirm an account ' +
    'that is not theirs. Signs in.',
  takes: exactly({ token: Token, password: Password }),
  gives: SignedIn,
  run: async ({ deps, request, set }, body) =>
    withCookies(set, await verifyEmail(deps.auth.parts, visitorOf(deps, request), body)),
})

const resend = operation('email.resend', 'POST /session/email/resend', {
  summary: 'Send the confirmation again',
  description: 'Answers alike whether the address is known or not.',
  takes: exactly({ email: Email }),
  gives: Done,
  async run({ deps, request }, { email }) {
    await resendVerification(deps.auth.parts, visitorOf(deps, request), email)
    return DONE_BODY
  },
})

const forgot = operation('password.forgot', 'POST /session/password/forgot', {
  summary: 'Ask for a new password',
  description:
    'Mails a link that works once, for one hour. Answers alike whether the address is known or not. ' +
    '403 `mail_not_configured` where no mail can be sent.',
  takes: exactly({ email: Email }),
  gives: Done,
  async run({ deps, request }, { email }) {
    await forgotPassword(deps.auth.parts, visitorOf(deps, request), email)
    return DONE_BODY
  },
})

const reset = operation('password.reset', 'POST /session/password/reset', {
  summary: 'Choose a new password',
  description: 'With the token of the mail. Ends every session of the person.',
  takes: exactly({ token: Token, newPassword: NewPassword }),
  gives: Done,
  async run({ deps, request }, body) {
    await resetPassword(deps.auth.parts, visitorOf(deps, request), body)
    return DONE_BODY
  },
})

const confirmNewAddress = operation('address.confirm', 'POST /session/address/confirm', {
  summary: 'Confirm the new address',
  description:
    'With the token of the mail and the password. Ends all sessions but that of this browser, and mails the former address a link ' +
    'that undoes it for seven days. 409 `email_taken` where somebody else was first.',
  takes: exactly({ token: Token, password: Password }),
  gives: Done,
  run: async ({ deps, request, set }, body) =>
    doneWithCookies(set, await confirmAddress(deps.auth.parts, visitorOf(deps, request), body)),
})

const undoNewAddress = operation('address.undo', 'POST /session/address/undo', {
  summary: 'Put the former address back',
  description: 'With the token of the mail to it, once. All sessions and the password end.',
  takes: exactly({ token: Token }),
  gives: Type.Object({ resetToken: Type.String({ description: 'For `…/session/password/reset`, one hour.' }) }),
  run: async ({ deps, request }, { token }) => ({
    resetToken: await undoAddress(deps.auth.parts, visitorOf(deps, request), token),
  }),
})

export const SIGN_IN_OPERATIONS = [
  ...[options, register, begin, finishWithTotp, finishWithBackup, leave],
  ...[verify, resend, forgot, reset, confirmNewAddress, undoNewAddress],
] as const
