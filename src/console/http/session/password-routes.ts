/** Routes of passwords: changed with the old one, reset with a mailed link. */
import { changePassword, forgotPassword, resetPassword } from '@/console/auth/password-reset'
import { guarded } from '@/console/http/guard'
import { exactly } from '@/console/http/wire'
import { DONE_BODY, SESSION_PREFIX, type SessionDeps, visitorOf, withCookies } from './context'
import { Done, Email, NewPassword, Password, Token } from './schemas'

export function passwordRoutes(deps: SessionDeps) {
  const { parts } = deps.auth
  return guarded(deps, 'session-password-routes', `${SESSION_PREFIX}/password`)
    .post(
      '/change',
      async ({ request, body, viewer, set }) => {
        withCookies(set, await changePassword(parts, visitorOf(deps, request), viewer, body))
        return DONE_BODY
      },
      {
        signedIn: true,
        body: exactly({ currentPassword: Password, newPassword: NewPassword }),
        response: Done,
        detail: {
          summary: 'Change the password',
          description: 'Ends every session of the person; this browser gets a new one.',
        },
      },
    )
    .post(
      '/forgot',
      async ({ request, body }) => {
        await forgotPassword(parts, visitorOf(deps, request), body.email)
        return DONE_BODY
      },
      {
        sameOrigin: true,
        body: exactly({ email: Email }),
        response: Done,
        detail: {
          summary: 'Ask for a new password',
          description:
            'Mails a link that works once, for one hour. Answers alike whether the address is known or not. ' +
            '403 `mail_not_configured` where no mail can be sent.',
        },
      },
    )
    .post(
      '/reset',
      async ({ request, body }) => {
        await resetPassword(parts, visitorOf(deps, request), body)
        return DONE_BODY
      },
      {
        sameOrigin: true,
        body: exactly({ token: Token, newPassword: NewPassword }),
        response: Done,
        detail: {
          summary: 'Choose a new password',
          description: 'With the token of the mail. Ends every session of the person.',
        },
      },
    )
}
