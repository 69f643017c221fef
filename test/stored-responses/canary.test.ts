/**
 * The promise of `store: false`, at providers of every format: no content is left in Redis, Postgres, log or metrics.
 * Stored content is in its own places only, and deleted with the answer.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { startRedis, type TestServer } from '@test/support/stores'
import { until, untilSeldom } from '@test/support/until'
import type { UpstreamCall } from '@test/support/upstream'
import { Redis } from 'ioredis'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { connectDatabase, type Database } from '@/db/client'
import type { JsonObject } from '@/lib/json'
import { answerAs, sellAllFormats } from './providers'

let server: TestServer
let redis: Redis
let database: Database
let gateway: TestGateway
let customer: Customer
/** What the provider says next, beside what it was asked. */
let word = ''

beforeAll(async () => {
  server = await startRedis()
  redis = new Redis(server.url)
  gateway = await startGateway({
    redisUrl: server.url,
    respond: answerIn,
    catalog: sellAllFormats,
  })
  database = connectDatabase(gateway.stores.databaseUrl, { maxConnections: 2 })
  customer = await gateway.customer('10')
})
afterAll(async () => {
  await gateway.stop()
  await database.close()
  redis.disconnect()
  await server.stop()
})

/** Thinks, speaks and calls a tool, and signs what its format can sign. */
function answerIn(call: UpstreamCall): Response {
  return answerAs(call, ({ signature }) => [
    { type: 'reasoning', text: `thought ${word}`, signature },
    { type: 'text', text: `said ${word}` },
    { type: 'tool-call', id: 'call_1', name: 'add', argumentsText: `{"what":"${word}"}`, signature },
  ])
}

/** Asks with a new word in every place that has room for one, until the usage record is booked. */
async function ask(format: FormatName, stream: boolean, store: boolean): Promise<{ word: string; id: string }> {
  word = `canary${crypto.randomUUID().replaceAll('-', '')}`
  const add = { type: 'function', name: 'add', description: word, parameters: { type: 'object', properties: {} } }
  const body: JsonObject = {
    model: `svc/${format}`,
    instructions: `be ${word}`,
    input: [
      { role: 'user', content: `hello ${word}` },
      { type: 'reasoning', id: 'rs_mine', summary: [{ type: 'summary_text', text: word }] },
      { type: 'function_call', call_id: 'call_0', name: 'add', arguments: `{"x":"${word}"}` },
      { type: 'function_call_output', call_id: 'call_0', output: word },
    ],
    tools: [add],
    metadata: { about: word },
    reasoning: { effort: 'low', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    ...{ stream, store },
  }
  const response = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  expect({ status: response.status, text }).toMatchObject({
    status: 200,
    text: expect.stringContaining(`said ${word}`),
  })
  expect(text).toContain(`thought ${word}`)
  const requestId = response.headers.get('x-request-id') ?? ''
  const isBooked = async () =>
    (await database.sql`SELECT FROM usage_records WHERE request_id = ${requestId}`).length > 0
  await untilSeldom(isBooked, 'the usage record')
  const id = /"id":\s?"(resp_\w+)"/.exec(text)?.[1] ?? ''
  expect(text).toContain(`"store":${store}`)
  return { word, id }
}

/** Where `sought` is: names of the store, tables of the history, the log, the metrics. */
async function placesOf(sought: string): Promise<string[]> {
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
  return [
    ...(await namesWith(sought)),
    ...(await tablesWith(sought)),
    ...(gateway.logLines.some((line) => line.includes(sought)) ? ['log'] : []),
    ...(metrics.includes(sought) ? ['metrics'] : []),
  ]
}

async function namesWith(sought: string): Promise<string[]> {
  const names = await redis.keys('*')
  const found = await Promise.all(names.map(async (name) => (name + (await contentOf(name))).includes(sought)))
  // Of each name its beginning, which says whose it is.
  return names.flatMap((name, index) => (found[index] ? [name.split(':')[0] ?? ''] : []))
}

async function contentOf(name: string): Promise<string> {
  switch (await redis.type(name)) {
    case 'string':
      return (await redis.get(name)) ?? ''
    case 'hash':
      return JSON.stringify(await redis.hgetall(name))
    case 'list':
      return JSON.stringify(await redis.lrange(name, 0, -1))
    case 'set':
      return JSON.stringify(await redis.smembers(name))
    case 'zset':
      return JSON.stringify(await redis.zrange(name, '0', '-1'))
    case 'stream':
      return JSON.stringify(await redis.xrange(name, '-', '+'))
    default:
      return ''
  }
}

async function tablesWith(sought: string): Promise<string[]> {
  const tables = await database.sql<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await database.sql`
      SELECT FROM ${database.sql(name)} AS entry WHERE entry::text LIKE ${`%${sought}%`} LIMIT 1`
    if (rows.length > 0) found.push(name)
  }
  return found
}

describe.each(FORMAT_NAMES.map((format) => [format] as const))('at a provider of %s', (format) => {
  test.each([false, true])('content that is not stored leaves no trace (stream: %p)', async (stream) => {
    const asked = await ask(format, stream, false)
    expect(await placesOf(asked.word)).toEqual([])
  })

  test.each([false, true])(
    'stored content is only in its tables, and is deleted with the answer (stream: %p)',
    async (stream) => {
      const asked = await ask(format, stream, true)
      await until(async () => (await tablesWith(asked.word)).length > 0, 'the stored answer is written')
      // What was signed around its calls is kept for a day, for callers who were not told it.
      const places = (await placesOf(asked.word)).filter((place) => place !== 'sig')
      expect(new Set(places)).toEqual(new Set(['resp', 'stored_responses']))
      const deleted = await fetch(`${gateway.url}/v1/responses/${asked.id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${customer.key}` },
      })
      expect(deleted.status).toBe(200)
      expect(await placesOf(asked.word)).toEqual([])
    },
  )
})
