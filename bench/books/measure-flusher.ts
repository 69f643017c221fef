/** Measures how fast the flusher empties streams that are full, with records of few accounts and on many. */
import { streamFields, usageRecord } from '@test/usage/sample-records'
import { Redis } from 'ioredis'
import { connectDatabase } from '@/db/client'
import { newRequestId } from '@/http/request-id'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import { recordsName, shardOf } from '@/ledger/store/names'
import { createLogger } from '@/lib/logger'
import { createFlusher } from '@/usage/flusher'
import { accountIdOf, keyIdOf, type Size, type Stores } from './fill'
import { print } from './print'

/** Whose record it is. */
export type Owner = { accountId: string; keyId: string }

type FlusherFigures = { flusherFewPerSecond: number; flusherManyPerSecond: number }

const RECORDS = 100_000
const FEW_ACCOUNTS = 100
const PIPELINE = 2_000

/** Records per second from the first batch to the last, commits as durable as Postgres ships them. */
export async function measureFlusher(stores: Stores, { accounts }: Size): Promise<FlusherFigures> {
  const few = await flusherRate(stores, oneOf(FEW_ACCOUNTS), RECORDS)
  const many = await flusherRate(stores, oneOf(accounts), RECORDS)
  print(`  flusher ${Math.round(few)}/s on ${FEW_ACCOUNTS} accounts, ${Math.round(many)}/s on ${accounts}`)
  return { flusherFewPerSecond: few, flusherManyPerSecond: many }
}

/** Owners drawn at random from so many accounts. */
function oneOf(accounts: number): () => Owner {
  return () => {
    const number = Math.floor(Math.random() * accounts)
    return { accountId: accountIdOf(number), keyId: keyIdOf(number) }
  }
}

/** Fills the streams with records of the owners that `ownerOf` names, and says how many a second one worker carries. */
export async function flusherRate(
  { databaseUrl, redisUrl }: Stores,
  ownerOf: (index: number) => Owner,
  records: number,
): Promise<number> {
  await fillStreams(redisUrl, ownerOf, records)
  const logger = createLogger({ level: 'error', service: 'bench', write: (line) => process.stderr.write(line) })
  const redis = connectRedis(redisUrl, { logger, commandTimeoutMs: 30_000, name: 'bench' })
  await waitForRedis(redis, 10_000)
  const connect = () => connectDatabase(databaseUrl, { maxConnections: 1, applicationName: 'flusher' })
  const flusher = createFlusher({ redis, connect, logger })
  const startedMs = performance.now()
  flusher.start()
  while (flusher.status().insertedRecords < records) await Bun.sleep(5)
  const perSecond = records / ((performance.now() - startedMs) / 1000)
  await flusher.stop()
  redis.disconnect()
  return perSecond
}

async function fillStreams(redisUrl: string, ownerOf: (index: number) => Owner, records: number): Promise<void> {
  const redis = new Redis(redisUrl)
  const nowMs = Date.now()
  for (let first = 0; first < records; first += PIPELINE) {
    const pipeline = redis.pipeline()
    for (let index = first; index < first + PIPELINE; index++) {
      const owner = ownerOf(index)
      const holdId = newRequestId()
      const seq = 10_000_001 + index
      const record = usageRecord({
        ...owner,
        holdId,
        seq,
        atMs: nowMs,
        facts: { requestId: holdId },
      })
      pipeline.xadd(recordsName(shardOf(owner.accountId)), '*', ...streamFields(record))
    }
    await pipeline.exec()
  }
  redis.disconnect()
}
