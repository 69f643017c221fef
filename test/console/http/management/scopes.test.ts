/** What a management key cannot do: every route, called by a key of each scope and by a key without scopes. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { fillPath } from '@test/console/http/routes'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'
import { chatCompletion } from '@test/support/upstream'
import { holds, SCOPES, type Scope } from '@/accounts/management/scopes'
import { MANAGED_OPERATIONS as OPERATIONS } from '@/people/all-operations'
import { BEHIND_A_PROXY, makeManagementKey, send } from './caller'

type Caller = { scopes: readonly Scope[]; key: string }

let gateway: TestGateway
let callers: Caller[]

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('ok')),
    environment: BEHIND_A_PROXY,
  })
  const person = await signUpPerson(gateway)
  const sets: Scope[][] = [[], ...SCOPES.map((scope) => [scope])]
  callers = await Promise.all(
    sets.map(async (scopes) => ({ scopes, key: (await makeManagementKey(person, scopes)).key })),
  )
})
afterAll(() => gateway.stop())

const OWN: Readonly<Record<string, Scope | null>> = {
  ...Object.fromEntries(OPERATIONS.map(({ method, path, scope }) => [`${method} /v1${path}`, scope])),
  'GET /v1/usage/report': 'usage:read',
  'GET /v1/generation': 'usage:read',
  'GET /v1/credits': 'billing:read',
  'GET /v1/account': null,
}

function routesOf(): { method: string; path: string }[] {
  const found = gateway.gateway.app.routes
    .filter(({ path }) => !path.endsWith('/events') && !path.endsWith('/events/'))
    .map(({ method, path }) => ({ method: method === 'ALL' ? 'POST' : method, path: path.replace(/(?<=.)\/$/, '') }))
  return found.filter(({ method }) => method !== 'OPTIONS' && method !== 'HEAD')
}

const bodyFor = (method: string) => (method === 'GET' || method === 'DELETE' ? undefined : {})

async function ask(key: string | undefined, { method, path }: { method: string; path: string }) {
  const { status, body } = await send(gateway, key, method, fillPath(path.replace('*', 'x'), {}), bodyFor(method))
  return { status, code: (body as { error?: { code?: unknown } } | null)?.error?.code }
}

test('15: a management key calls no model, makes no management key, and is limited to its scopes', async () => {
  const wrong: unknown[] = []
  const routes = routesOf()
  expect(routes.length).toBeGreaterThan(100)
  for (const route of routes) {
    const name = `${route.method} ${route.path}`
    const open = name in OWN ? undefined : await ask(undefined, route)
    for (const { scopes, key } of callers) {
      const { status, code } = await ask(key, route)
      const needed = OWN[name]
      const isAllowed = needed === null || (needed !== undefined && holds(scopes, needed))
      const isRight =
        needed === undefined
          ? // Elsewhere it is worth no more than no key at all.
            status >= 400 || (open?.status ?? 500) < 400
          : isAllowed
            ? ![401, 403, 429, 500].includes(status)
            : status === 403 && code === 'scope_missing'
      if (!isRight) wrong.push({ name, scopes, status, code })
    }
  }
  expect(wrong).toEqual([])
  expect(gateway.upstream.calls.length).toBe(0)
})

test('no operation of the management API is about management keys', () => {
  expect(OPERATIONS.filter(({ path }) => path.includes('management'))).toEqual([])
})

test.each(['/v1/orders/options', '/v1/keys/x/../../management-keys', '/v1/management-keys', '/v1/usage/export'])(
  'an operation that is not offered is not reached by another path: %s',
  async (path) => {
    const [, ...others] = callers
    for (const { key } of others) expect([401, 403, 404]).toContain((await send(gateway, key, 'GET', path)).status)
  },
)
