/** Redis answers but accepts no writes: readiness fails, new requests are refused at once, and open ones settle. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { readinessOf } from '@test/support/readiness'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatChunk, chatCompletion, chatStream, liveStream, usageOf } from '@test/support/upstream'
import { Redis } from 'ioredis'

let redis: TestServer
let admin: Redis
let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  redis = await startRedis()
  admin = new Redis(redis.url)
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello')),
    redisUrl: redis.url,
    databaseUrl: await freshDatabase(),
  })
  customer = await gateway.customer('1')
})
afterAll(async () => {
  await gateway.stop()
  admin.disconnect()
  await redis.stop()
})

const MESSAGES = [{ role: 'user', content: 'Hi' }]
const REQUESTS = {
  chat: ['/v1/chat/completions', { model: 'svc/alpha', messages: MESSAGES }],
  messages: ['/v1/messages', { model: 'svc/alpha', max_tokens: 10, messages: MESSAGES }],
  generate: ['/v1beta/models/svc%2Falpha:generateContent', { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }],
} as const

function send(format: keyof typeof REQUESTS, extra: object = {}): Promise<Response> {
  const [path, body] = REQUESTS[format]
  const headers = { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' }
  return fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify({ ...body, ...extra }) })
}

const readiness = () => readinessOf(gateway.url)

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text()
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1])
}

/** Gives the store a limit of which `share` is in use. */
async function fillTo(share: number): Promise<void> {
  const used = Number(/used_memory:(\d+)/.exec(await admin.info('memory'))?.[1])
  await admin.config('SET', 'maxmemory', String(Math.round(used / share)))
}

test('if Redis is nearly full, new requests get an error in their format, and an open stream is settled', async () => {
  const live = liveStream()
  gateway.upstream.respond(() => live.response)
  live.write(`data: ${JSON.stringify(chatChunk({ role: 'assistant', content: 'first' }))}\n\n`)
  const stream = await send('chat', { stream: true })
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  await fillTo(0.95)
  await until(async () => (await readiness()).status === 503, 'readiness to fail')
  expect((await readiness()).reasons).toMatchObject({ redis_writes: 'full' })
  const callsBefore = gateway.upstream.calls.length
  for (const format of ['chat', 'messages', 'generate'] as const) {
    const refused = await send(format)
    expect([format, refused.status]).toEqual([format, format === 'messages' ? 529 : 503])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.json()).toHaveProperty('error')
  }
  expect(gateway.upstream.calls).toHaveLength(callsBefore)
  expect(await metric('svc_store_takes_requests')).toBe(0)
  expect(await metric('svc_store_memory_ratio')).toBeGreaterThan(0.9)
  for (const event of chatStream(['second'], usageOf(10, 7)).slice(1)) {
    live.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
  }
  live.close()
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read());
  const balance = await gateway.balance(customer.accountId)
  expect([balance.spent as number, balance.held as number]).toEqual([10 * 1_000 + 7 * 2_000, 0])
  await admin.config('SET', 'maxmemory', '0')
  gateway.upstream.respond(() => Response.json(chatCompletion('Hello')))
  await until(async () => (await send('chat')).status === 200, 'requests to be taken again')
  expect((await readiness()).status).toBe(200)
  expect(await metric('svc_store_takes_requests')).toBe(1)
})

test.each([
  ['out of memory', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0'], /full|out_of_memory/],
  ['a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE'], /read_only/],
  ['without rights', ['ACL', 'SETUSER', 'svc', '-zadd'], ['ACL', 'SETUSER', 'svc', '+zadd'], /forbidden/],
])('Redis is %s: readiness fails while paid requests are refused', async (_name, begin, end, reason) => {
  await until(async () => (await readiness()).status === 200, 'the gateway to be ready')
  const call = ([command = '', ...args]: string[]) => admin.call(command, ...args)
  await call(begin)
  try {
    await until(async () => (await readiness()).status === 503, 'readiness to fail')
    expect((await readiness()).reasons.redis_writes).toMatch(reason)
    expect((await send('chat')).status).toBe(503)
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  } finally {
    await call(end)
  }
  await until(async () => (await send('chat')).status === 200, 'requests to be taken again')
})
