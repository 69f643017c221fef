/** Known attacks on gateways, carried out against a running one. Each is named by its advisory. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { crc32 } from 'node:zlib'
import { dashboardRoutesOf, fillPath } from '@test/console/http/routes'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { generateKey, isWellFormedKey } from '@/accounts/key-text'
import { toBase62 } from '@/lib/ids'

const MESSAGES = [{ role: 'user', content: 'Hi' }]
let gateway: TestGateway
let customer: Customer
let victim: Person
let eve: Person
let administrator: Person
/** A listener that nobody has a reason to call. */
let canary: Bun.Server<undefined>
let canaryHits = 0

beforeAll(async () => {
  canary = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      canaryHits++
      return Response.json(chatCompletion('caught'))
    },
  })
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(5, 5))) })
  customer = await gateway.customer('10')
  victim = await signUpPerson(gateway)
  eve = await signUpPerson(gateway)
  administrator = await signUpPerson(gateway, { role: 'admin' })
})
afterAll(async () => {
  await gateway.stop()
  await canary.stop(true)
})

async function call(body: unknown, headers: Record<string, string> = {}, path = '/v1/chat/completions') {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${customer.key}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

describe('CVE-2026-71479: absurd numbers', () => {
  const extremes = ['18000000000000000000', '1e999', '-1', '-1e308', '9007199254740993', '0.1', '"5"', 'null', '[]']
  const fields = [
    'n',
    'max_tokens',
    'max_completion_tokens',
    'temperature',
    'top_p',
    'seed',
    'logprobs',
    'top_logprobs',
  ]

  test.each(fields)('CVE-2026-71479: absurd numbers in %s add no credit and break nothing', async (field) => {
    const before = (await gateway.balance(customer.accountId)).available
    for (const value of extremes) {
      const { status } = await call(`{"model":"svc/alpha","messages":${JSON.stringify(MESSAGES)},"${field}":${value}}`)
      expect(`${field} ${value}: ${[200, 400].includes(status)}`).toBe(`${field} ${value}: true`)
    }
    const after = await gateway.balance(customer.accountId)
    expect(after.available).toBeLessThanOrEqual(before)
    expect(after.held).toBe(0 as typeof after.held)
  })

  test.each([-1, -1e15, 1.5, 1e308, '7', null])(
    'CVE-2026-71479: an absurd number in a provider’s usage (%p) adds no credit',
    async (count) => {
      gateway.upstream.respond(() =>
        Response.json({
          ...chatCompletion('x'),
          usage: { prompt_tokens: count, completion_tokens: count, total_tokens: count },
        }),
      )
      const before = (await gateway.balance(customer.accountId)).available
      await call({ model: 'svc/alpha', messages: MESSAGES, max_tokens: 10 })
      expect((await gateway.balance(customer.accountId)).available).toBeLessThanOrEqual(before)
      gateway.upstream.respond(() => Response.json(chatCompletion('Hello', usageOf(5, 5))))
    },
  )
})

describe('SSRF (CVE-2024-6587, CVE-2026-84377, CVE-2025-59146, CVE-2025-66405, GHSA-9fxj-mchq-843p, CVE-2026-24779)', () => {
  const NAMES = [
    'api_base',
    'base_url',
    'baseUrl',
    'api_host',
    'custom_host',
    'endpoint',
    'url',
    'proxy',
    'webhook',
    'callback',
  ]

  test('S12: no field at any depth, no header and no image URL makes the gateway call an address', async () => {
    const url = `http://127.0.0.1:${canary.port}/v1`
    const lure = Object.fromEntries(NAMES.map((name) => [name, url]))
    const image = { role: 'user', content: [{ type: 'image_url', image_url: { url: `${url}/x.png` } }] }
    const bodies = [
      { ...lure, messages: MESSAGES },
      { extra_body: lure, metadata: lure, litellm_params: lure, provider: lure, messages: MESSAGES },
      {
        messages: [{ ...MESSAGES[0], ...lure }],
        tools: [{ type: 'function', function: { name: 'f', parameters: lure } }],
      },
      { messages: [image] },
      {
        messages: MESSAGES,
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { $ref: url } } },
      },
    ]
    const headers = {
      'x-portkey-custom-host': url,
      'x-base-url': url,
      'helicone-target-url': url,
      'x-forwarded-host': url,
    }
    for (const body of bodies) await call({ model: 'svc/alpha', max_tokens: 5, ...body }, headers)
    for (const host of ['2130706433', '0x7f.1', '0', '[::ffff:127.0.0.1]']) {
      await call({ model: 'svc/alpha', messages: MESSAGES, api_base: `http://${host}:${canary.port}` })
    }
    expect(canaryHits).toBe(0)
  })
})

describe('CVE-2026-35030: two keys with the same beginning', () => {
  test('S3: CVE-2026-35030: two keys with the same start are never mistaken for each other', async () => {
    expect((await call({ model: 'svc/alpha', messages: MESSAGES })).status).toBe(200)
    // Well formed, so that only what is remembered can tell it apart.
    const secret = `${customer.key.slice(4, 30)}${generateKey('svc').slice(4, 8)}`
    const forged = `svc-${secret}${toBase62(crc32(secret), 6)}`
    expect(isWellFormedKey(forged, 'svc')).toBe(true)
    expect((await call({ model: 'svc/alpha', messages: MESSAGES }, { authorization: `Bearer ${forged}` })).status).toBe(
      401,
    )
  })
})

describe('CVE-2026-42208: SQL in place of a key', () => {
  test.each([
    "' OR 1=1 --",
    "svc-'; DROP TABLE api_keys; --",
    'svc-" UNION SELECT key_hash FROM api_keys',
    '%27%20OR%201=1',
    '$1',
  ])('%s is refused as a key, in any header', async (text) => {
    for (const name of ['authorization', 'x-api-key', 'x-goog-api-key', 'x-provider3-api-key']) {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', [name]: name === 'authorization' ? `Bearer ${text}` : text },
        body: JSON.stringify({ model: 'svc/alpha', messages: MESSAGES }),
      })
      expect(response.status).toBe(401)
      expect(await response.text()).not.toContain(text)
    }
    expect((await call({ model: 'svc/alpha', messages: MESSAGES })).status).toBe(200)
  })
})

describe('CVE-2026-49468, CVE-2026-48710: a Host header that names another path', () => {
  test.each(['evil.test', 'localhost/healthz?', 'x@localhost', 'localhost:99999', '..', 'localhost#/docs'])(
    'S7: a Host header that names another path opens nothing: %s',
    async (host) => {
      for (const [method, path] of [
        ['GET', '/dashboard/api/a/:accountId/keys'],
        ['GET', '/dashboard/api/admin/accounts'],
        ['GET', '/v1/usage'],
      ] as const) {
        const response = await fetch(`${gateway.url}${path}`, { method, headers: { host } })
        expect([400, 401, 404]).toContain(response.status)
      }
      const paid = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: { host }, body: '{}' })
      expect([400, 401, 415]).toContain(paid.status)
    },
  )
})

describe('CVE-2025-66405: an old path without the checks of the new one', () => {
  test('CVE-2025-66405: no old path lacks the checks: every API route with input requires a key first', async () => {
    const open = /^\/(dashboard|docs|swagger|webhooks|mail|sandbox|healthz|readyz|metrics)/
    const routes = gateway.gateway.app.routes.filter(({ method, path }) => method === 'POST' && !open.test(path))
    expect(routes.length).toBeGreaterThan(5)
    for (const { path } of routes) {
      const url = `${gateway.url}${path.replace(/\*|:\w+/g, 'svc/alpha')}`
      const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
      expect(`${path} ${response.status}`).toMatch(/ (401|404)$/)
    }
  })
})

describe('CVE-2025-61928: a key in somebody else’s name', () => {
  test('S5: CVE-2025-61928: a key cannot be made for another person, whatever the body contains', async () => {
    const { accountId, userId } = victim.viewer
    const named = { accountId, account_id: accountId, userId, user_id: userId, owner: accountId }
    await eve.json('POST', '/dashboard/api/a/:accountId/keys', { name: 'mine', ...named })
    const { sql } = gateway.gateway.database
    expect(await sql`SELECT FROM api_keys WHERE account_id = ${accountId}`).toHaveLength(0)
    expect((await victim.json('GET', '/dashboard/api/a/:accountId/keys')).body).toMatchObject({ items: [] })
  })
})

describe('CVE-2026-64859: secrets in listed rows', () => {
  test('S4: no dashboard answer contains a hash, a password or a token, not even for administrators', async () => {
    const { sql } = gateway.gateway.database
    const rows = await sql<{ secret: string }[]>`SELECT key_hash AS secret FROM api_keys
      UNION ALL SELECT password_hash FROM credentials WHERE password_hash IS NOT NULL
      UNION ALL SELECT token FROM sessions`
    const secrets = [...rows.map(({ secret }) => secret), customer.key, victim.cookie.split('=').at(-1) ?? '']
    expect(secrets.length).toBeGreaterThan(5)
    const values = { accountId: customer.accountId }
    const routes = dashboardRoutesOf(gateway).filter(
      ({ method, path }) => method === 'GET' && !path.endsWith('/events'),
    )
    expect(routes.length).toBeGreaterThan(15)
    for (const { path } of routes) {
      const text = await (await administrator.fetch(fillPath(path, values))).text()
      const found = secrets.filter((secret) => text.includes(secret))
      expect(`${path}: ${found.length}`).toBe(`${path}: 0`)
      expect(text).not.toContain('$argon2')
    }
  })
})

describe('S27: secrets', () => {
  test('S27: secrets are in no metric and no command line', async () => {
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
    for (const secret of ['sk-provider1-secret-canary', customer.key]) expect(metrics).not.toContain(secret)
    const passwords = [gateway.stores.redisUrl, gateway.stores.databaseUrl].map((url) => new URL(url).password)
    const processes = await Array.fromAsync(new Bun.Glob('[0-9]*/cmdline').scan({ cwd: '/proc', onlyFiles: false }))
    expect(processes.length).toBeGreaterThan(3)
    for (const path of processes) {
      const line = await Bun.file(`/proc/${path}`)
        .text()
        .catch(() => '')
      for (const password of passwords) expect(line).not.toContain(password)
    }
  })
})

describe('S10: names such as __proto__', () => {
  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype'])(
    'S10: the name %s has no special effect',
    async (name) => {
      const withKey = `{"model":"svc/alpha","messages":${JSON.stringify(MESSAGES)},"${name}":{"isAdmin":true,"max_tokens":-1}}`
      expect([200, 400]).toContain((await call(withKey)).status)
      expect((await call({ model: name, messages: MESSAGES })).status).toBe(404)
      expect((await fetch(`${gateway.url}/v1/models/${name}`)).status).toBe(404)
      expect((await eve.json('GET', `/dashboard/api/a/:accountId/keys/${name}`)).status).toBe(404)
      expect((await eve.json('GET', `/dashboard/api/a/:accountId/usage?${name}=1`)).status).toBe(200)
      expect(
        (await fetch(`${gateway.url}/dashboard/api/session/me`, { headers: { cookie: `${name}=1` } })).status,
      ).toBe(401)
      expect(({} as Record<string, unknown>).isAdmin).toBeUndefined()
    },
  )
})
