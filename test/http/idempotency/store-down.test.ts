/** Redis is unreachable: a request with an idempotency key is refused before it costs anything, and a running answer is still sent. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatStream, liveStream, usageOf } from '@test/support/upstream'
import { codeOf, send, settledBalance } from './repeated'

let redis: TestServer
let gateway: TestGateway

beforeAll(async () => {
  redis = await startRedis({ config: { appendonly: 'yes', appendfsync: 'always' } })
  gateway = await startGateway({
    respond: () => new Response(null, { status: 599 }),
    redisUrl: redis.url,
    databaseUrl: await freshDatabase(),
    environment: { REDIS_COMMAND_TIMEOUT_MS: '3000' },
  })
})
afterAll(async () => {
  await gateway.stop()
  await redis.stop()
})

test('without Redis a new request is a 503 without a call; an open answer completes, is charged once, and its key stays used', async () => {
  const customer = await gateway.customer('1')
  const live = liveStream()
  gateway.upstream.respond(() => live.response)
  const events = chatStream(['one ', 'two'], usageOf(10, 5)).map(
    (event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`,
  )
  for (const event of events.slice(0, 2)) live.write(event)
  const wish = { key: customer.key, idempotencyKey: 'store-down', stream: true }
  const answer = await send(gateway, wish)
  await redis.kill()
  const refused = await send(gateway, { ...wish, idempotencyKey: 'another' })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await codeOf(refused)).toBe('idempotency_unavailable')
  for (const event of events.slice(2)) live.write(event)
  live.close()
  expect(await answer.text()).toEndWith('data: [DONE]\n\n')
  await redis.restart()
  const again = await until(async () => {
    const response = await send(gateway, wish)
    return response.status !== 503 && response
  }, 'the store to be back')
  expect([again.status, await codeOf(again)]).toEqual([409, 'idempotency_key_in_use'])
  expect(await settledBalance(gateway, customer)).toEqual({ spent: 10 * 1_000 + 5 * 2_000, records: 1 })
  expect(gateway.upstream.calls).toHaveLength(1)
})
