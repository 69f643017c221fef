/** A gateway dies and Redis loses its last seconds: requests that Postgres has are not charged again. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { currentFile, losePower } from './lost-power'
import { codeOf, send, settledBalance } from './repeated'

const KEYS = ['key-1', 'key-2', 'key-3']
const COST = 10 * 1_000 + 5 * 2_000
const respond = () => Response.json(chatCompletion('Hello', usageOf(10, 5)))
let redis: TestServer
let databaseUrl: string

beforeAll(async () => {
  redis = await startRedis({ config: { appendonly: 'yes', appendfsync: 'everysec' } })
  databaseUrl = await freshDatabase()
})
afterAll(() => redis.stop())

function ask(gateway: TestGateway, customer: Customer, idempotencyKey: string) {
  return until(async () => {
    const response = await send(gateway, { key: customer.key, idempotencyKey })
    return response.status !== 503 && response
  }, 'the store to be back')
}

test('after a gateway died, charged idempotency keys stay charged once, and an uncharged key gets an answer', async () => {
  const first = await startGateway({ respond, redisUrl: redis.url, databaseUrl })
  const customer = await first.customer('1')
  await ask(first, customer, 'warm')
  const kept = await currentFile(redis)
  for (const key of KEYS) expect((await ask(first, customer, key)).status).toBe(200)
  const booked = () => first.gateway.database.sql`SELECT FROM usage_records WHERE account_id = ${customer.accountId}`
  await until(async () => (await booked()).length === KEYS.length + 1, 'the records to be booked')
  await first.stop()
  await losePower(redis, kept)
  const second = await startGateway({ respond, redisUrl: redis.url, databaseUrl })
  try {
    for (const key of KEYS) {
      // Again and again: nobody gets the key later either.
      for (const _ of [1, 2]) {
        const again = await ask(second, customer, key)
        expect([again.status, await codeOf(again)]).toEqual([409, 'idempotency_answer_lost'])
      }
    }
    expect((await ask(second, customer, 'never-asked')).status).toBe(200)
    expect(second.upstream.calls).toHaveLength(1)
    const records = KEYS.length + 2
    expect(await settledBalance(second, customer)).toEqual({ spent: records * COST, records })
  } finally {
    await second.stop()
  }
})
