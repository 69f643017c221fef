/** What each route of the dashboard is about: whose thing it shows or changes, and what it is called with. */
import type { SignedInCustomer } from '@test/usage/customer'
import { nameOf, type Route } from './routes'

/**
 * `subject`: the path names something of one account; to others it does not exist. `own`: what it shows or does is the
 * viewer's own, or their account's, whatever the query says. `public`: needs no session. `administrator`: does not exist for members.
 */
export type Classification =
  | {
      kind: 'subject'
      params: (victim: Victim) => Record<string, string>
      body?: object | ((victim: Victim) => object)
    }
  | { kind: 'own'; body?: object; query?: (victim: Victim) => string }
  | { kind: 'public' }
  | { kind: 'administrator' }

type Ids = Record<
  | 'keyId'
  | 'requestId'
  | 'failedId'
  | 'batchId'
  | 'orderId'
  | 'depositId'
  | 'sessionId'
  | 'userId'
  | 'invitationId'
  | 'managementKeyId',
  string
>
export type Victim = Ids & { customer: SignedInCustomer }

const PUBLIC = { kind: 'public' } as const
const ADMINISTRATOR = { kind: 'administrator' } as const
const own = (body?: object): Classification => ({ kind: 'own', ...(body && { body }) })
const subject = (params: (victim: Victim) => Record<string, string>, body?: object): Classification => {
  return { kind: 'subject', params, ...(body && { body }) }
}
const ofKey = (body?: object) => subject(({ keyId }) => ({ id: keyId }), body)
const ofOrder = (body?: object) => subject(({ orderId }) => ({ orderId }), body)
const ofBatch = (body?: object) => subject(({ batchId }) => ({ id: batchId }), body)
const ofDeposit = (body?: object) => subject(({ depositId }) => ({ orderId: depositId }), body)
const ofBudget = (body?: object) => subject(({ userId }) => ({ scope: 'member', scopeId: userId }), body)
const ofInvitation = subject(({ invitationId }) => ({ invitationId }), {})
const NO_TOKEN = 'x'.repeat(32)
/** Filters that name what another account has. */
const filtered: Classification = {
  kind: 'own',
  query: ({ keyId, customer }) => `?key=${keyId}&account=${customer.accountId}&accountId=${customer.accountId}`,
}

export const CHAT = { model: 'svc/alpha', messages: [{ role: 'user', content: 'hi' }] }
export const PASSWORD = 'a horse on a battery'

/** In the order in which they may run one after another, for the victim too: what destroys comes last. */
export const CLASSIFICATIONS: Readonly<Record<string, Classification>> = {
  'GET /dashboard/api/session/options': PUBLIC,
  'POST /dashboard/api/session/sign-up': PUBLIC,
  'POST /dashboard/api/session/sign-in': PUBLIC,
  'POST /dashboard/api/session/sign-in/totp': PUBLIC,
  'POST /dashboard/api/session/sign-in/backup-code': PUBLIC,
  'POST /dashboard/api/session/email/verify': PUBLIC,
  'POST /dashboard/api/session/email/resend': PUBLIC,
  'POST /dashboard/api/session/password/forgot': PUBLIC,
  'POST /dashboard/api/session/password/reset': PUBLIC,
  'POST /dashboard/api/session/sign-out': PUBLIC,
  'POST /dashboard/api/alert-addresses/show': PUBLIC,
  'POST /dashboard/api/alert-addresses/confirm': PUBLIC,
  'POST /dashboard/api/leaked-keys/report': PUBLIC,
  'POST /dashboard/api/leaked-keys/switch-off': PUBLIC,
  'POST /dashboard/api/session/address/confirm': PUBLIC,
  'POST /dashboard/api/session/address/undo': PUBLIC,
  'GET /dashboard/api/session/address': own(),
  'POST /dashboard/api/session/address': own({ email: 'eve@example.test', password: PASSWORD }),
  'POST /dashboard/api/session/address/resend': own({}),
  'DELETE /dashboard/api/session/address': own(),
  'GET /dashboard/api/session/me': own(),
  'PATCH /dashboard/api/session/me': own({ name: 'Eve' }),
  'GET /dashboard/api/session/sessions': own(),
  'DELETE /dashboard/api/session/sessions': own(),
  'POST /dashboard/api/session/step-up': own({ password: PASSWORD }),
  'POST /dashboard/api/session/totp/enable': own({ password: PASSWORD }),
  'POST /dashboard/api/session/totp/confirm': own({ code: '000000' }),
  'POST /dashboard/api/session/totp/disable': own({ password: PASSWORD, code: '000000' }),
  'POST /dashboard/api/session/totp/backup-codes': own({ password: PASSWORD, code: '000000' }),
  'POST /dashboard/api/session/password/change': own({
    currentPassword: PASSWORD,
    newPassword: 'another horse entirely',
  }),
  'GET /dashboard/api/models': own(),
  'GET /dashboard/api/a/:accountId/overview': filtered,
  'GET /dashboard/api/a/:accountId/events': own(),
  'GET /dashboard/api/a/:accountId/usage': filtered,
  'GET /dashboard/api/a/:accountId/usage/totals': filtered,
  'GET /dashboard/api/a/:accountId/usage/series': filtered,
  'GET /dashboard/api/a/:accountId/usage/choices': filtered,
  'GET /dashboard/api/a/:accountId/usage/export': filtered,
  'POST /dashboard/api/a/:accountId/playground/chat': own(CHAT),
  'GET /dashboard/api/a/:accountId/keys': filtered,
  'POST /dashboard/api/a/:accountId/keys': own({ name: 'mine' }),
  'GET /dashboard/api/a/:accountId/stored-responses': filtered,
  'GET /dashboard/api/a/:accountId/allowed-addresses': filtered,
  'PUT /dashboard/api/a/:accountId/allowed-addresses': own({ allowedAddresses: null }),
  'PUT /dashboard/api/a/:accountId/stored-responses': own({ hours: 24 }),
  'GET /dashboard/api/a/:accountId/orders': filtered,
  'GET /dashboard/api/a/:accountId/orders/options': own(),
  'GET /dashboard/api/a/:accountId/auto-top-up': own(),
  'PUT /dashboard/api/a/:accountId/auto-top-up': own({ belowUsd: '10', amountUsd: '50', perDayUsd: '100' }),
  'POST /dashboard/api/a/:accountId/auto-top-up/off': own({}),
  'POST /dashboard/api/a/:accountId/auto-top-up/card': own({}),
  'POST /dashboard/api/a/:accountId/auto-top-up/card/look': own({}),
  'DELETE /dashboard/api/a/:accountId/auto-top-up/card': own(),
  'POST /dashboard/api/a/:accountId/orders': own({ method: 'bank_transfer', amountUsd: '25' }),
  'GET /dashboard/api/a/:accountId/usage/requests/:requestId': subject(({ requestId }) => ({ requestId })),
  'GET /dashboard/api/a/:accountId/failures': filtered,
  'GET /dashboard/api/a/:accountId/statement': filtered,
  'GET /dashboard/api/a/:accountId/statement/csv': filtered,
  'GET /dashboard/api/a/:accountId/failures/:requestId': subject(({ failedId }) => ({ requestId: failedId })),
  'GET /dashboard/api/a/:accountId/batches': own(),
  'GET /dashboard/api/a/:accountId/batches/:id': ofBatch(),
  'GET /dashboard/api/a/:accountId/batches/:id/output': ofBatch(),
  'GET /dashboard/api/a/:accountId/batches/:id/errors': ofBatch(),
  'POST /dashboard/api/a/:accountId/batches/:id/cancel': ofBatch({}),
  'GET /dashboard/api/a/:accountId/keys/:id': ofKey(),
  'PATCH /dashboard/api/a/:accountId/keys/:id': ofKey({ name: 'taken over' }),
  'POST /dashboard/api/a/:accountId/keys/:id/deactivate': ofKey({}),
  'POST /dashboard/api/a/:accountId/keys/:id/rotate': ofKey({}),
  'POST /dashboard/api/a/:accountId/keys/:id/activate': ofKey({}),
  'POST /dashboard/api/a/:accountId/keys/:id/transfer': {
    ...{ kind: 'subject', params: ({ keyId }) => ({ id: keyId }) },
    body: ({ userId }: Victim) => ({ userId }),
  },
  'DELETE /dashboard/api/a/:accountId/keys/:id': ofKey(),
  'GET /dashboard/api/a/:accountId/alerts': filtered,
  'PATCH /dashboard/api/a/:accountId/alerts': own({ firstUsd: '12' }),
  'POST /dashboard/api/a/:accountId/alerts/addresses': own({ email: 'mallory@example.test' }),
  'POST /dashboard/api/a/:accountId/alerts/addresses/ask-again': own({ email: 'mallory@example.test' }),
  'POST /dashboard/api/a/:accountId/alerts/addresses/remove': own({ email: 'mallory@example.test' }),
  'PUT /dashboard/api/a/:accountId/alerts/own': own({ kind: 'budget', isWanted: true }),
  'GET /dashboard/api/a/:accountId/budgets': filtered,
  'GET /dashboard/api/a/:accountId/budgets/:scope/:scopeId': ofBudget(),
  'PUT /dashboard/api/a/:accountId/budgets/:scope/:scopeId': ofBudget({ dayUsd: '1000000' }),
  'POST /dashboard/api/a/:accountId/budgets/:scope/:scopeId/grant': ofBudget({ window: 'day', usd: '1' }),
  'GET /dashboard/api/a/:accountId/members': filtered,
  'POST /dashboard/api/a/:accountId/organisation': own({ name: 'Eve Ltd', country: 'GB' }),
  'PUT /dashboard/api/a/:accountId/organisation': own({ name: 'Eve Ltd', country: 'GB' }),
  'GET /dashboard/api/a/:accountId/invitations': filtered,
  'POST /dashboard/api/a/:accountId/invitations': own({ email: 'mallory@example.test', role: 'viewer' }),
  'POST /dashboard/api/a/:accountId/invitations/:invitationId/resend': ofInvitation,
  'POST /dashboard/api/a/:accountId/invitations/:invitationId/revoke': ofInvitation,
  'POST /dashboard/api/invitations/show': own({ token: NO_TOKEN }),
  'POST /dashboard/api/invitations/accept': own({ token: NO_TOKEN }),
  'POST /dashboard/api/invitations/decline': own({ token: NO_TOKEN }),
  'GET /dashboard/api/a/:accountId/key-policy': filtered,
  'PUT /dashboard/api/a/:accountId/key-policy': own({ maxKeyAgeDays: null }),
  'GET /dashboard/api/a/:accountId/member-policy': filtered,
  'PUT /dashboard/api/a/:accountId/member-policy': own({ developersSeeAllUsage: false }),
  'GET /dashboard/api/a/:accountId/transfers/options': filtered,
  'POST /dashboard/api/a/:accountId/transfers': own({ toAccountId: 'acct_none', amountUsd: '0', key: 'k' }),
  'GET /dashboard/api/a/:accountId/audit': filtered,
  'GET /dashboard/api/a/:accountId/management-keys': filtered,
  'POST /dashboard/api/a/:accountId/management-keys': own({ name: 'mine', scopes: [] }),
  'DELETE /dashboard/api/a/:accountId/management-keys/:id': subject(({ managementKeyId }) => ({ id: managementKeyId })),
  'GET /dashboard/api/a/:accountId/members/:userId': subject(({ userId }) => ({ userId })),
  'GET /dashboard/api/a/:accountId/members/:userId/credentials': subject(({ userId }) => ({ userId })),
  'GET /dashboard/api/a/:accountId/members/:userId/key-policy': subject(({ userId }) => ({ userId })),
  'PUT /dashboard/api/a/:accountId/members/:userId/key-policy': subject(({ userId }) => ({ userId }), {
    allowedModels: ['svc/alpha'],
  }),
  'PATCH /dashboard/api/a/:accountId/members/:userId': subject(({ userId }) => ({ userId }), { role: 'viewer' }),
  'DELETE /dashboard/api/a/:accountId/members/:userId': subject(({ userId }) => ({ userId })),
  'GET /dashboard/api/a/:accountId/orders/:orderId': ofOrder(),
  'POST /dashboard/api/a/:accountId/orders/:orderId/claim-paid': ofOrder({ note: 'paid' }),
  'POST /dashboard/api/a/:accountId/orders/:orderId/cancel': ofOrder({}),
  'POST /dashboard/api/a/:accountId/orders/:orderId/set-up': ofDeposit({}),
  'GET /dashboard/api/a/:accountId/orders/:orderId/document': ofDeposit(),
  'DELETE /dashboard/api/session/sessions/:sessionId': subject(({ sessionId }) => ({ sessionId })),
}

/** What the route is about; undefined if nobody has said. */
export function classificationOf(route: Route): Classification | undefined {
  // Each of these is called in admin.test.ts.
  if (route.path.startsWith('/dashboard/api/admin/')) return ADMINISTRATOR
  return CLASSIFICATIONS[nameOf(route)]
}
