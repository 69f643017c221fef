/** A Redis that lost its last seconds has forgotten acknowledged idempotency keys: each is still charged once. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion, chatStream, liveStream, usageOf } from '@test/support/upstream'
import { currentFile, losePower } from './lost-power'
import { codeOf, send, settledBalance } from './repeated'

const KEYS = 15
const COST = 10 * 1_000 + 5 * 2_000
let redis: TestServer
let gateways: [TestGateway, TestGateway]

beforeAll(async () => {
  redis = await startRedis({ config: { appendonly: 'yes', appendfsync: 'everysec' } })
  const first = await startGateway({
    respond: () => new Response(null, { status: 599 }),
    ...{ redisUrl: redis.url, databaseUrl: await freshDatabase() },
  })
  gateways = [first, await first.twin()]
})
afterAll(async () => {
  for (const gateway of gateways.toReversed()) await gateway.stop()
  await redis.stop()
})

/** Asks until the store is back. */
function ask(gateway: TestGateway, customer: Customer, idempotencyKey: string, stream = false) {
  return until(async () => {
    const response = await send(gateway, { key: customer.key, idempotencyKey, stream })
    return response.status !== 503 && response
  }, 'the store to be back')
}

/** What the account has paid, and the records of it in the books once nothing is on its way there. */
async function booked(customer: Customer) {
  const { deps, database } = gateways[0].gateway
  const isSettled = () => gateways.every(({ gateway }) => gateway.deps.settler.pendingCount() === 0)
  await until(isSettled, 'what the store has lost to be sent again')
  const { spent } = await settledBalance(gateways[0], customer)
  await until(async () => (await deps.ledger.unsyncedRecordCount()) === 0, 'the records to be booked')
  const rows = await database.sql`SELECT FROM usage_records WHERE account_id = ${customer.accountId}`
  return { spent, records: rows.length }
}

test('answers acknowledged before Redis lost data are returned by both gateways', async () => {
  const customer = await gateways[0].customer('1')
  gateways[0].upstream.respond(() => Response.json(chatCompletion('Hello', usageOf(10, 5))))
  const before = gateways[0].upstream.calls.length
  await ask(gateways[0], customer, 'warm')
  await ask(gateways[1], customer, 'warm')
  const kept = await currentFile(redis)
  const keys = Array.from({ length: KEYS }, (_, index) => `key-${index}`)
  const answers = await Promise.all(keys.map((key, index) => ask(gateways[index % 2 ? 1 : 0], customer, key)))
  expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 200))
  await losePower(redis, kept)
  for (const gateway of gateways) await ask(gateway, customer, 'warm')
  const again = await Promise.all(keys.map((key, index) => ask(gateways[index % 3 ? 0 : 1], customer, key)))
  expect(again.map(({ status, headers }) => [status, headers.get('idempotent-replayed')])).toEqual(
    keys.map(() => [200, 'true']),
  )
  expect(gateways[0].upstream.calls.length - before).toBe(KEYS + 1)
  expect(await booked(customer)).toEqual({ spent: (KEYS + 1) * COST, records: KEYS + 1 })
})

test('a request that runs while Redis loses data keeps its key in use, and its answer is stored', async () => {
  const customer = await gateways[0].customer('1')
  gateways[0].upstream.respond(() => Response.json(chatCompletion('Hello', usageOf(10, 5))))
  await ask(gateways[0], customer, 'warm')
  const live = liveStream()
  gateways[0].upstream.respond(() => live.response)
  const events = chatStream(['one ', 'two'], usageOf(10, 5)).map(
    (event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`,
  )
  for (const event of events.slice(0, 2)) live.write(event)
  const kept = await currentFile(redis)
  const answer = await send(gateways[0], { key: customer.key, idempotencyKey: 'under-way', stream: true })
  await losePower(redis, kept)
  await ask(gateways[0], customer, 'warm')
  const again = await ask(gateways[1], customer, 'under-way', true)
  expect([again.status, await codeOf(again)]).toEqual([409, 'idempotency_key_in_use'])
  for (const event of events.slice(2)) live.write(event)
  live.close()
  expect(await answer.text()).toEndWith('data: [DONE]\n\n')
  const replay = await ask(gateways[1], customer, 'under-way', true)
  expect([replay.status, replay.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
  expect(await booked(customer)).toEqual({ spent: 2 * COST, records: 2 })
})
