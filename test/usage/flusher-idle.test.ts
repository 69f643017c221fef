/** What a flusher asks of a store where nothing happens. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { expectAtLeast } from '@test/support/at-least'
import { COMMAND_TIMEOUT_MS, freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import type { Redis } from 'ioredis'
import { connectDatabase } from '@/db/client'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import { SHARD_COUNT } from '@/ledger/store/names'
import { createFlusher } from '@/usage/flusher'
import { logRecorder } from './log-recorder'

setDefaultTimeout(300_000)
const CLAIM_IDLE_MS = 100
const log = logRecorder()
let server: TestServer
let redis: Redis

beforeAll(async () => {
  server = await startRedis()
  redis = connectRedis(server.url, { logger: log.logger, commandTimeoutMs: COMMAND_TIMEOUT_MS }) as Redis
  await waitForRedis(redis, PATIENCE_MS)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

test('what others abandoned is looked for seldom while there is nothing at all', async () => {
  const databaseUrl = await freshDatabase()
  const connect = () => connectDatabase(databaseUrl, { maxConnections: 1 })
  const pace = { claimIdleMs: CLAIM_IDLE_MS, lingerMs: 1, sweepMs: 5 }
  const flusher = createFlusher({ redis, connect, logger: log.logger, ...pace })
  const looks = async () =>
    Number(/cmdstat_xautoclaim:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0) / SHARD_COUNT
  await expectAtLeast(7.9 * CLAIM_IDLE_MS, () => {
    flusher.start()
    return until(async () => (await looks()) >= 3, 'a first look and two more')
  })
  // How long the oldest record waits is told without asking for it, where there is none.
  expect(await redis.info('commandstats')).not.toMatch(/cmdstat_(xrange|xlen)/)
  expect(flusher.status()).toMatchObject({ lagRecords: 0, lagSeconds: 0 })
  await flusher.stop()
})
