/** A Redis shared with others: a gateway only touches names with its prefix, so a Redis user limited to that prefix is enough. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'bun:test'
import { join } from 'node:path'
import { ROOT } from '@test/deploy/compose-file'
import { startCluster } from '@test/ledger/cluster-stores'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { readinessOf } from '@test/support/readiness'
import { monitorRedis } from '@test/support/redis-monitor'
import { asGateway, freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion, chatStream, eventStream, usageOf } from '@test/support/upstream'
import { Redis } from 'ioredis'
import { assert } from '@/lib/assert'

const PREFIXES = ['one:', 'two:'] as const
const ADMIN = [process.execPath, join(import.meta.dir, '..', '..', 'src', 'cli', 'main.ts')]
/** As docs/operations/stores.md tells to make it of the rules of deploy/, here with another prefix. */
async function rulesFor(prefix: string): Promise<string[]> {
  const operations = await Bun.file(join(ROOT, 'docs', 'operations', 'stores.md')).text()
  const command = /```sh\n(sed .*~svc:\*.*)\n```/.exec(operations)?.[1]
  assert(command, 'the page says how')
  const child = Bun.spawn(['sh', '-c', command.replace('~svc:', `~${prefix}`)], { cwd: ROOT })
  return (await new Response(child.stdout).text()).trim().split(' ')
}

let redis: TestServer
let admin: Redis
let gateways: { prefix: string; redisUrl: string; databaseUrl: string; gateway: TestGateway; customer: Customer }[]

beforeAll(async () => {
  redis = await startRedis()
  admin = new Redis(redis.url)
  gateways = []
  for (const prefix of PREFIXES) {
    const user = prefix.slice(0, -1)
    await admin.call('ACL', 'SETUSER', user, 'on', '>secret', ...(await rulesFor(prefix)))
    const address = new URL(redis.url)
    Object.assign(address, { username: user, password: 'secret' })
    // Under another name of the same machine, since the user is its own.
    address.hostname = 'localhost'
    gateways.push(await open(prefix, address.href))
  }
})
afterAll(async () => {
  for (const { gateway } of gateways) await gateway.stop()
  admin.disconnect()
  await redis.stop()
})

type Side = (typeof gateways)[number]

async function open(prefix: string, redisUrl: string): Promise<Side> {
  const databaseUrl = await freshDatabase()
  const gateway = await startGateway({
    respond: ({ body }) =>
      (body as { stream?: boolean }).stream
        ? eventStream(...chatStream(['Hel', 'lo'], usageOf(10, 5)))
        : Response.json(chatCompletion('Hello', usageOf(10, 5))),
    ...{ redisUrl, databaseUrl },
    environment: { REDIS_URL: redisUrl, REDIS_KEY_PREFIX: prefix, AUTH_SECRET: 'x'.repeat(32), SIGN_UP: 'open' },
    watchesLedger: true,
  })
  return { prefix, redisUrl, databaseUrl, gateway, customer: await gateway.customer('1') }
}

async function post({ gateway, customer }: Side, path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function story(side: Side): Promise<void> {
  const { gateway } = side
  // On a busy machine a look at the store may have come too late, after which requests are refused until the next.
  await until(async () => (await fetch(`${gateway.url}/readyz`)).ok, 'the gateway to be ready')
  const chat = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }
  const streamed = await post(side, '/v1/chat/completions', { ...chat, stream: true })
  expect(streamed).toMatchObject({ status: 200, text: expect.stringContaining('[DONE]') })
  expect((await post(side, '/v1/chat/completions', { ...chat, model: 'auto-smart' })).status).toBeOneOf([200, 404])
  const headers = { 'idempotency-key': 'once' }
  const [first, second] = [
    await post(side, '/v1/chat/completions', chat, headers),
    await post(side, '/v1/chat/completions', chat, headers),
  ]
  expect([first.status, second.text]).toEqual([200, first.text])
  const stored = await post(side, '/v1/responses', { model: 'svc/alpha', input: 'Hi' })
  const { id } = JSON.parse(stored.text) as { id: string }
  expect(
    (await post(side, '/v1/responses', { model: 'svc/alpha', input: 'On', previous_response_id: id })).status,
  ).toBe(200)
  const signIn = { method: 'POST', headers: { 'content-type': 'application/json', origin: gateway.url } }
  const body = JSON.stringify({ email: 'nobody@example.test', password: 'wrong password' })
  expect((await fetch(`${gateway.url}/dashboard/api/session/sign-in`, { ...signIn, body })).status).not.toBe(503)
  expect((await fetch(`${gateway.url}/readyz`).then((answer) => answer.json())) as object).toEqual({ status: 'ready' })
}

async function command(side: Side, ...words: string[]): Promise<{ code: number; output: string }> {
  const environment = {
    ...{ REDIS_URL: side.redisUrl, REDIS_KEY_PREFIX: side.prefix, DATABASE_URL: asGateway(side.databaseUrl) },
    PROVIDER1_API_KEY: 'any',
  }
  const child = Bun.spawn([...ADMIN, ...words, '--json'], {
    env: { ...BARE_ENVIRONMENT, ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
  return { code: await child.exited, output }
}

test('a gateway with a key prefix only uses Redis keys with that prefix', async () => {
  const outside = new Set<string>()
  let count = 0
  const monitor = await monitorRedis(redis.url, (words) => {
    const [name = '', ...args] = words
    if (/^(evalsha|eval)$/i.test(name)) count += 1
    for (const word of args) {
      if (/^(\{l\d+\}:|keyhash:|sig:|resp:|routing:|sign-in:|idempotency:|ledger-check:)/.test(word)) {
        outside.add(`${name} ${word}`)
      }
    }
  })
  onTestFinished(() => monitor.stop())
  for (const side of gateways) await story(side)
  for (const { gateway } of gateways) {
    await until(async () => (await gateway.gateway.deps.ledger.unsyncedRecordCount()) === 0, 'the records to be booked')
  }
  await until(async () => (await admin.get('one:ledger-check:report')) !== null, 'the check of the books')
  expect(count).toBeGreaterThan(20)
  expect([...outside]).toEqual([])
  const names = await admin.keys('*')
  expect(names.filter((name) => !PREFIXES.some((prefix) => name.startsWith(prefix)))).toEqual([])
  const kinds = new Set(names.map((name) => name.replace(/^(one|two):/, '').replace(/[:{].*/, '') || 'ledger'))
  expect([...kinds]).toEqual(expect.arrayContaining(['ledger', 'keyhash', 'idempotency', 'resp', 'sign-in']))
})

test('gateways with different prefixes have separate balances and book checks', async () => {
  for (const side of gateways) {
    const check = await command(side, 'ledger', 'check')
    expect({ code: check.code, report: JSON.parse(check.output) }).toMatchObject({
      code: 0,
      report: { ok: true, accounts: 1 },
    })
    const other = gateways.find(({ prefix }) => prefix !== side.prefix) as Side
    expect((await side.gateway.gateway.deps.ledger.readBalance(other.customer.accountId)) ?? null).toBeNull()
  }
})

test('commands find and rebuild data under the key prefix', async () => {
  const [side] = gateways as [Side]
  const before = await side.gateway.balance(side.customer.accountId)
  for (const name of await admin.keys('one:*')) await admin.del(name)
  const rebuilt = await command(side, 'ledger', 'rebuild')
  expect(rebuilt.code).toBe(0)
  expect((await side.gateway.balance(side.customer.accountId)).spent).toEqual(before.spent)
  expect((await command(side, 'ledger', 'check')).code).toBe(0)
  await story(side)
})

test('an error about a missing Redis right names the key prefix', async () => {
  const [side] = gateways as [Side]
  await admin.call('ACL', 'SETUSER', 'one', 'resetkeys', '~one:{l*}:*', '~one:keyhash:*')
  const refused = await post(
    side,
    '/v1/chat/completions',
    { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] },
    { 'idempotency-key': crypto.randomUUID() },
  )
  expect(refused.status).toBe(503)
  const { reasons } = await readinessOf(side.gateway.url)
  expect(reasons.redis_writes).toContain('~one:idempotency:*')
  await admin.call('ACL', 'SETUSER', 'one', ...(await rulesFor('one:')))
})

test('on a cluster the key prefix does not move an account to another node', async () => {
  const cluster = await startCluster(3)
  const side = await open('three:', cluster.url)
  try {
    await story(side)
    await until(async () => (await side.gateway.gateway.deps.ledger.unsyncedRecordCount()) === 0, 'the records')
    const names = (await Promise.all(cluster.nodes.map(({ admin }) => admin.keys('*')))).flat()
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !name.startsWith('three:'))).toEqual([])
    const check = await command(side, 'ledger', 'check')
    expect({ code: check.code, report: JSON.parse(check.output) }).toMatchObject({ code: 0, report: { accounts: 1 } })
    const { spent } = await side.gateway.balance(side.customer.accountId)
    for (const { admin: node } of cluster.nodes) await node.flushall()
    expect((await command(side, 'ledger', 'rebuild')).code).toBe(0)
    expect((await side.gateway.balance(side.customer.accountId)).spent).toEqual(spent)
  } finally {
    await side.gateway.stop()
    await cluster.stop()
  }
})
