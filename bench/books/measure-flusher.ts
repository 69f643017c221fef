/** Measures how fast the flusher empties streams that are full, with records of few accounts and on many. */
import { streamFields, usageRecord } from '@test/usage/sample-records'
import { Redis } from 'ioredis'
import { connectDatabase } from '@/db/client'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import { recordsName, shardOf } from '@/ledger/store/names'
import { createLogger } from '@/lib/logger'
import { createFlusher } from '@/usage/flusher'
import { accountIdOf, keyIdOf, type Size, type Stores } from './fill'
import { print } from './print'

type FlusherFigures = { flusherFewPerSecond: number; flusherManyPerSecond: number }

const RECORDS = 100_000
const FEW_ACCOUNTS = 100
const PIPELINE = 2_000

/** Records per second from the first batch to the last, commits as durable as Postgres ships them. */
export async function measureFlusher(stores: Stores, { accounts }: Size): Promise<FlusherFigures> {
  const few = await rate(stores, FEW_ACCOUNTS)
  const many = await rate(stores, accounts)
  print(`  flusher ${Math.round(few)}/s on ${FEW_ACCOUNTS} accounts, ${Math.round(many)}/s on ${accounts}`)
  return { flusherFewPerSecond: few, flusherManyPerSecond: many }
}

async function rate({ databaseUrl, redisUrl }: Stores, accounts: number): Promise<number> {
  await fillStreams(redisUrl, accounts)
  const logger = createLogger({ level: 'error', service: 'bench', write: (line) => process.stderr.write(line) })
  const redis = connectRedis(redisUrl, { logger, commandTimeoutMs: 30_000, name: 'bench' })
  await waitForRedis(redis, 10_000)
  const connect = () => connectDatabase(databaseUrl, { maxConnections: 1, applicationName: 'flusher' })
  const flusher = createFlusher({ redis, connect, logger })
  const startedMs = performance.now()
  flusher.start()
  while (flusher.status().insertedRecords < RECORDS) await Bun.sleep(5)
  const perSecond = RECORDS / ((performance.now() - startedMs) / 1000)
  await flusher.stop()
  redis.disconnect()
  return perSecond
}

async function fillStreams(redisUrl: string, accounts: number): Promise<void> {
  const redis = new Redis(redisUrl)
  const nowMs = Date.now()
  for (let first = 0; first < RECORDS; first += PIPELINE) {
    const pipeline = redis.pipeline()
    for (let index = first; index < first + PIPELINE; index++) {
      const number = Math.floor(Math.random() * accounts)
      const accountId = accountIdOf(number)
      const holdId = `req_${crypto.randomUUID().replaceAll('-', '')}`
      const seq = 10_000_001 + index
      const record = usageRecord({
        holdId,
        accountId,
        keyId: keyIdOf(number),
        seq,
        atMs: nowMs,
        facts: { requestId: holdId },
      })
      pipeline.xadd(recordsName(shardOf(accountId)), '*', ...streamFields(record))
    }
    await pipeline.exec()
  }
  redis.disconnect()
}
