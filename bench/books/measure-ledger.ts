/** Measures a rebuild of all balances, the automatic check, and what an account takes in Redis. */
import { usageRecord } from '@test/usage/sample-records'
import { Redis } from 'ioredis'
import { assembleLedger } from '@/accounts/assemble-ledger'
import { reconcileHistory } from '@/accounts/reconcile'
import { connectDatabase } from '@/db/client'
import { newRequestId } from '@/http/request-id'
import { checkLedger } from '@/ledger/check/check'
import { rebuildAll } from '@/ledger/check/rebuild'
import type { Ledger } from '@/ledger/ledger'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import { accountName, creditedName, keyHashName, keyName } from '@/ledger/store/names'
import { createLogger } from '@/lib/logger'
import { nano } from '@/lib/money'
import { accountIdOf, keyIdOf, type Stores } from './fill'
import { print } from './print'

type LedgerFigures = {
  rebuildSeconds: number
  checkLedgerSeconds: number
  reconcileSumsSeconds: number
  reconcileRecordsSeconds: number
  redisBytesPerAccount: number
  redisBytesPerBusyAccount: number
}

const LIMITS = { requestsPerMinute: 1_000, tokensPerMinute: 1_000_000, concurrency: 1_000 }
const RECENT_RECORDS = 50

/** Throws where the check finds anything: figures of broken books are worth nothing. */
export async function measureLedger({ databaseUrl, redisUrl }: Stores): Promise<LedgerFigures> {
  const logger = createLogger({ level: 'error', service: 'bench', write: (line) => process.stderr.write(line) })
  const redis = connectRedis(redisUrl, { logger, commandTimeoutMs: 10_000, name: 'bench' })
  await waitForRedis(redis, 10_000)
  const raw = new Redis(redisUrl)
  const database = connectDatabase(databaseUrl, { statementTimeoutMs: 0 })
  const { ledger, history } = assembleLedger({ redis, database, defaultLimits: LIMITS, logger })
  const deps = { redis, history, logger }
  await ledger.verify()
  const usedBefore = await usedMemory(raw)
  const [rebuildSeconds, { accounts }] = await timed(() => rebuildAll(deps))
  const perAccount = ((await usedMemory(raw)) - usedBefore) / accounts
  const [checkLedgerSeconds, checked] = await timed(() => checkLedger(deps))
  const [reconcileSumsSeconds, sums] = await timed(() => reconcileHistory(database, 'sums'))
  const [reconcileRecordsSeconds, records] = await timed(() => reconcileHistory(database, 'records'))
  const [violation] = [...checked.violations, ...sums.violations, ...records.violations]
  if (violation) throw new Error(`the books are broken: ${JSON.stringify(violation)}`)
  const redisBytesPerBusyAccount = await busyAccountBytes(raw, ledger)
  print(
    `  rebuild ${rebuildSeconds.toFixed(1)} s, check ${checkLedgerSeconds.toFixed(1)} s, of the records ${reconcileRecordsSeconds.toFixed(1)} s`,
  )
  raw.disconnect()
  redis.disconnect()
  await database.close()
  return {
    rebuildSeconds,
    checkLedgerSeconds,
    reconcileSumsSeconds,
    reconcileRecordsSeconds,
    redisBytesPerAccount: perAccount,
    redisBytesPerBusyAccount,
  }
}

async function timed<T>(work: () => Promise<T>): Promise<[seconds: number, T]> {
  const startedMs = performance.now()
  const result = await work()
  return [(performance.now() - startedMs) / 1000, result]
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
}

/** MEMORY USAGE of everything that an account with a full list of latest usage records and one key in use keeps for good. */
async function busyAccountBytes(redis: Redis, ledger: Ledger): Promise<number> {
  const payer = { accountId: accountIdOf(1), keyId: keyIdOf(1) }
  const keyHash = '0'.repeat(64)
  await ledger.rememberKeyHash(keyHash, payer)
  for (let index = 0; index < RECENT_RECORDS; index++) {
    const holdId = newRequestId()
    const { facts } = usageRecord({ facts: { requestId: holdId } })
    await ledger.reserve({ ...payer, holdId, amount: nano(10), inputCost: nano(1), tokens: 10, ttlMs: 60_000 })
    await ledger.settle({ ...payer, holdId, cost: nano(5), tokens: 5, facts })
  }
  const { accountId } = payer
  const names = [accountName(accountId), keyName(payer), creditedName(accountId), keyHashName(keyHash)]
  const sizes = await Promise.all(names.map((name) => redis.memory('USAGE', name)))
  return sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0)
}
