/** Address lists of keys and accounts: every gateway refuses a request from another address before a hold or a provider call. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { changeAccountAddresses } from '@/accounts/addresses/addresses'
import { OPERATOR } from '@/accounts/audit'
import { parseNetwork } from '@/lib/networks'

let gateway: TestGateway
let twin: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello', usageOf(50, 50))),
    environment: { TRUSTED_PROXY_HOPS: '1' },
  })
  twin = await gateway.twin()
})
beforeEach(async () => {
  customer = await gateway.customer('10')
})
afterAll(() => gateway.stop())

const networks = (list: string[] | null) => list?.map((text) => parseNetwork(text) ?? '') ?? null
const allow = (...list: string[]) => gateway.apiKeys.change(customer.keyId, { allowedAddresses: networks(list) })

function allowAccount(list: string[] | null): Promise<string> {
  const { database, deps } = gateway.gateway
  const change = { accountId: customer.accountId, addresses: networks(list), by: OPERATOR }
  return changeAccountAddresses(database, deps.ledger, change)
}

const CHAT = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }

async function send(at: TestGateway, address: string, path = '/v1/chat/completions', body?: object, more = {}) {
  const response = await fetch(at.url + path, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${customer.key}`,
      'content-type': 'application/json',
      'x-forwarded-for': `192.0.2.99, ${address}`,
      ...more,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

const statusFrom = async (address: string, at = gateway) => (await send(at, address, undefined, CHAT)).status

describe('a key with a list', () => {
  test('a key’s address list covers IPv4, IPv6 and IPv4 in IPv6, and applies on every gateway from the next request on', async () => {
    expect(await statusFrom('198.51.100.1')).toBe(200)
    await allow('203.0.113.0/24', '2001:db8::/32')
    for (const at of [gateway, twin]) {
      for (const address of ['203.0.113.9', '::ffff:203.0.113.9', '2001:db8:1::1']) {
        expect(await statusFrom(address, at)).toBe(200)
      }
      for (const address of ['198.51.100.1', '::ffff:198.51.100.1', '2001:db9::1', 'unknown']) {
        expect(await statusFrom(address, at)).toBe(403)
      }
    }
    await allow('198.51.100.1')
    for (const at of [twin, gateway]) {
      expect([await statusFrom('198.51.100.1', at), await statusFrom('203.0.113.9', at)]).toEqual([200, 403])
    }
    await gateway.apiKeys.change(customer.keyId, { allowedAddresses: null })
    for (const at of [gateway, twin]) expect(await statusFrom('192.0.2.1', at)).toBe(200)
  })

  test('a request from an address outside the list is refused before hold and provider call, and the error does not show the list', async () => {
    await allow('203.0.113.0/24')
    const before = await gateway.balance(customer.accountId)
    const calls = gateway.upstream.calls.length
    const { status, text } = await send(gateway, '198.51.100.1', undefined, CHAT)
    expect({ status, error: JSON.parse(text).error }).toMatchObject({
      status: 403,
      error: { code: 'address_not_allowed' },
    })
    expect(text).not.toContain('203.0.113')
    expect(await gateway.balance(customer.accountId)).toEqual(before)
    expect(gateway.upstream.calls.length).toBe(calls)
    const payer = { accountId: customer.accountId, keyId: customer.keyId }
    expect(await gateway.gateway.deps.ledger.readKey(payer)).toMatchObject({ open: 0 })
  })

  const FREE: { path: string; body?: object }[] = [
    { path: '/v1/usage' },
    { path: '/v1/messages/count_tokens', body: CHAT },
    { path: '/v1/route', body: CHAT },
    { path: '/v1/responses/resp_none' },
  ]
  test.each(FREE)(
    'a free request to $path from an address outside the key’s list is refused too',
    async ({ path, body }) => {
      const before = (await send(gateway, '198.51.100.1', path, body)).status
      await allow('203.0.113.0/24')
      expect((await send(gateway, '198.51.100.1', path, body)).status).toBe(403)
      expect((await send(gateway, '203.0.113.7', path, body)).status).toBe(before)
    },
  )

  test('a stored idempotent answer is not given to an address outside the key’s list', async () => {
    await allow('203.0.113.0/24')
    const name = { 'idempotency-key': 'once' }
    const first = await send(gateway, '203.0.113.1', undefined, CHAT, name)
    expect(first.status).toBe(200)
    expect((await send(twin, '198.51.100.1', undefined, CHAT, name)).status).toBe(403)
    expect(await send(twin, '203.0.113.2', undefined, CHAT, name)).toEqual(first)
  })

  test('setting an address list keeps the key’s allowed models and its rotation', async () => {
    await gateway.apiKeys.change(customer.keyId, { allowedModels: ['svc/alpha'] })
    await allow('203.0.113.0/24')
    const outcome = await gateway.apiKeys.rotate(customer.keyId, 60_000)
    if (outcome.kind !== 'rotated') throw new Error(outcome.kind)
    expect([await statusFrom('203.0.113.1'), await statusFrom('198.51.100.1')]).toEqual([200, 403])
    customer = { ...customer, key: outcome.key }
    expect([await statusFrom('203.0.113.1', twin), await statusFrom('198.51.100.1', twin)]).toEqual([200, 403])
    expect((await send(twin, '203.0.113.1', undefined, { ...CHAT, model: 'svc/none' })).status).toBe(404)
  })
})

describe('an account with a list', () => {
  test('an account’s address list applies to each key; a key’s own list can only narrow it', async () => {
    expect(await statusFrom('198.51.100.1')).toBe(200)
    await allowAccount(['203.0.113.0/24'])
    expect([await statusFrom('203.0.113.1', twin), await statusFrom('198.51.100.1', twin)]).toEqual([200, 403])
    await allow('203.0.113.128/25', '198.51.100.1')
    expect(await Promise.all(['203.0.113.129', '203.0.113.1', '198.51.100.1'].map((from) => statusFrom(from)))).toEqual(
      [...[200, 403, 403]],
    )
    await allowAccount(null)
    expect([await statusFrom('198.51.100.1'), await statusFrom('203.0.113.1')]).toEqual([200, 403])
  })

  test('an account’s address list applies to keys created later, and to keys loaded again', async () => {
    await allowAccount(['203.0.113.0/24'])
    const created = await gateway.apiKeys.create({ accountId: customer.accountId, name: 'later' })
    if (created.kind !== 'created') throw new Error(created.kind)
    customer = { ...customer, key: created.key, keyId: created.keyId }
    expect([await statusFrom('203.0.113.1'), await statusFrom('198.51.100.1')]).toEqual([200, 403])
  })
})
