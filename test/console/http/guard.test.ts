/** What stands before every dashboard route: the sending page, the session, the limit of a body, and request keys. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { openRaw, rawRequest } from '@test/support/raw-connection'
import { until } from '@test/support/until'
import { dashboardRoutesOf, fillPath, nameOf, type Route } from './routes'

const ANNOUNCED_BYTES = 17_000_000

let gateway: TestGateway
let admin: Person
let routes: Route[]

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
  admin = await signUpPerson(gateway, { role: 'admin' })
  routes = dashboardRoutesOf(gateway).filter(({ method }) => method !== 'GET')
})
afterAll(() => gateway.stop())

/** The status that is answered to the first byte of a body of 17 MB, whose rest never comes. */
async function statusOfAnnounced(route: Route, headers: Record<string, string>): Promise<number> {
  const line = `${route.method} ${fillPath(route.path, { accountId: admin.viewer.accountId })}`
  const length = { 'content-type': 'application/json', 'content-length': String(ANNOUNCED_BYTES) }
  const connection = openRaw(gateway.url, rawRequest(line, { ...length, ...headers }, '{'))
  const status = await until(
    () => /^HTTP\/1\.1 (\d+)/.exec(connection.received())?.[1],
    `an answer to ${nameOf(route)}`,
  )
  connection.end()
  return Number(status)
}

const host = () => new URL(gateway.url).host

describe('large bodies', () => {
  test('S17: every changing route refuses a request from another site, and does not read its body of 17 MB', async () => {
    expect(routes.length).toBeGreaterThan(30)
    for (const route of routes) {
      const status = await statusOfAnnounced(route, {
        host: host(),
        origin: 'https://evil.example',
        cookie: admin.cookie,
      })
      expect([nameOf(route), status]).toEqual([nameOf(route), 403])
    }
  })

  test('without a session a body of 17 MB is not read, and public forms read 16 KiB at most', async () => {
    for (const route of routes) {
      const status = await statusOfAnnounced(route, { host: host(), origin: gateway.url })
      expect([401, 413]).toContain(status)
      if (status === 413) expect(route.path).toMatch(/^\/dashboard\/api\/(session|leaked-keys|alert-addresses)\//)
    }
  })

  test('with a session a body of 17 MB is only read by the playground, and as a bank statement', async () => {
    for (const route of routes.filter(({ path }) => !/\/(playground\/|statements\/preview$)/.test(path))) {
      const status = await statusOfAnnounced(route, { host: host(), origin: gateway.url, cookie: admin.cookie })
      expect([nameOf(route), status]).toEqual([nameOf(route), 413])
    }
  })
})

test('a route reads bodies up to its own limit: a bank statement, a key with many models', async () => {
  const statement = { text: 'x'.repeat(1_999_999), dateOrder: 'detect' }
  const preview = await admin.json('POST', '/dashboard/api/admin/statements/preview', statement)
  expect(preview.status).toBe(400)
  const allowedModels = Array.from({ length: 500 }, (_, index) => `${'m'.repeat(190)}${index}`)
  const allowedProviders = Array.from({ length: 100 }, (_, index) => `${'p'.repeat(90)}${index}`)
  const key = await admin.json('POST', '/dashboard/api/a/:accountId/keys', {
    name: 'wide',
    allowedModels,
    allowedProviders,
  })
  expect([key.status, JSON.stringify(key.body)]).not.toContain(413)
  const form = await admin.json('PATCH', '/dashboard/api/session/me', { name: 'x'.repeat(20_000) })
  expect(form.status).toBe(413)
})

test('an error has the dashboard’s form, whatever headers of other formats the request has', async () => {
  const headers = { 'anthropic-version': '2023-06-01', 'x-goog-api-key': 'key' }
  const response = await fetch(`${gateway.url}/dashboard/api/a/:accountId/keys`, { headers })
  expect(response.status).toBe(401)
  expect(await response.json()).toEqual({ error: expect.objectContaining({ code: 'not_signed_in', param: null }) })
})

test('body fields such as __proto__ are refused, with their name in the error', async () => {
  const body = JSON.stringify({ email: { toString: {} } })
  const response = await fetch(`${gateway.url}/dashboard/api/session/password/forgot`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.url },
    body,
  })
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({ error: expect.objectContaining({ param: 'toString' }) })
})

describe('a flood of changes', () => {
  const PER_MINUTE = 120

  test('changes above a person’s limit are refused without an audit entry; other people’s changes are not', async () => {
    const [ada, eve] = [await signUpPerson(gateway), await signUpPerson(gateway)]
    const { body } = await ada.json('POST', '/dashboard/api/a/:accountId/keys', { name: 'first' })
    const { id } = (body as { item: { id: string } }).item
    const renames = Array.from({ length: PER_MINUTE + 20 }, (_, index) =>
      ada.json('PATCH', `/dashboard/api/a/:accountId/keys/${id}`, { name: `name ${index}` }),
    )
    const refused = (await Promise.all(renames)).filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThanOrEqual(21)
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 429, body: { error: { code: 'too_many_attempts' } } })
    }
    const rows = await gateway.gateway.database.sql`SELECT seq FROM audit_entries WHERE actor_id = ${ada.viewer.userId}`
    expect(rows.length).toBeLessThanOrEqual(PER_MINUTE + 1)
    expect((await ada.json('GET', '/dashboard/api/a/:accountId/keys')).status).toBe(200)
    expect((await eve.json('PATCH', '/dashboard/api/session/me', { name: 'Eve' })).status).toBe(200)
  })
})

describe('a request key', () => {
  const OWN_KEYS = '/dashboard/api/a/:accountId/keys'

  /** As a page sends it. */
  async function press(person: Person, path: string, body: unknown, key: string) {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key }
    const response = await person.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await response.text()
    return { status: response.status, replayed: response.headers.get('idempotent-replayed'), text }
  }

  test('a refused change may be repeated with its request key; another change with that key is refused', async () => {
    const ada = await signUpPerson(gateway)
    expect(await press(ada, OWN_KEYS, { name: '' }, 'press-1')).toMatchObject({ status: 400 })
    expect(await press(ada, OWN_KEYS, { name: 'mended' }, 'press-1')).toMatchObject({ status: 200 })
    const other = await press(ada, OWN_KEYS, { name: 'other' }, 'press-1')
    expect([other.status, JSON.parse(other.text).error.code]).toEqual([409, 'idempotency_key_reused'])
  })

  test('a request key only works for the person who used it first', async () => {
    const [ada, eve] = [await signUpPerson(gateway), await signUpPerson(gateway)]
    const first = await press(ada, OWN_KEYS, { name: 'mine' }, 'press-2')
    const theirs = await press(eve, OWN_KEYS, { name: 'mine' }, 'press-2')
    expect(theirs).toMatchObject({ status: 200, replayed: null })
    expect(theirs.text).not.toBe(first.text)
  })

  test('an administrator’s change is made once with one request key', async () => {
    const { accountId } = (await signUpPerson(gateway)).viewer
    const path = `/dashboard/api/admin/accounts/${accountId}/status`
    const suspend = () => press(admin, path, { status: 'suspended', reason: 'for the test' }, 'press-3')
    const first = await suspend()
    expect(first).toMatchObject({ status: 200, replayed: null })
    expect(await suspend()).toEqual({ ...first, replayed: 'true' })
  })
})
