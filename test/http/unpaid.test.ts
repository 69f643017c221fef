/** Free and refused requests: limited for each key and for each network of unknown clients, and refused before a body is read. */
import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { openRaw, rawRequest } from '@test/support/raw-connection'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { createCredits } from '@/accounts/credits'
import { generateKey } from '@/accounts/key-text'
import { GatewayError } from '@/chat/error'
import { createUnpaid } from '@/http/unpaid'
import { assert } from '@/lib/assert'
import { systemClock } from '@/lib/clock'
import { nano } from '@/lib/money'

/** The minimum of free requests for each key, and the maximum of requests with unknown keys for each network. */
const FREE_PER_MINUTE = 600
const STRANGERS_PER_MINUTE = 300
const ANNOUNCED_BYTES = 17_000_000
const CHAT = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }

let gateway: TestGateway
/** Where the gateway's clock stands still: a minute's worth is no more, however long its requests take. */
let frozenMs: number | undefined
const monotonic = spyOn(systemClock, 'monotonic').mockImplementation(() => frozenMs ?? performance.now())

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello')),
    environment: { TRUSTED_PROXY_HOPS: '1' },
    catalog(file) {
      file.limits.requestsPerMinute = 10
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  monotonic.mockRestore()
})
afterEach(() => {
  frozenMs = undefined
})

function ask(path: string, key: string | undefined, address = '10.0.0.1', body: unknown = CHAT): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': address,
      ...(key !== undefined && { 'x-api-key': key }),
    },
    body: JSON.stringify(body),
  })
}

const OF_THE_CATALOGUE = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null }

/** So many at once: what the first are refused counts for the rest. */
const BATCH = 50
const TOLD = [expect.stringContaining('too_many_unpaid'), expect.stringMatching(/^[1-9]/)]

/** How often each status was answered to so many requests, while the clock stands still. */
async function tally(count: number, one: () => Promise<Response>): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {}
  frozenMs = Math.floor(performance.now())
  for (let sent = 0; sent < count; sent += BATCH) {
    for (const response of await Promise.all(Array.from({ length: BATCH }, one))) {
      const text = await response.text()
      if (response.status === 429) expect([text, response.headers.get('retry-after')]).toEqual(TOLD)
      statuses[response.status] = (statuses[response.status] ?? 0) + 1
    }
  }
  return statuses
}

/** Sends the first byte of a body of 17 MB, whose rest never comes. */
function announce(key: string): ReturnType<typeof openRaw> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-length': String(ANNOUNCED_BYTES) }
  return openRaw(gateway.url, rawRequest('POST /v1/chat/completions', headers, '{'))
}

describe('free answers', () => {
  test.each([
    ['/v1/messages/count_tokens', 200],
    ['/v1/route', 200],
    ['/v1/feedback', 400],
  ])('free answers at %s are limited for a key with too many requests, not for other keys', async (path, taken) => {
    const [busy, other] = [await gateway.customer('1'), await gateway.customer('1')]
    const statuses = await tally(FREE_PER_MINUTE + 100, () => ask(path, busy.key))
    expect(statuses[taken]).toBe(FREE_PER_MINUTE)
    expect(statuses[429]).toBeGreaterThan(0)
    expect((await ask(path, other.key)).status).toBe(taken)
  })

  const get = (path: string, key: string) => fetch(gateway.url + path, { headers: { 'x-api-key': key } })

  test.each([
    ['/v1/generation?id=req_none', 404],
    ['/v1/credits', 200],
  ])('free answers at %s count together with all other free answers of the account', async (path, taken) => {
    const [busy, other] = [await gateway.customer('1'), await gateway.customer('1')]
    const statuses = await tally(FREE_PER_MINUTE + 100, () => get(path, busy.key))
    expect(statuses).toEqual({ [taken]: FREE_PER_MINUTE, 429: 100 })
    expect((await ask('/v1/route', busy.key)).status).toBe(429)
    for (const one of ['/v1/generation?id=req_none', '/v1/credits', '/v1/usage', '/v1/key'])
      expect([one, (await get(one, busy.key)).status]).toEqual([one, 429])
    expect((await get(path, other.key)).status).toBe(taken)
  })
})

describe('when a body is not read', () => {
  test.each([
    ['has no credit', async () => gateway.customer('0'), '402'],
    ['is deactivated', () => deactivated(), '401'],
    ['belongs to a suspended account', () => suspended(), '403'],
    ['has used up its monthly budget', () => gateway.customer('1', { monthlyBudget: nano(0) }), '402'],
    ['has used up its requests of the minute', () => hurried(), '429'],
    ['has used up its tokens of the minute', () => holding(gateway.customer('1', { tokensPerMinute: 1 })), '429'],
    ['has the maximum of open requests', () => holding(gateway.customer('1', { concurrency: 1 })), '429'],
    ['belongs to an account that has', () => ofBusyAccount(), '429'],
  ])('a large body is not read if the key %s', async (_, make, status) => {
    const { key } = await make()
    const connection = announce(key)
    expect(await until(() => connection.received(), 'a refusal')).toStartWith(`HTTP/1.1 ${status}`)
    connection.end()
  })

  test('the gateway waits for the body of a caller who has credit', async () => {
    const { key } = await gateway.customer('1')
    const connection = announce(key)
    // Whatever is answered without the body is answered by the time that others are, who came later and ask the same stores.
    for (let time = 0; time < 20; time++) await (await ask('/v1/route', key)).text()
    expect(connection.received()).toBe('')
    connection.end()
  })

  test('even a small body is not read if the key was refused before; new credit counts at once', async () => {
    const { key, accountId } = await gateway.customer('0')
    expect((await ask('/v1/chat/completions', key)).status).toBe(402)
    const small = rawRequest('POST /v1/chat/completions', {
      'x-api-key': key,
      'content-type': 'application/json',
      'content-length': '9',
    })
    const connection = openRaw(gateway.url, small)
    expect(await until(() => connection.received(), 'a refusal')).toStartWith('HTTP/1.1 402')
    connection.end()
    const credits = createCredits(gateway.gateway.database, gateway.gateway.deps.ledger)
    await credits.addCredit({ accountId, amount: nano(1_000_000_000), reference: 'late' })
    expect((await ask('/v1/chat/completions', key)).status).toBe(200)
  })
})

test('while an account’s large bodies are refused, they ask the ledger once a second; each small body asks the ledger', async () => {
  let asked = 0
  const ledger = {
    ...gateway.gateway.deps.ledger,
    async refusalOf() {
      asked++
      return { kind: 'account_suspended' } as const
    },
  }
  let nowMs = 0
  const clock = { ...systemClock, monotonic: () => nowMs }
  const unpaid = createUnpaid({
    ...{ ledger, seesBalance: async () => true, clock, limits: { requestsPerMinute: 10 }, trustedProxyHops: 0 },
  })
  async function send(bytes: number, keyId = 'key_1'): Promise<unknown> {
    const payer = { accountId: 'acct_1', keyId }
    const request = new Request('http://gateway.test', { method: 'POST', headers: { 'content-length': String(bytes) } })
    try {
      return await unpaid.admit(payer, request)
    } catch (error) {
      unpaid.refused(payer, error, 0)
      return error instanceof GatewayError ? error.kind : error
    }
  }
  for (let time = 0; time < 10; time++) expect(await send(ANNOUNCED_BYTES, `key_${time}`)).toBe('forbidden')
  expect(asked).toBe(1)
  expect(await send(9)).toBe('forbidden')
  expect(asked).toBe(2)
  nowMs = 1_001
  expect(await send(ANNOUNCED_BYTES)).toBe('forbidden')
  expect(asked).toBe(3)
})

async function deactivated(): Promise<Customer> {
  const customer = await gateway.customer('1')
  await gateway.apiKeys.deactivate(customer.keyId)
  return customer
}

const askChat = ({ key }: Customer) => ask('/v1/chat/completions', key)

/** A key that may ask once a minute, and has asked twice. */
async function hurried(): Promise<Customer> {
  const customer = await gateway.customer('1', { requestsPerMinute: 1 })
  frozenMs = Math.floor(performance.now())
  const statuses = [await askChat(customer), await askChat(customer)].map(({ status }) => status)
  expect(statuses).toEqual([200, 429])
  return customer
}

/** With an open request of a hundred tokens. */
async function holding(made: Promise<Customer>): Promise<Customer> {
  const customer = await made
  const { ledger } = gateway.gateway.deps
  // Accounts of one shard share the names of their holds.
  const hold = { holdId: `hold_${customer.keyId}`, amount: nano(10), inputCost: nano(1), tokens: 100, ttlMs: 600_000 }
  expect((await ledger.reserve({ ...customer, ...hold })).kind).toBe('reserved')
  return customer
}

/** Of an account of which another key has open all that it may have. */
async function ofBusyAccount(): Promise<Customer> {
  const customer = await gateway.customer('1')
  const { accountId } = customer
  const state = { accountId, status: 'active', ...OF_THE_CATALOGUE, concurrency: 1 } as const
  await gateway.gateway.deps.ledger.setAccountState(state)
  const other = await gateway.apiKeys.create({ accountId, name: 'other' })
  assert(other.kind === 'created', 'the account exists')
  await holding(Promise.resolve({ ...customer, keyId: other.keyId }))
  return customer
}

async function suspended(): Promise<Customer> {
  const customer = await gateway.customer('1')
  await gateway.gateway.deps.ledger.setAccountState({
    accountId: customer.accountId,
    status: 'suspended',
    ...OF_THE_CATALOGUE,
  })
  return customer
}

describe('refused requests', () => {
  test('a key whose paid requests are refused too often gets a 429', async () => {
    const { key } = await gateway.customer('1')
    const bad = () => ask('/v1/chat/completions', key, '10.0.0.1', { model: 'svc/none', messages: [] })
    const statuses = await tally(FREE_PER_MINUTE + 100, bad)
    expect(statuses[429]).toBeGreaterThan(0)
  })

  test('a network that sends too many unknown keys gets 429 for them, while its known keys still work', async () => {
    const { key } = await gateway.customer('1')
    expect((await ask('/v1/route', key, '2001:db8::1')).status).toBe(200)
    let host = 0x100
    const made = () => ask('/v1/route', generateKey('svc'), `2001:db8::${(host++).toString(16)}`)
    const statuses = await tally(STRANGERS_PER_MINUTE + 50, made)
    expect(statuses[401]).toBeWithin(STRANGERS_PER_MINUTE, STRANGERS_PER_MINUTE + 45)
    for (const none of [undefined, 'svc-typo', generateKey('svc')]) {
      expect((await ask('/v1/route', none, '2001:db8::5')).status).toBe(429)
    }
    expect((await ask('/v1/route', key, '2001:db8::5')).status).toBe(200)
    expect((await ask('/v1/route', generateKey('svc'), '10.9.9.9')).status).toBe(401)
  })
})
