/** Operator keys: what each may do, from where and until when; and the customers' keys that they manage. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { run } from '@test/cli/run'
import { BEHIND_A_PROXY, makeManagementKey, send } from '@test/console/http/management/caller'
import { fillPath } from '@test/console/http/routes'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { ask } from '@test/usage/customer'
import { generateProgramKey, hashKey } from '@/accounts/key-text'
import { OPERATOR_SCOPES } from '@/accounts/management/operator-keys'
import { createRedactor } from '@/lib/redact'
import { placeOf } from '@/people/operation'
import { OPERATOR_OPERATIONS } from '@/people/operators/operations'
import { callerOf, codeOf, makeOperatorKey, newAccount } from './caller'

type ApiPaths = Record<string, Record<string, { tags: string[]; description: string; parameters: { name: string }[] }>>

let gateway: TestGateway
let shop: Awaited<ReturnType<typeof makeOperatorKey>>
let call: ReturnType<typeof callerOf>
let customer: Customer
let person: Person
let manager: { key: string }
let documented: ApiPaths

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('ok', usageOf(10, 5))),
    environment: BEHIND_A_PROXY,
  })
  customer = await gateway.customer('5')
  person = await signUpPerson(gateway)
  manager = await makeManagementKey(person)
  documented = ((await (await fetch(`${gateway.url}/docs/json`)).json()) as { paths: ApiPaths }).paths
  await renew()
})
afterAll(() => gateway.stop())

/** Another key, for another minute's changes. */
async function renew(): Promise<void> {
  shop = await makeOperatorKey(gateway)
  call = callerOf(gateway, shop)
}

const sql = () => gateway.gateway.database.sql
const OPERATIONS = OPERATOR_OPERATIONS.map((operation) => ({ ...operation, ...placeOf(operation) }))
const CHANGES = OPERATIONS.filter(({ method }) => method !== 'GET')

/** A body that each operation takes; those without need none. */
const BODIES: Record<string, () => object> = {
  'account.create': newAccount,
  'credit.add': () => ({ usd: '1', reference: crypto.randomUUID() }),
  'key.create': () => ({ name: 'made', monthlyBudgetUsd: null }),
  'key.change': () => ({ name: 'changed' }),
  'budget.set': () => ({ dayUsd: '3' }),
}

type Declared = (typeof OPERATIONS)[number]

/** A path and a body that the operation takes, on a key of its own. */
async function takenBy({ name, method, place }: Declared): Promise<{ path: string; body: object | undefined }> {
  const { accountId } = customer
  const made = await gateway.apiKeys.create({ accountId, name: 'one' })
  if (made.kind !== 'created') throw new Error(made.kind)
  if (name === 'key.activate') await gateway.apiKeys.deactivate(made.keyId, accountId)
  if (name === 'account.activate') await sql()`UPDATE accounts SET status = 'suspended' WHERE id = ${accountId}`
  const body = method === 'GET' || method === 'DELETE' ? undefined : (BODIES[name]?.() ?? {})
  return { path: fillPath(place, { accountId, id: made.keyId }), body }
}

const tooManyKeys = () => sql()`UPDATE api_keys SET status = 'deleted', deleted_at = now()
  WHERE account_id = ${customer.accountId} AND id <> ${customer.keyId} AND status <> 'deleted'`

describe('operations by operator keys', () => {
  test.each(OPERATIONS)('$name needs only its own scope', async (operation) => {
    await tooManyKeys()
    const { scope, method } = operation
    const others = OPERATOR_SCOPES.filter((one) => one !== scope)
    const { path, body } = await takenBy(operation)
    const refused = await callerOf(gateway, await makeOperatorKey(gateway, { scopes: others }))(method, path, body)
    expect({ status: refused.status, code: codeOf(refused) }).toEqual({ status: 403, code: 'scope_missing' })
    const taken = await callerOf(gateway, await makeOperatorKey(gateway, { scopes: [scope] }))(method, path, body)
    expect({ status: taken.status, error: codeOf(taken) }).toEqual({ status: 200, error: undefined })
    expect(taken.headers.get('cache-control')).toBe('no-store')
  })

  test.each(OPERATIONS)('$name refuses every other credential before it reads the body', async (operation) => {
    const { method } = operation
    const path = `/v1/operator${fillPath(operation.place, { accountId: customer.accountId, id: customer.keyId })}`
    for (const key of [undefined, customer.key, manager.key, 'svc-op-nothing', generateProgramKey('svc', 'op').key]) {
      const refused = await send(gateway, key, method, path, method === 'GET' ? undefined : 'no object')
      expect({ status: refused.status, code: codeOf(refused) }).toEqual({ status: 401, code: 'operator_key_required' })
    }
    const bySession = await person.fetch(path, { method })
    expect(bySession.status).toBe(401)
    // Only in the Authorization header.
    const elsewhere = await send(gateway, undefined, method, `${path}?key=${shop.key}`, undefined, {
      'x-api-key': shop.key,
    })
    expect(elsewhere.status).toBe(401)
  })

  test.each(CHANGES)(
    '$name, sent twice with one Idempotency-Key, is done once, and audited by name',
    async (operation) => {
      await tooManyKeys()
      await renew()
      const { path, body } = await takenBy(operation)
      const [{ seq: before } = { seq: 0 }] = await sql()`SELECT max(seq) AS seq FROM audit_entries`
      const once = { 'idempotency-key': `${operation.name} ${crypto.randomUUID()}`.replaceAll(' ', '-') }
      const first = await call(operation.method, path, body, once)
      const again = await call(operation.method, path, body, once)
      expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body })
      expect([first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).toEqual([
        null,
        'true',
      ])
      const entries = await sql()`SELECT actor_id, actor_email, details->>'operatorKey' AS key FROM audit_entries
      WHERE seq > ${before}`
      expect([...entries]).toEqual([{ actor_id: null, actor_email: 'operator key Shop', key: shop.keyId }])
      const replay = callerOf(gateway, await makeOperatorKey(gateway))
      // Another key's request by the same name is another request, and never gets the first answer.
      const others = await replay(operation.method, path, body, once)
      expect(others.headers.get('idempotent-replayed')).toBeNull()
    },
  )

  test.each(CHANGES.filter(({ method }) => method !== 'DELETE'))(
    '$name refuses unknown fields, other types of body and large ones, in one shape',
    async (operation) => {
      await renew()
      const path = `/v1/operator${fillPath(operation.place, { accountId: customer.accountId, id: customer.keyId })}`
      const headers = { authorization: `Bearer ${shop.key}` }
      const ask = (body: string, type = 'application/json') =>
        fetch(gateway.url + path, { method: operation.method, headers: { ...headers, 'content-type': type }, body })
      const bodies = [
        [await ask('{"unknownField":1}'), 400],
        [await ask('{"toString":1}'), 400],
        [await ask('[]'), 400],
        [await ask('{'), 400],
        [await ask('a=1', 'application/x-www-form-urlencoded'), 415],
        [await ask(`{"name":"${'x'.repeat(1_000_000)}"}`), 413],
      ] as const
      for (const [answer, status] of bodies) {
        expect({ status: answer.status, body: await answer.json() }).toEqual({
          status,
          body: { error: expect.objectContaining({ type: expect.any(String), message: expect.any(String) }) },
        })
      }
    },
  )

  test.each(OPERATIONS)('$name is in the API document with the tag Operator and its scope', (operation) => {
    const path = `/v1/operator${operation.place.replaceAll(/:(\w+)/g, '{$1}')}`
    const described = documented[path]?.[operation.method.toLowerCase()]
    expect(described?.tags).toEqual(['Operator'])
    expect(described?.description).toContain(`Needs the scope \`${operation.scope}\`.`)
    const names = described?.parameters.map(({ name }) => name) ?? []
    expect(names.includes('Idempotency-Key')).toBe(operation.method !== 'GET')
    expect(names.includes('accountId')).toBe(operation.place.includes(':accountId') || operation.name === 'order.list')
  })
})

describe('an operator key', () => {
  test('outside the operator’s API an operator key counts as no key', async () => {
    const routes = gateway.gateway.app.routes.filter(
      ({ method, path }) => !path.startsWith('/v1/operator') && method !== 'OPTIONS' && method !== 'HEAD',
    )
    expect(routes.length).toBeGreaterThan(100)
    const stranger = await makeOperatorKey(gateway)
    for (const { method, path } of routes) {
      const place = fillPath(path.replaceAll('*', 'x'), { accountId: customer.accountId, id: customer.keyId })
      const body = method === 'GET' || method === 'DELETE' ? undefined : {}
      const with_ = await send(gateway, stranger.key, method, place, body)
      const without = await send(gateway, undefined, method, place, body)
      expect({ path, method, status: with_.status }).toEqual({ path, method, status: without.status })
    }
  })

  test('the error for an operator key that calls a model says what the key is for', async () => {
    const body = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hello' }] }
    const refused = await send(gateway, shop.key, 'POST', '/v1/chat/completions', body)
    expect({ status: refused.status, code: codeOf(refused) }).toEqual({ status: 401, code: 'operator_key' })
  })

  test('an operator key is stored as a hash, is audited, and is in no log', async () => {
    expect(shop.key).toMatch(/^svc-op-[0-9A-Za-z]{36}$/)
    const [row] = await sql()`SELECT * FROM operator_keys WHERE id = ${shop.keyId}`
    expect(row?.key_hash).toBe(hashKey(shop.key))
    expect(JSON.stringify(row)).not.toContain(shop.key)
    await call('GET', '/accounts')
    const [entry] = await sql()`SELECT * FROM audit_entries WHERE subject = ${shop.keyId}`
    expect(entry).toMatchObject({ action: 'operator_key.create', account_id: null, details: { name: 'Shop' } })
    const audit = await sql()`SELECT details FROM audit_entries`
    expect(gateway.logLines.join() + JSON.stringify(audit)).not.toContain(shop.key)
    expect(createRedactor()(`the key ${shop.key} was sent`)).toBe('the key [redacted] was sent')
  })

  test('an operator key is refused after its end or revocation, on every gateway at once', async () => {
    const twin = await gateway.twin()
    const made = await makeOperatorKey(gateway)
    expect((await callerOf(twin, made)('GET', '/accounts')).status).toBe(200)
    expect((await callerOf(gateway, made)('GET', '/accounts')).status).toBe(200)
    const { operatorKeys } = gateway.gateway.deps.dashboard
    expect(await operatorKeys.revoke(made.keyId, { actor: { userId: null, email: 'operator' } })).toBe('revoked')
    for (const where of [gateway, twin]) {
      expect(codeOf(await callerOf(where, made)('GET', '/accounts'))).toBe('operator_key_required')
    }
    const ended = await makeOperatorKey(gateway, { expiresAt: new Date(Date.now() - 1000) })
    for (const where of [gateway, twin]) {
      expect(codeOf(await callerOf(where, ended)('GET', '/accounts'))).toBe('operator_key_required')
    }
  })

  test('a revoked operator key gets no stored answer', async () => {
    const made = await makeOperatorKey(gateway)
    const once = { 'idempotency-key': crypto.randomUUID() }
    const body = { name: 'kept', monthlyBudgetUsd: null }
    const path = `/accounts/${customer.accountId}/keys`
    expect((await callerOf(gateway, made)('POST', path, body, once)).status).toBe(200)
    await gateway.gateway.deps.dashboard.operatorKeys.revoke(made.keyId, { actor: { userId: null, email: 'x' } })
    expect((await callerOf(gateway, made)('POST', path, body, once)).status).toBe(401)
  })

  test('an operator key works only from its listed networks', async () => {
    const made = await makeOperatorKey(gateway, { allowedAddresses: ['203.0.113.0/24'] })
    const from = (address: string) =>
      send(gateway, made.key, 'GET', '/v1/operator/accounts', undefined, { 'x-forwarded-for': address })
    expect((await from('203.0.113.9')).status).toBe(200)
    const refused = await from('198.51.100.9')
    expect({ status: refused.status, code: codeOf(refused) }).toEqual({ status: 403, code: 'address_not_allowed' })
  })

  test('an operator key makes at most sixty changes a minute, and wrong keys are limited by address', async () => {
    await renew()
    const suspend = () => call('POST', '/accounts/acct_none/suspend')
    const statuses = new Set<number>()
    for (let count = 0; count < 60; count++) statuses.add((await suspend()).status)
    expect([...statuses]).toEqual([404])
    const limited = await suspend()
    expect({ status: limited.status, code: codeOf(limited) }).toEqual({ status: 429, code: 'too_many_attempts' })
    expect((await call('GET', '/accounts')).status).toBe(200)
    const wrong = () =>
      send(gateway, 'svc-op-wrong', 'GET', '/v1/operator/accounts', undefined, { 'x-forwarded-for': '192.0.2.7' })
    for (let count = 0; count < 300; count++) expect((await wrong()).status).toBe(401)
    // Some attempts are allowed again while those were sent.
    const more = await Promise.all(Array.from({ length: 200 }, wrong))
    expect(more.map(({ status }) => status)).toContain(429)
  })

  test('pages of other sites cannot use an operator key', async () => {
    const headers = { origin: 'https://example.org', 'access-control-request-method': 'GET' }
    for (const place of ['', '/', '/accounts', '/accounts/acct_1/keys']) {
      const preflight = await fetch(`${gateway.url}/v1/operator${place}`, { method: 'OPTIONS', headers })
      expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
    }
    const answers = [
      await send(gateway, shop.key, 'GET', '/v1/operator/accounts', undefined, headers),
      await send(gateway, 'wrong', 'GET', '/v1/operator/accounts', undefined, headers),
    ]
    for (const answer of answers) expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    const open = await fetch(`${gateway.url}/v1/models`, { method: 'OPTIONS', headers })
    expect(open.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('HEAD answers an operator key like GET, without a body', async () => {
    const head = (key: string) =>
      fetch(`${gateway.url}/v1/operator/accounts`, { method: 'HEAD', headers: { authorization: `Bearer ${key}` } })
    expect((await head(customer.key)).status).toBeGreaterThanOrEqual(400)
    expect(await (await head(shop.key)).text()).toBe('')
  })
})

describe('customers’ keys in the operator’s API', () => {
  test('an operator key makes, uses, rotates, limits, switches and deletes a customer’s key', async () => {
    await renew()
    const keys = `/accounts/${customer.accountId}/keys`
    const { body: made } = await call('POST', keys, { name: 'shop', monthlyBudgetUsd: '5' })
    const { key, item } = made as { key: string; item: { id: string; createdBy: null } }
    expect(item.createdBy).toBeNull()
    await ask(gateway, key)
    expect((await call('PATCH', `${keys}/${item.id}`, { requestsPerMinute: 9 })).body).toMatchObject({
      limits: { requestsPerMinute: 9, monthlyBudgetUsd: '5' },
    })
    const budget = await call('PUT', `${keys}/${item.id}/budgets`, { dayUsd: '0' })
    expect(budget.body).toMatchObject({ scope: 'key', scopeId: item.id })
    await expect(ask(gateway, key)).rejects.toThrow('402')
    await call('PUT', `${keys}/${item.id}/budgets`, { dayUsd: null })
    const rotated = (await call('POST', `${keys}/${item.id}/rotate`, { overlap: '0' })).body as { key: string }
    await expect(ask(gateway, key)).rejects.toThrow('401')
    await ask(gateway, rotated.key)
    await call('POST', `${keys}/${item.id}/deactivate`)
    await expect(ask(gateway, rotated.key)).rejects.toThrow('401')
    await call('POST', `${keys}/${item.id}/activate`)
    await ask(gateway, rotated.key)
    expect((await call('DELETE', `${keys}/${item.id}`)).body).toEqual({ deleted: true })
    await expect(ask(gateway, rotated.key)).rejects.toThrow('401')
    expect((await call('GET', `${keys}/${item.id}`)).status).toBe(404)
    expect((await call('POST', `${keys}/${item.id}/activate`)).status).toBe(404)
  })

  test.each(OPERATIONS.filter(({ place }) => place.includes(':id')))(
    '$name: a key of another account is a 404, and stays as it is',
    async (operation) => {
      await renew()
      const other = await gateway.customer('1')
      const { keyId: id } = await gateway.customer('1')
      const before = await sql()`SELECT * FROM api_keys WHERE id = ${id}`
      const path = fillPath(operation.place, { accountId: other.accountId, id })
      const body = operation.method === 'GET' || operation.method === 'DELETE' ? undefined : BODIES[operation.name]?.()
      expect((await call(operation.method, path, body)).status).toBe(404)
      expect(await sql()`SELECT * FROM api_keys WHERE id = ${id}`).toEqual(before)
    },
  )

  test('the audit log that customers see does not name the operator key', async () => {
    await renew()
    const { accountId } = person.viewer
    await call('POST', `/accounts/${accountId}/suspend`, { reason: 'for us alone' })
    await call('POST', `/accounts/${accountId}/activate`)
    const { body } = await person.json('GET', '/dashboard/api/a/:accountId/audit')
    const { items } = body as { items: { action: string; actor: unknown; details: object; ip: string | null }[] }
    expect(items.find(({ action }) => action === 'account.suspend')).toMatchObject({
      actor: null,
      details: {},
      ip: null,
    })
    expect(JSON.stringify(body)).not.toContain(shop.keyId)
  })
})

describe('commands for operator keys', () => {
  const stores = () => {
    const { redisUrl, databaseUrl } = gateway.stores
    return { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl }
  }
  const command = (text: string, ...more: string[]) => run([...text.split(' '), ...more, '--json'], stores())

  test('operator-key create shows the key once, list names it, and revoke ends it', async () => {
    const name = ['--name', 'My shop']
    const { json, code } = await command(
      'operator-key create --scopes read,keys --expires 2999-01-01 --addresses 203.0.113.0/24',
      ...name,
    )
    expect(code).toBe(0)
    const made = { keyId: String(json.keyId), key: String(json.key) }
    const listed = await command('operator-key list')
    expect((listed.json.keys as { keyId: string }[]).find(({ keyId }) => keyId === made.keyId)).toMatchObject({
      ...{ name: 'My shop', scopes: 'read,keys', addresses: '203.0.113.0/24', lastUsedAt: null },
      ...{ key: `${made.key.slice(0, 11)}…${made.key.slice(-4)}`, expiresAt: '2999-01-01T00:00:00.000Z' },
    })
    expect(listed.stdout).not.toContain(made.key)
    const from = { 'x-forwarded-for': '203.0.113.5' }
    expect((await callerOf(gateway, made)('GET', '/accounts', undefined, from)).status).toBe(200)
    expect((await command(`operator-key revoke --key ${made.keyId}`)).json).toEqual({
      ...{ keyId: made.keyId, status: 'revoked' },
    })
    expect((await callerOf(gateway, made)('GET', '/accounts', undefined, from)).status).toBe(401)
    expect((await command(`operator-key revoke --key ${made.keyId}`)).stderr).toContain('no operator key of that id')
  })

  test.each([
    ['--scopes', 'keys,all', 'there is no scope all'],
    ['--expires', '2020-01-01', 'a day in the future'],
    ['--expires', 'tomorrow', 'a day such as'],
    ['--addresses', '203.0.113.1/24', 'is no address or network'],
  ])('operator-key create refuses %s %s', async (option, value, words) => {
    const scopes = option === '--scopes' ? [] : ['--scopes', 'read']
    const { code, stderr } = await command('operator-key create --name x', ...scopes, option, value)
    expect(code).not.toBe(0)
    expect(stderr).toContain(words)
  })
})
