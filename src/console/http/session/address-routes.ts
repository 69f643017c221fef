/** Routes for changing the sign-in address: requested in the settings, confirmed and undone with mailed links. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import {
  askAgain,
  askForAddress,
  cancelChange,
  type PendingAddress as Pending,
  readPending,
} from '@/console/auth/address/ask'
import { confirmAddress } from '@/console/auth/address/confirm'
import { undoAddress } from '@/console/auth/address/undo'
import { guarded } from '@/console/http/guard'
import { exactly } from '@/console/http/wire'
import { DONE_BODY, SESSION_PREFIX, type SessionDeps, visitorOf, withCookies } from './context'
import { Done, NewAddress, Password, PendingAddress, Token } from './schemas'

export function addressRoutes(deps: SessionDeps) {
  return new Elysia({ name: 'session-address-routes' }).use(askRoutes(deps)).use(linkRoutes(deps))
}

const PREFIX = `${SESSION_PREFIX}/address`

function askRoutes(deps: SessionDeps) {
  const { parts } = deps.auth
  return guarded(deps, 'session-address-ask-routes', PREFIX)
    .get(
      '/',
      async ({ viewer }) => {
        const pending = await readPending(parts, viewer)
        return { pending: pending ? onWire(pending) : null }
      },
      {
        signedIn: true,
        response: Type.Object({ pending: Type.Union([PendingAddress, Type.Null()]) }),
        detail: { summary: 'Which new address waits', description: 'null if no address waits for its confirmation.' },
      },
    )
    .post(
      '/',
      async ({ request, body, viewer }) => onWire(await askForAddress(parts, visitorOf(deps, request), viewer, body)),
      {
        signedIn: true,
        body: NewAddress,
        response: PendingAddress,
        detail: {
          summary: 'Ask for another address',
          description:
            'Mails a link to the new address; until it is used nothing changes. `code` where signing in asks for one. Answers alike ' +
            'whether or not the address is somebody else’s, who is mailed so. Five mails an hour for a person, and for an address.',
        },
      },
    )
    .post('/resend', async ({ request, viewer }) => onWire(await askAgain(parts, visitorOf(deps, request), viewer)), {
      signedIn: true,
      body: exactly({}),
      response: PendingAddress,
      detail: {
        summary: 'Send the link again',
        description: 'The one before is void. 409 `none_pending` where no address waits.',
      },
    })
    .delete(
      '/',
      async ({ viewer }) => {
        await cancelChange(parts, viewer)
        return DONE_BODY
      },
      {
        signedIn: true,
        response: Done,
        detail: { summary: 'Cancel the change of address', description: 'Voids the link that was mailed.' },
      },
    )
}

function linkRoutes(deps: SessionDeps) {
  const { parts } = deps.auth
  return guarded(deps, 'session-address-link-routes', PREFIX)
    .post(
      '/confirm',
      async ({ request, body, set }) => {
        withCookies(set, await confirmAddress(parts, visitorOf(deps, request), body))
        return DONE_BODY
      },
      {
        sameOrigin: true,
        body: exactly({ token: Token, password: Password }),
        response: Done,
        detail: {
          summary: 'Confirm the new address',
          description:
            'With the token of the mail and the password. Ends all sessions but that of this browser, and mails the former address a link ' +
            'that undoes it for seven days. 409 `email_taken` where somebody else was first.',
        },
      },
    )
    .post(
      '/undo',
      async ({ request, body }) => ({ resetToken: await undoAddress(parts, visitorOf(deps, request), body.token) }),
      {
        sameOrigin: true,
        body: exactly({ token: Token }),
        response: Type.Object({
          resetToken: Type.String({ description: 'For `…/session/password/reset`, one hour.' }),
        }),
        detail: {
          summary: 'Put the former address back',
          description: 'With the token of the mail to it, once. All sessions and the password end.',
        },
      },
    )
}

function onWire({ email, expiresAt }: Pending) {
  return { email, expiresAt: expiresAt.toISOString() }
}
