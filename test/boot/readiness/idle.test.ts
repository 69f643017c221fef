/** The commands that an idle gateway sends to its store. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { Redis } from 'ioredis'

/** The look for records that other gateways left comes every five seconds while nobody asks: so many of them are the window. */
const SWEEPS = 3
/** Fifteen a second, and a share of a look at the user's rights, which may fall into the window. */
const MOST_PER_SWEEP = 110

let server: TestServer
let admin: Redis
let gateway: TestGateway

beforeAll(async () => {
  server = await startRedis()
  admin = new Redis(server.url)
  gateway = await startGateway({
    respond: () => Response.json({}),
    redisUrl: server.url,
    databaseUrl: await freshDatabase(),
    reloads: true,
  })
})
afterAll(async () => {
  await gateway.stop()
  admin.disconnect()
  await server.stop()
})

async function statistics(): Promise<Map<string, number>> {
  const rows = (await admin.info('commandstats')).matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)
  return new Map([...rows].map(([, name = '', count]) => [name, Number(count)]))
}

test('an idle gateway sends few commands to Redis, and almost no script source', async () => {
  const sweeps = async () => (await statistics()).get('xreadgroup') ?? 0
  // The first looks bring the scripts, and try the user's rights.
  await until(async () => (await sweeps()) >= 2, 'the first looks')
  await admin.config('RESETSTAT')
  await until(async () => (await sweeps()) >= SWEEPS, 'a window of looks')
  const counts = await statistics()
  for (const ours of ['info', 'config|resetstat']) counts.delete(ours)
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
  expect(all / SWEEPS).toBeLessThanOrEqual(MOST_PER_SWEEP)
  // The look at the user's rights, once a minute.
  expect(counts.get('eval') ?? 0).toBeLessThanOrEqual(1)
  // The probe alone appends to a stream: seldom while all is well.
  expect(counts.get('xadd')).toBeLessThanOrEqual(SWEEPS + 1)
})
