/** Metrics of the stores: calls by Redis operation, pools of Postgres, and failures. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { changes, readSeries } from './metric-series'

let server: TestServer
let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  server = await startRedis()
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')), redisUrl: server.url })
  customer = await gateway.customer('1')
})
afterAll(async () => {
  await gateway.stop()
  await server.stop()
})

const scrape = async () => readSeries(await (await fetch(`${gateway.url}/metrics`)).text())

const ask = () =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }),
  })

const called = (operation: string) => `svc_redis_duration_seconds_count{operation="${operation}"}`

test('a request counts in the store metrics as a reserve, a settle and an acknowledgement', async () => {
  await (await ask()).text()
  // Its charge may be written and booked after its answer.
  await until(async () => ((await scrape()).get(called('acknowledge')) ?? 0) >= 1, 'the first request to be booked')
  const before = await scrape()
  expect((await ask()).status).toBe(200)
  await until(async () => {
    const calls = changes(before, await scrape(), /^svc_redis_duration_seconds_count\{operation="(res|set|ack)/)
    return Bun.deepEquals(calls, { [called('reserve')]: 1, [called('settle')]: 1, [called('acknowledge')]: 1 })
  }, 'the calls to be told')
  const after = await scrape()
  expect(after.get('svc_redis_connected{client="gateway"}')).toBe(1)
  expect(after.get('svc_redis_connected{client="worker"}')).toBe(1)
  expect(changes(before, after, /^svc_(redis|postgres_query)_failures_total/)).toEqual({})
  const booked = 'svc_postgres_query_duration_seconds_count{pool="flusher"}'
  expect(after.get(booked) ?? 0).toBeGreaterThan(before.get(booked) ?? 0)
})

test('the metrics of Postgres pools show connections and waiting statements', async () => {
  const { database } = gateway.gateway
  const busy = 'svc_postgres_connections{pool="gateway",state="busy"}'
  const held = Promise.withResolvers<void>()
  const max = (await scrape()).get('svc_postgres_connections_max{pool="gateway"}') ?? 0
  expect(max).toBeGreaterThan(1)
  const working = Array.from({ length: max }, () => database.sql.begin(() => held.promise))
  await until(async () => (await scrape()).get(busy) === max, 'all connections to be busy')
  const late = database.sql`SELECT 1`.execute()
  // What the gateway does by itself may come to wait, too.
  const waiting = async () => (await scrape()).get('svc_postgres_queries_waiting{pool="gateway"}') ?? 0
  await until(async () => (await waiting()) >= 1, 'one to wait')
  held.resolve()
  await Promise.all([...working, late])
  const idle = 'svc_postgres_connections{pool="gateway",state="idle"}'
  await until(async () => (await scrape()).get(idle) === max, 'them to be idle')
})

test('the metrics count a statement that fails because Postgres is unreachable, not a value that Postgres refused', async () => {
  const { sql } = gateway.gateway.database
  const before = await scrape()
  await sql`SELECT 'word'::int`.catch(() => undefined)
  expect(changes(before, await scrape(), /^svc_postgres_query_failures_total/)).toEqual({})
  await sql`SELECT pg_terminate_backend(pg_backend_pid())`.catch(() => undefined)
  const after = await scrape()
  expect(changes(before, after, /^svc_postgres_query_failures_total/)).toEqual({
    'svc_postgres_query_failures_total{pool="gateway"}': 1,
  })
  expect(changes(before, after, /^svc_postgres_connections_closed_total/)).toEqual({
    'svc_postgres_connections_closed_total{pool="gateway"}': 1,
  })
})

test('a Redis that dies is counted as failed calls, and its return as a reconnect', async () => {
  const before = await scrape()
  await server.kill()
  await until(async () => (await scrape()).get('svc_redis_connected{client="gateway"}') === 0, 'the loss to be seen')
  expect((await ask()).status).toBe(503)
  // Nothing is reserved before it is known which server that is.
  const failed = 'svc_redis_failures_total{operation="identity"}'
  await until(async () => ((await scrape()).get(failed) ?? 0) > (before.get(failed) ?? 0), 'the failure to be told')
  await server.restart()
  await until(async () => (await scrape()).get('svc_redis_connected{client="gateway"}') === 1, 'the return')
  expect((await scrape()).get('svc_redis_reconnects_total{client="gateway"}') ?? 0).toBeGreaterThan(0)
})
