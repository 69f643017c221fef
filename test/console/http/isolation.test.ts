/**
 * Tenant isolation over the route table itself: every route of the dashboard is called as another account's person with the
 * ids of the first, and a route that nobody has classified here fails.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion } from '@test/support/upstream'
import { ask, flushed, type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import { assert } from '@/lib/assert'
import { dashboardRoutesOf, fillPath, nameOf, type Route } from './routes'
import { signInAgain } from './support'

setDefaultTimeout(300_000)

/**
 * `subject`: the path names something of one account; to others it does not exist. `own`: what it shows or does is the
 * viewer's own, or their account's, whatever the query says. `public`: needs no session. `administrator`: does not exist for members.
 */
type Classification =
  | { kind: 'subject'; params: (victim: Victim) => Record<string, string>; body?: object }
  | { kind: 'own'; body?: object; query?: (victim: Victim) => string }
  | { kind: 'public' }
  | { kind: 'administrator' }

type Ids = Record<'keyId' | 'requestId' | 'failedId' | 'orderId' | 'sessionId', string>
type Victim = Ids & { customer: SignedInCustomer }

const PUBLIC = { kind: 'public' } as const
const ADMINISTRATOR = { kind: 'administrator' } as const
const own = (body?: object): Classification => ({ kind: 'own', ...(body && { body }) })
const subject = (params: (victim: Victim) => Record<string, string>, body?: object): Classification => {
  return { kind: 'subject', params, ...(body && { body }) }
}
const ofKey = (body?: object) => subject(({ keyId }) => ({ id: keyId }), body)
const ofOrder = (body?: object) => subject(({ orderId }) => ({ orderId }), body)
/** Filters that name what another account has. */
const filtered: Classification = {
  kind: 'own',
  query: ({ keyId, customer }) => `?key=${keyId}&account=${customer.accountId}&accountId=${customer.accountId}`,
}

const CHAT = { model: 'svc/alpha', messages: [{ role: 'user', content: 'hi' }] }
const PASSWORD = 'a horse on a battery'

/** In the order in which they may run one after another, for the victim too: what destroys comes last. */
const CLASSIFICATIONS: Readonly<Record<string, Classification>> = {
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
  'PUT /dashboard/api/a/:accountId/stored-responses': own({ hours: 24 }),
  'GET /dashboard/api/a/:accountId/orders': filtered,
  'GET /dashboard/api/a/:accountId/orders/options': own(),
  'POST /dashboard/api/a/:accountId/orders': own({ method: 'bank_transfer', amountUsd: '25' }),
  'GET /dashboard/api/a/:accountId/usage/requests/:requestId': subject(({ requestId }) => ({ requestId })),
  'GET /dashboard/api/a/:accountId/failures': filtered,
  'GET /dashboard/api/a/:accountId/statement': filtered,
  'GET /dashboard/api/a/:accountId/statement/csv': filtered,
  'GET /dashboard/api/a/:accountId/failures/:requestId': subject(({ failedId }) => ({ requestId: failedId })),
  'GET /dashboard/api/a/:accountId/keys/:id': ofKey(),
  'PATCH /dashboard/api/a/:accountId/keys/:id': ofKey({ name: 'taken over' }),
  'POST /dashboard/api/a/:accountId/keys/:id/deactivate': ofKey({}),
  'POST /dashboard/api/a/:accountId/keys/:id/activate': ofKey({}),
  'DELETE /dashboard/api/a/:accountId/keys/:id': ofKey(),
  'GET /dashboard/api/a/:accountId/orders/:orderId': ofOrder(),
  'POST /dashboard/api/a/:accountId/orders/:orderId/claim-paid': ofOrder({ note: 'paid' }),
  'POST /dashboard/api/a/:accountId/orders/:orderId/cancel': ofOrder({}),
  'DELETE /dashboard/api/session/sessions/:sessionId': subject(({ sessionId }) => ({ sessionId })),
}

function classificationOf(route: Route): Classification | undefined {
  // Each of these is called in admin.test.ts.
  if (route.path.startsWith('/dashboard/api/admin/')) return ADMINISTRATOR
  return CLASSIFICATIONS[nameOf(route)]
}

let gateway: TestGateway
let victim: Victim
let eve: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('ok')) })
  const customer = await signUpCustomer(gateway, '5')
  const requestId = await ask(gateway, customer.key, { stream: false, model: 'svc/alpha' })
  await flushed(gateway, customer.accountId)
  const order = await customer.person.json('POST', '/dashboard/api/a/:accountId/orders', {
    method: 'bank_transfer',
    amountUsd: '25',
  })
  const { orderId } = order.body as { orderId: string }
  const other = await signInAgain(gateway, customer.person)
  const { keyId } = customer
  victim = {
    customer,
    keyId,
    requestId,
    failedId: await fail(customer.key),
    orderId,
    sessionId: other.viewer.sessionId,
  }
  eve = await signUpPerson(gateway, { name: 'Eve' })
})
afterAll(() => gateway.stop())

/** A request for a model that is not sold. Returns its id once it is in the list. */
async function fail(key: string): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ ...CHAT, model: 'svc/none' }),
  })
  expect(response.status).toBe(404)
  await gateway.gateway.deps.failures.flush()
  return response.headers.get('x-request-id') ?? ''
}

function routesOf(kind: Classification['kind']): Route[] {
  const names = Object.keys(CLASSIFICATIONS)
  return dashboardRoutesOf(gateway)
    .filter((route) => classificationOf(route)?.kind === kind)
    .toSorted((one, other) => names.indexOf(nameOf(one)) - names.indexOf(nameOf(other)))
}

function bodyOf(route: Route): object | undefined {
  const classification = classificationOf(route)
  if (route.method === 'GET' || route.method === 'DELETE') return undefined
  return classification && 'body' in classification ? classification.body : {}
}

async function callSubject(person: Person, route: Route): Promise<number> {
  const classification = classificationOf(route)
  assert(classification?.kind === 'subject', 'a route with a subject')
  const path = fillPath(route.path, { accountId: person.viewer.accountId, ...classification.params(victim) })
  return (await person.json(route.method, path, bodyOf(route))).status
}

describe('the table of routes', () => {
  test('S21: has a classification for every route, and no other', () => {
    const routes = dashboardRoutesOf(gateway)
    expect(routes.filter((route) => classificationOf(route) === undefined).map(nameOf)).toEqual([])
    const known = new Set(routes.map(nameOf))
    expect(Object.keys(CLASSIFICATIONS).filter((name) => !known.has(name))).toEqual([])
  })

  test('names a subject for every path with a parameter', () => {
    const withParameter = dashboardRoutesOf(gateway).filter(({ path }) =>
      path.replace('/a/:accountId', '').includes(':'),
    )
    const kinds = new Set(withParameter.map((route) => classificationOf(route)?.kind))
    expect([...kinds].sort()).toEqual(['administrator', 'subject'])
  })
})

describe('without a session', () => {
  test('every other route answers 401 and says nothing else', async () => {
    const routes = dashboardRoutesOf(gateway).filter((route) => classificationOf(route)?.kind !== 'public')
    const statuses = await Promise.all(
      routes.map(async (route) => {
        const body = bodyOf(route)
        const response = await fetch(gateway.url + fillPath(route.path, {}), {
          method: route.method,
          headers: { origin: gateway.url, ...(body && { 'content-type': 'application/json' }) },
          ...(body && { body: JSON.stringify(body) }),
        })
        await response.body?.cancel()
        return [nameOf(route), response.status]
      }),
    )
    expect(statuses.filter(([, status]) => status !== 401)).toEqual([])
  })
})

describe('from another site', () => {
  test('S17: every route that changes something answers 403', async () => {
    const routes = dashboardRoutesOf(gateway).filter(({ method }) => method !== 'GET')
    const statuses = await Promise.all(
      routes.map(async (route) => {
        const response = await eve.fetch(fillPath(route.path, {}), {
          method: route.method,
          headers: { origin: 'https://evil.example', 'content-type': 'application/json' },
          body: JSON.stringify(bodyOf(route) ?? {}),
        })
        await response.body?.cancel()
        return [nameOf(route), response.status]
      }),
    )
    expect(statuses.filter(([, status]) => status !== 403 && status !== 400)).toEqual([])
    expect(
      statuses.filter(([name, status]) => status === 400 && classificationNamed(String(name)) !== 'public'),
    ).toEqual([])
  })
})

function classificationNamed(name: string): string | undefined {
  return CLASSIFICATIONS[name]?.kind
}

describe("as another account's person", () => {
  test('S21: nothing of the first account exists', async () => {
    for (const route of routesOf('subject')) {
      const status = await callSubject(eve, route)
      expect({ route: nameOf(route), isRefused: status === 404 || status === 403 }).toEqual({
        route: nameOf(route),
        isRefused: true,
      })
    }
  })

  test('no answer holds anything of the first account, whatever is asked for', async () => {
    const { customer, keyId, requestId, failedId, orderId, sessionId } = victim
    const secrets = [customer.accountId, customer.person.email, keyId, requestId, failedId, orderId, sessionId]
    for (const route of routesOf('own')) {
      const classification = classificationOf(route)
      const query = classification?.kind === 'own' ? (classification.query?.(victim) ?? '') : ''
      const text = await answerText(route, query)
      const found = secrets.filter((secret) => text.includes(secret))
      expect({ route: nameOf(route), found }).toEqual({ route: nameOf(route), found: [] })
    }
  })

  test('what the first account sees is what was looked for', async () => {
    const { customer, keyId, requestId, failedId, orderId, sessionId } = victim
    const ofAccount = ['usage', 'failures', 'keys', 'orders'].map((path) => `a/:accountId/${path}`)
    const paths = [...ofAccount, 'session/sessions', 'session/me']
    const seen = await Promise.all(paths.map((path) => customer.person.json('GET', `/dashboard/api/${path}`)))
    const text = JSON.stringify(seen.map(({ body }) => body))
    for (const id of [keyId, requestId, failedId, orderId, sessionId, customer.person.email]) expect(text).toContain(id)
  })

  test('everything of the first account still works for its own people: the refusals were not for lack of it', async () => {
    for (const route of routesOf('subject')) {
      const status = await callSubject(victim.customer.person, route)
      expect({ route: nameOf(route), status }).toEqual({ route: nameOf(route), status: 200 })
    }
  })
})

/** The first part of the answer; streams that never end are left after their first event. */
async function answerText(route: Route, query: string): Promise<string> {
  const body = bodyOf(route)
  // Whoever ends or changes their own session does it with one of their own.
  const person = route.path.includes('/session/') ? await signUpPerson(gateway, { password: PASSWORD }) : eve
  const response = await person.fetch(fillPath(route.path, { accountId: person.viewer.accountId }) + query, {
    method: route.method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  expect(response.status).not.toBe(404)
  const reader = response.body?.getReader()
  let text = ''
  const isEndless = response.headers.get('content-type')?.startsWith('text/event-stream')
  for (;;) {
    const chunk = await reader?.read()
    if (!chunk || chunk.done) return text
    text += new TextDecoder().decode(chunk.value)
    if (isEndless && text.includes('\n\n')) {
      await reader?.cancel()
      return text
    }
  }
}
