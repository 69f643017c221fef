/**
 * Tenant isolation over the whole route table: every dashboard route is called by another account's person with the
 * first account's ids. A route that is not classified here fails.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { makeManagementKey } from '@test/console/http/management/caller'
import { storeBatch } from '@test/people/batches/stored'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion } from '@test/support/upstream'
import { ask, flushed, type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import { assert } from '@/lib/assert'
import { CHAT, CLASSIFICATIONS, type Classification, classificationOf, PASSWORD, type Victim } from './classifications'
import { dashboardRoutesOf, fillPath, nameOf, type Route } from './routes'
import { signInAgain } from './support'

let gateway: TestGateway
let victim: Victim
let eve: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('ok')) })
  const customer = await signUpCustomer(gateway, '5')
  const requestId = await ask(gateway, customer.key, { stream: false, model: 'svc/alpha' })
  await flushed(gateway, customer.accountId)
  const orderId = await orderCredit(customer, 'bank_transfer')
  const other = await signInAgain(gateway, customer.person)
  const { keyId } = customer
  victim = {
    customer,
    keyId,
    requestId,
    failedId: await fail(customer.key),
    batchId: await storeBatch(gateway, { ...customer, madeBy: customer.person.viewer.userId }),
    orderId,
    depositId: await orderCredit(customer, 'deposit'),
    sessionId: other.viewer.sessionId,
    userId: await addColleague(customer),
    invitationId: await inviteSomebody(customer),
    managementKeyId: (await makeManagementKey(customer.person)).id,
  }
  eve = await signUpPerson(gateway, { name: 'Eve' })
})
afterAll(() => gateway.stop())

async function orderCredit({ person }: SignedInCustomer, method: string): Promise<string> {
  const { body } = await person.json('POST', '/dashboard/api/a/:accountId/orders', { method, amountUsd: '25' })
  return (body as { orderId: string }).orderId
}

/** Another member of the account, which has to be an organisation for that. Returns their id. */
async function addColleague({ person, accountId }: SignedInCustomer): Promise<string> {
  const company = { name: 'Victims Ltd', country: 'GB' }
  const made = await person.json('POST', '/dashboard/api/a/:accountId/organisation', company)
  expect(made.status).toBe(200)
  const { userId } = (await signUpPerson(gateway)).viewer
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${accountId}, ${userId}, 'developer')`
  return userId
}

async function inviteSomebody({ person }: SignedInCustomer): Promise<string> {
  const invited = { email: 'invited@example.test', role: 'viewer' }
  const { status, body } = await person.json('POST', '/dashboard/api/a/:accountId/invitations', invited)
  expect(status).toBe(200)
  return (body as { invitationId: string }).invitationId
}

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

/** The sandbox makes no invoices. stripe.test.ts gets one, and a 404 without one. */
const NOTHING_TO_SHOW: ReadonlySet<string> = new Set(['GET /dashboard/api/a/:accountId/orders/:orderId/document'])

function routesOf(kind: Classification['kind']): Route[] {
  const names = Object.keys(CLASSIFICATIONS)
  return dashboardRoutesOf(gateway)
    .filter((route) => classificationOf(route)?.kind === kind)
    .toSorted((one, other) => names.indexOf(nameOf(one)) - names.indexOf(nameOf(other)))
}

function bodyOf(route: Route): object | undefined {
  const classification = classificationOf(route)
  if (route.method === 'GET' || route.method === 'DELETE') return undefined
  const body = classification && 'body' in classification ? classification.body : {}
  return typeof body === 'function' ? body(victim) : body
}

async function callSubject(person: Person, route: Route): Promise<number> {
  const classification = classificationOf(route)
  assert(classification?.kind === 'subject', 'a route with a subject')
  const path = fillPath(route.path, { accountId: person.viewer.accountId, ...classification.params(victim) })
  return (await person.json(route.method, path, bodyOf(route))).status
}

describe('the table of routes', () => {
  test('S21: each route is classified here, and the table has no other route', () => {
    const routes = dashboardRoutesOf(gateway)
    expect(routes.filter((route) => classificationOf(route) === undefined).map(nameOf)).toEqual([])
    const known = new Set(routes.map(nameOf))
    expect(Object.keys(CLASSIFICATIONS).filter((name) => !known.has(name))).toEqual([])
  })

  test('every path with a parameter has a test value', () => {
    const withParameter = dashboardRoutesOf(gateway).filter(({ path }) =>
      path.replace('/a/:accountId', '').includes(':'),
    )
    const kinds = new Set(withParameter.map((route) => classificationOf(route)?.kind))
    expect([...kinds].sort()).toEqual(['administrator', 'subject'])
  })
})

describe('without a session', () => {
  test('without a session, every route that needs one answers 401 and nothing else', async () => {
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

describe("as another account's person", () => {
  test('S21: for another account’s person, the first account does not exist', async () => {
    for (const route of routesOf('subject')) {
      const status = await callSubject(eve, route)
      expect({ route: nameOf(route), isRefused: status === 404 || status === 403 }).toEqual({
        route: nameOf(route),
        isRefused: true,
      })
    }
  })

  test('no answer to another account’s person contains data of the first account', async () => {
    const { customer, ...ids } = victim
    const secrets = [customer.accountId, customer.person.email, ...Object.values(ids)]
    for (const route of routesOf('own')) {
      const classification = classificationOf(route)
      const query = classification?.kind === 'own' ? (classification.query?.(victim) ?? '') : ''
      const text = await answerText(route, query)
      const found = secrets.filter((secret) => text.includes(secret))
      expect({ route: nameOf(route), found }).toEqual({ route: nameOf(route), found: [] })
    }
  })

  test('the first account sees its own data', async () => {
    const { customer, ...ids } = victim
    const ofAccount = [
      'usage',
      'failures',
      'batches',
      'keys',
      'orders',
      'members',
      'invitations',
      'management-keys',
    ].map((path) => `a/:accountId/${path}`)
    const paths = [...ofAccount, 'session/sessions', 'session/me']
    const seen = await Promise.all(paths.map((path) => customer.person.json('GET', `/dashboard/api/${path}`)))
    const text = JSON.stringify(seen.map(({ body }) => body))
    for (const id of [...Object.values(ids), customer.person.email]) expect(text).toContain(id)
  })

  test('after all attempts by another account, the first account’s people can still use it', async () => {
    for (const route of routesOf('subject')) {
      if (NOTHING_TO_SHOW.has(nameOf(route))) continue
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
