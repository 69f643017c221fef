/** Sentinels fail over to a replica without the last writes: requests are refused for a moment, then the books equal the history. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { readinessOf } from '@test/support/readiness'
import { startWatchedRedis, type WatchedRedis } from '@test/support/sentinels'
import { freshDatabase } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { createLedgerHistory } from '@/accounts/history'
import { reconcileHistory } from '@/accounts/reconcile'
import { checkLedger } from '@/ledger/check/check'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import { createLogger } from '@/lib/logger'

const COST = 10 * 1_000 + 5 * 2_000
/** Enough for some requests, which are all made while the replica learns nothing. */
const TIGHT_USD = '0.0005'

let watched: WatchedRedis
let gateway: TestGateway
let customer: Customer
let tight: Customer

beforeAll(async () => {
  watched = await startWatchedRedis()
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello', usageOf(10, 5))),
    redisUrl: watched.url,
    databaseUrl: await freshDatabase(),
  })
  customer = await gateway.customer('1')
  tight = await gateway.customer(TIGHT_USD)
})
afterAll(async () => {
  await gateway.stop()
  await watched.stop()
})

async function pay({ key }: Customer): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 }),
  })
  await response.text()
  return response.status
}

const isBooked = () => gateway.gateway.deps.ledger.unsyncedRecordCount().then((count) => count === 0)

test('during a failover that loses writes, requests are refused, and afterwards charged from Postgres', async () => {
  expect([await pay(customer), await pay(customer)]).toEqual([200, 200])
  await until(isBooked, 'the records to be booked')
  await watched.cutLink()
  expect(await pay(customer)).toBe(200)
  let spent = 0
  while ((await pay(tight)) === 200) spent += COST
  expect(spent).toBeGreaterThan(0)
  await until(isBooked, 'the records to be booked')
  await watched.primary.server.kill()
  expect(await pay(customer)).toBe(503)
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503)
  await until(async () => {
    const status = await pay(customer)
    expect([200, 503]).toContain(status)
    return status === 200
  }, 'the replica to be asked')
  expect((await watched.replica.admin.info('replication')).includes('role:master')).toBe(true)
  expect(await pay(tight)).toBe(402)
  expect((await gateway.balance(customer.accountId)).spent as number).toBe(4 * COST)
  expect((await gateway.balance(tight.accountId)).spent as number).toBe(spent)
  expect((await readinessOf(gateway.url)).status).toBe(200)
  await until(isBooked, 'the records to be booked')
})

test('the books agree after a Sentinel failover', async () => {
  const logger = createLogger({ level: 'error', write: () => undefined, service: 'svc' })
  const redis = connectRedis(watched.url, { logger })
  try {
    await waitForRedis(redis, PATIENCE_MS)
    const { database } = gateway.gateway
    const report = await checkLedger({ redis, history: createLedgerHistory(database), logger })
    const { violations } = await reconcileHistory(database, 'records')
    expect([...report.violations, ...violations]).toEqual([])
    expect(report.accounts).toBe(2)
  } finally {
    redis.disconnect()
  }
})

test('the old primary rejoins as a replica, and no request is refused', async () => {
  await watched.primary.restart()
  const isFollowing = async () => {
    expect(await pay(customer)).toBe(200)
    return (await watched.primary.admin.info('replication').catch(() => '')).includes('role:slave')
  }
  await until(isFollowing, 'the old primary to follow')
})
