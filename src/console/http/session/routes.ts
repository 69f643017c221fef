/** Routes for signing up, in and out, and for the person's profile. */

import { Elysia } from 'elysia'
import { PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS } from '@/accounts/passwords'
import type { AuthParts } from '@/console/auth/parts'
import { readProfile } from '@/console/auth/profile'
import { finishSignIn, signIn, signOut } from '@/console/auth/sign-in'
import { resendVerification, signUp, verifyEmail } from '@/console/auth/sign-up'
import { guarded } from '@/console/http/guard'
import { exactly } from '@/console/http/wire'
import { addressRoutes } from './address-routes'
import { DONE_BODY, SESSION_PREFIX, type SessionDeps, visitorOf, withCookies } from './context'
import { passwordRoutes } from './password-routes'
import {
  BackupCode,
  Done,
  Email,
  Me,
  NewPassword,
  Password,
  PersonName,
  SignedIn,
  SignedUp,
  SignInOptions,
  Token,
  TotpCode,
} from './schemas'
import { settingsRoutes } from './settings-routes'

export function sessionRoutes(deps: SessionDeps) {
  return new Elysia({ name: 'session-routes' })
    .use(accessRoutes(deps))
    .use(verificationRoutes(deps))
    .use(passwordRoutes(deps))
    .use(settingsRoutes(deps))
    .use(addressRoutes(deps))
}

function accessRoutes(deps: SessionDeps) {
  const { parts } = deps.auth
  return guarded(deps, 'session-access-routes', SESSION_PREFIX)
    .get('/options', () => signInOptions(parts), {
      sameOrigin: true,
      response: SignInOptions,
      detail: {
        summary: 'What signing in offers here',
        description: 'Whether sign-up is open, whether mail is sent, and how long passwords are. Needs no session.',
      },
    })
    .get('/me', ({ viewer }) => readProfile(parts, viewer), {
      signedIn: true,
      response: Me,
      detail: {
        summary: 'Who is signed in',
        description: 'The person behind the session, and the accounts that they are a member of.',
      },
    })
    .post(
      '/sign-up',
      async ({ request, body, set }) => withCookies(set, await signUp(parts, visitorOf(deps, request), body)),
      {
        sameOrigin: true,
        body: exactly({ name: PersonName, email: Email, password: NewPassword }),
        response: SignedUp,
        detail: {
          summary: 'Create an account',
          description:
            'Creates a person and an empty account. Where mail is configured the address has to be confirmed first, and the ' +
            'answer is the same for an address that is in use. 403 `sign_up_closed` where sign-up is closed.',
        },
      },
    )
    .post(
      '/sign-in',
      async ({ request, body, set }) => withCookies(set, await signIn(parts, visitorOf(deps, request), body)),
      {
        sameOrigin: true,
        body: exactly({ email: Email, password: Password }),
        response: SignedIn,
        detail: {
          summary: 'Sign in',
          description:
            'By e-mail address and password. Sets the cookie of a new session, or asks for a code. 401 `wrong_credentials` ' +
            'whether the address or the password is wrong; 429 `too_many_attempts` with `retry-after`.',
        },
      },
    )
    .post(
      '/sign-out',
      async ({ request, set }) => {
        withCookies(set, await signOut(parts, visitorOf(deps, request)))
        return DONE_BODY
      },
      {
        sameOrigin: true,
        body: exactly({}),
        response: Done,
        detail: { summary: 'Sign out', description: 'Ends the session on the server, and takes its cookie away.' },
      },
    )
}

function verificationRoutes(deps: SessionDeps) {
  const { parts } = deps.auth
  return guarded(deps, 'session-verification-routes', SESSION_PREFIX)
    .post(
      '/sign-in/totp',
      async ({ request, body: { code }, set }) =>
        withCookies(set, await finishSignIn(parts, visitorOf(deps, request), { kind: 'totp', code })),
      {
        sameOrigin: true,
        body: exactly({ code: TotpCode }),
        response: SignedIn,
        detail: {
          summary: 'Finish signing in with a code',
          description: 'Within ten minutes and five attempts of the first step; after that 401 `sign_in_again`.',
        },
      },
    )
    .post(
      '/sign-in/backup-code',
      async ({ request, body: { code }, set }) =>
        withCookies(set, await finishSignIn(parts, visitorOf(deps, request), { kind: 'backup', code })),
      {
        sameOrigin: true,
        body: exactly({ code: BackupCode }),
        response: SignedIn,
        detail: { summary: 'Finish signing in with a backup code', description: 'The code is used up.' },
      },
    )
    .post(
      '/email/verify',
      async ({ request, body, set }) => withCookies(set, await verifyEmail(parts, visitorOf(deps, request), body)),
      {
        sameOrigin: true,
        body: exactly({ token: Token, password: Password }),
        response: SignedIn,
        detail: {
          summary: 'Confirm an e-mail address',
          description:
            'With the token of the mail and the password chosen at sign-up: so nobody can make a stranger confirm an account ' +
            'that is not theirs. Signs in.',
        },
      },
    )
    .post(
      '/email/resend',
      async ({ request, body }) => {
        await resendVerification(parts, visitorOf(deps, request), body.email)
        return DONE_BODY
      },
      {
        sameOrigin: true,
        body: exactly({ email: Email }),
        response: Done,
        detail: {
          summary: 'Send the confirmation again',
          description: 'Answers alike whether the address is known or not.',
        },
      },
    )
}

/** The sign-in options, for pages without a session. */
function signInOptions({ settings, mails, requiresVerification }: AuthParts) {
  return {
    signUp: settings.signUp,
    isMailConfigured: requiresVerification,
    isPasswordResetPossible: mails !== undefined,
    passwordMinChars: PASSWORD_MIN_CHARS,
    passwordMaxChars: PASSWORD_MAX_CHARS,
  }
}
