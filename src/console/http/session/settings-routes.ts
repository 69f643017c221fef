/** Routes of the settings page: name, second step and sessions of a person. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { renameUser } from '@/console/auth/profile'
import { endOtherSessions, endSession, listSessions } from '@/console/auth/sessions'
import { confirmTotp, disableTotp, enableTotp, renewBackupCodes } from '@/console/auth/totp/second-factor'
import { stepUp } from '@/console/auth/totp/step-up'
import { guarded } from '@/console/http/guard'
import { exactly } from '@/console/http/wire'
import { DONE_BODY, SESSION_PREFIX, type SessionDeps, visitorOf, withCookies } from './context'
import { BothSteps, Done, Password, PersonName, SessionList, TotpCode, TotpSetup } from './schemas'

export function settingsRoutes(deps: SessionDeps) {
  return new Elysia({ name: 'session-settings-routes' })
    .use(stepUpRoutes(deps))
    .use(totpRoutes(deps))
    .use(listRoutes(deps))
}

function stepUpRoutes(deps: SessionDeps) {
  return guarded(deps, 'session-step-up-routes', SESSION_PREFIX).post(
    '/step-up',
    async ({ request, body, viewer }) => {
      const proof = 'code' in body ? ({ kind: 'code', ...body } as const) : ({ kind: 'password', ...body } as const)
      await stepUp(deps.auth.parts, visitorOf(deps, request), viewer, proof)
      return DONE_BODY
    },
    {
      signedIn: true,
      body: Type.Union([exactly({ code: TotpCode }), exactly({ password: Password })]),
      response: Done,
      detail: {
        summary: 'Re-authenticate',
        description:
          'With a code of the authenticator app or the password. Required before money is moved: 403 `step_up_required`.',
      },
    },
  )
}

function totpRoutes(deps: SessionDeps) {
  const { parts } = deps.auth
  return guarded(deps, 'session-totp-routes', `${SESSION_PREFIX}/totp`)
    .post(
      '/enable',
      ({ request, body, viewer }) => enableTotp(parts, visitorOf(deps, request), viewer, body.password),
      {
        signedIn: true,
        body: exactly({ password: Password }),
        response: TotpSetup,
        detail: {
          summary: 'Prepare an authenticator app',
          description: 'Gives the secret and the backup codes. In force only once `…/totp/confirm` got a code.',
        },
      },
    )
    .post(
      '/confirm',
      async ({ request, body, viewer, set }) => {
        withCookies(set, await confirmTotp(parts, visitorOf(deps, request), viewer, body.code))
        return DONE_BODY
      },
      {
        signedIn: true,
        body: exactly({ code: TotpCode }),
        response: Done,
        detail: { summary: 'Put the authenticator app in force', description: 'With a first code of the app.' },
      },
    )
    .post(
      '/disable',
      async ({ request, body, viewer, set }) => {
        withCookies(set, await disableTotp(parts, visitorOf(deps, request), viewer, body))
        return DONE_BODY
      },
      {
        signedIn: true,
        body: BothSteps,
        response: Done,
        detail: {
          summary: 'Remove the authenticator app',
          description: 'Requires both steps. Signing in then requires the password only; the person gets a mail.',
        },
      },
    )
    .post(
      '/backup-codes',
      async ({ request, body, viewer }) => ({
        backupCodes: await renewBackupCodes(parts, visitorOf(deps, request), viewer, body),
      }),
      {
        signedIn: true,
        body: BothSteps,
        response: Type.Pick(TotpSetup, ['backupCodes']),
        detail: {
          summary: 'Make new backup codes',
          description: 'Requires both steps. The old codes no longer work; the person gets a mail.',
        },
      },
    )
}

function listRoutes(deps: SessionDeps) {
  const { parts } = deps.auth
  return guarded(deps, 'session-list-routes', SESSION_PREFIX)
    .patch(
      '/me',
      async ({ body, viewer }) => {
        await renameUser(parts, viewer, body.name)
        return DONE_BODY
      },
      {
        signedIn: true,
        body: exactly({ name: PersonName }),
        response: Done,
        detail: { summary: 'Change the own name', description: 'The name only: address, role and account stay.' },
      },
    )
    .get('/sessions', async ({ viewer }) => ({ items: (await listSessions(parts, viewer)).map(onWire) }), {
      signedIn: true,
      response: SessionList,
      detail: { summary: 'List the own sessions', description: 'The one used last first, at most 100.' },
    })
    .delete(
      '/sessions/:sessionId',
      async ({ params, viewer }) => {
        await endSession(parts, viewer, params.sessionId)
        return DONE_BODY
      },
      {
        signedIn: true,
        params: Type.Object({ sessionId: Type.String({ minLength: 1, maxLength: 64 }) }),
        response: Done,
        detail: { summary: 'End one of the own sessions', description: '404 for another person’s session.' },
      },
    )
    .delete('/sessions', async ({ viewer }) => ({ ended: await endOtherSessions(parts, viewer) }), {
      signedIn: true,
      response: Type.Object({ ended: Type.Integer({ minimum: 0 }) }),
      detail: { summary: 'End all other sessions', description: 'The current one stays.' },
    })
}

function onWire(session: Awaited<ReturnType<typeof listSessions>>[number]) {
  return { ...session, createdAt: session.createdAt.toISOString(), lastUsedAt: session.lastUsedAt.toISOString() }
}
