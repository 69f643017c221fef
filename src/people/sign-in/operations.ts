/** The operations of a signed-in person on themselves: profile, sessions, password, address and second step. */
import { Type } from '@sinclair/typebox'
import {
  askAgain,
  askForAddress,
  cancelChange,
  type PendingAddress as Pending,
  readPending,
} from '@/console/auth/address/ask'
import { changePassword } from '@/console/auth/password-reset'
import { readProfile, renameUser } from '@/console/auth/profile'
import { endOtherSessions, endSession, listSessions } from '@/console/auth/sessions'
import { confirmTotp, disableTotp, enableTotp, renewBackupCodes } from '@/console/auth/totp/second-factor'
import { stepUp } from '@/console/auth/totp/step-up'
import { exactly, isoMoments } from '@/console/http/wire'
import { personalOver } from '@/people/operation'
import * as schemas from './schemas'
import { DONE_BODY, doneWithCookies, type SessionDeps, visitorOf } from './visitor'

const { BothSteps, Done, NewAddress, NewPassword, Password, PendingAddress, PersonName, TotpCode, TotpSetup } = schemas

const operation = personalOver<SessionDeps>()

const show = operation('session.show', 'GET /session/me', {
  summary: 'Who is signed in',
  description: 'The person behind the session, and the accounts that they are a member of.',
  gives: schemas.Me,
  run: ({ deps, viewer }) => readProfile(deps.auth.parts, viewer),
})

const rename = operation('session.rename', 'PATCH /session/me', {
  summary: 'Change the own name',
  description: 'The name only: address, role and account stay.',
  takes: exactly({ name: PersonName }),
  gives: Done,
  async run({ deps, viewer }, { name }) {
    await renameUser(deps.auth.parts, viewer, name)
    return DONE_BODY
  },
})

const list = operation('session.list', 'GET /session/sessions', {
  summary: 'List the own sessions',
  description: 'The one used last first, at most 100.',
  gives: schemas.SessionList,
  run: async ({ deps, viewer }) => ({ items: (await listSessions(deps.auth.parts, viewer)).map(isoMoments) }),
})

const end = operation('session.end', 'DELETE /session/sessions/:sessionId', {
  summary: 'End one of the own sessions',
  description: '404 for another person’s session.',
  gives: Done,
  async run({ deps, viewer, params }) {
    await endSession(deps.auth.parts, viewer, params.sessionId)
    return DONE_BODY
  },
})

const endOthers = operation('session.end_others', 'DELETE /session/sessions', {
  summary: 'End all other sessions',
  description: 'The current one stays.',
  gives: Type.Object({ ended: Type.Integer({ minimum: 0 }) }),
  run: async ({ deps, viewer }) => ({ ended: await endOtherSessions(deps.auth.parts, viewer) }),
})

const prove = operation('session.step_up', 'POST /session/step-up', {
  summary: 'Re-authenticate',
  description:
    'With a code of the authenticator app or the password. Required before money is moved: 403 `step_up_required`.',
  takes: Type.Union([exactly({ code: TotpCode }), exactly({ password: Password })]),
  gives: Done,
  async run({ deps, request, viewer }, body) {
    const proof = 'code' in body ? ({ kind: 'code', ...body } as const) : ({ kind: 'password', ...body } as const)
    await stepUp(deps.auth.parts, visitorOf(deps, request), viewer, proof)
    return DONE_BODY
  },
})

const changeOwnPassword = operation('password.change', 'POST /session/password/change', {
  summary: 'Change the password',
  description: 'Ends every session of the person; this browser gets a new one.',
  takes: exactly({ currentPassword: Password, newPassword: NewPassword }),
  gives: Done,
  run: async ({ deps, request, viewer, set }, body) =>
    doneWithCookies(set, await changePassword(deps.auth.parts, visitorOf(deps, request), viewer, body)),
})

const pendingAddress = operation('address.show', 'GET /session/address', {
  summary: 'Which new address waits',
  description: 'null if no address waits for its confirmation.',
  gives: Type.Object({ pending: Type.Union([PendingAddress, Type.Null()]) }),
  async run({ deps, viewer }) {
    const pending = await readPending(deps.auth.parts, viewer)
    return { pending: pending ? onWire(pending) : null }
  },
})

const askAddress = operation('address.ask', 'POST /session/address', {
  summary: 'Ask for another address',
  description:
    'Mails a link to the new address; until it is used nothing changes. `code` where signing in asks for one. Answers alike ' +
    'whether or not the address is somebody else’s, who is mailed so. Five mails an hour for a person, and for an address.',
  takes: NewAddress,
  gives: PendingAddress,
  run: async ({ deps, request, viewer }, body) =>
    onWire(await askForAddress(deps.auth.parts, visitorOf(deps, request), viewer, body)),
})

const resendAddress = operation('address.ask_again', 'POST /session/address/resend', {
  summary: 'Send the link again',
  description: 'The one before is void. 409 `none_pending` where no address waits.',
  gives: PendingAddress,
  run: async ({ deps, request, viewer }) => onWire(await askAgain(deps.auth.parts, visitorOf(deps, request), viewer)),
})

const cancelAddress = operation('address.cancel', 'DELETE /session/address', {
  summary: 'Cancel the change of address',
  description: 'Voids the link that was mailed.',
  gives: Done,
  async run({ deps, viewer }) {
    await cancelChange(deps.auth.parts, viewer)
    return DONE_BODY
  },
})

const prepareTotp = operation('totp.prepare', 'POST /session/totp/enable', {
  summary: 'Prepare an authenticator app',
  description: 'Gives the secret and the backup codes. In force only once `…/totp/confirm` got a code.',
  takes: exactly({ password: Password }),
  gives: TotpSetup,
  run: ({ deps, request, viewer }, { password }) =>
    enableTotp(deps.auth.parts, visitorOf(deps, request), viewer, password),
})

const enforceTotp = operation('totp.confirm', 'POST /session/totp/confirm', {
  summary: 'Put the authenticator app in force',
  description: 'With a first code of the app.',
  takes: exactly({ code: TotpCode }),
  gives: Done,
  run: async ({ deps, request, viewer, set }, { code }) =>
    doneWithCookies(set, await confirmTotp(deps.auth.parts, visitorOf(deps, request), viewer, code)),
})

const removeTotp = operation('totp.disable', 'POST /session/totp/disable', {
  summary: 'Remove the authenticator app',
  description: 'Requires both steps. Signing in then requires the password only; the person gets a mail.',
  takes: BothSteps,
  gives: Done,
  run: async ({ deps, request, viewer, set }, body) =>
    doneWithCookies(set, await disableTotp(deps.auth.parts, visitorOf(deps, request), viewer, body)),
})

const renewCodes = operation('totp.backup_codes', 'POST /session/totp/backup-codes', {
  summary: 'Make new backup codes',
  description: 'Requires both steps. The old codes no longer work; the person gets a mail.',
  takes: BothSteps,
  gives: Type.Pick(TotpSetup, ['backupCodes']),
  run: async ({ deps, request, viewer }, body) => ({
    backupCodes: await renewBackupCodes(deps.auth.parts, visitorOf(deps, request), viewer, body),
  }),
})

export const OWN_OPERATIONS = [
  ...[show, rename, list, end, endOthers, prove, changeOwnPassword],
  ...[pendingAddress, askAddress, resendAddress, cancelAddress],
  ...[prepareTotp, enforceTotp, removeTotp, renewCodes],
] as const

function onWire({ email, expiresAt }: Pending) {
  return { email, expiresAt: expiresAt.toISOString() }
}
