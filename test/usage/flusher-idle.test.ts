/** What a flusher sends to an idle Redis. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { COMMAND_TIMEOUT_MS, freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import type { Redis } from 'ioredis'
import { connectDatabase } from '@/db/client'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import { createFlusher } from '@/usage/flusher'
import { logRecorder } from './log-recorder'

const SWEEPS = 20
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

test('without records, the flusher only asks Redis for new records and waiting ones', async () => {
  const databaseUrl = await freshDatabase()
  const connect = () => connectDatabase(databaseUrl, { maxConnections: 1 })
  const pace = { claimIdleMs: 1, lingerMs: 1, sweepMs: 5 }
  const flusher = createFlusher({ redis, connect, logger: log.logger, ...pace })
  flusher.start()
  const sweeps = async () => Number(/cmdstat_xreadgroup:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
  await until(async () => (await sweeps()) >= SWEEPS, 'sweeps, each with a look at what was abandoned')
  // How long the oldest record waits is told without asking for it, where there is none.
  expect(await redis.info('commandstats')).not.toMatch(/cmdstat_(xrange|xlen|xinfo)/)
  expect(flusher.status()).toMatchObject({ lagRecords: 0, lagSeconds: 0 })
  await flusher.stop()
})
