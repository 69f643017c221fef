/** A request whose account, key and budgets are all missing in Redis is answered all the same. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, createBench, LIMITS, request } from '@test/ledger/harness'
import { startRedis, type TestServer } from '@test/support/stores'
import { startEpochs } from '@/ledger/store/epoch-guard'
import { nano } from '@/lib/money'

let server: TestServer
let redis: Awaited<ReturnType<typeof connect>>

beforeAll(async () => {
  server = await startRedis()
  redis = await connect(server.url)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

test('the first request of an account loads account, key, addresses and budgets one after the other', async () => {
  const warm = createBench(redis)
  const { accountId, keyId } = await warm.fund(10_000)
  // With an open hold, the account is loaded without the key.
  expect((await warm.ledger.reserve(request({ accountId, keyId }, 1))).kind).toBe('reserved')
  const payer = { accountId, keyId: `${keyId}_new` }
  warm.history.setKey({ ...payer, addresses: [['203.0.113.0/24']], ownerId: 'user_a' })
  const limits = { day: { limit: nano(100), grant: nano(0), grantAt: 0 } }
  warm.history.setBudgets(accountId, [{ scope: 'member', scopeId: 'user_a', limits }])
  await startEpochs(redis, warm.deps.runner)
  const { ledger } = createBench(redis, LIMITS, warm.history)
  const from = { clientAddress: '203.0.113.7' }
  expect((await ledger.reserve(request(payer, 60, { from }))).kind).toBe('reserved')
  expect(await ledger.reserve(request(payer, 60, { from }))).toMatchObject({ kind: 'over_budget', scope: 'member' })
  const elsewhere = { clientAddress: '198.51.100.1' }
  expect((await ledger.reserve(request(payer, 1, { from: elsewhere }))).kind).toBe('address_not_allowed')
})
