/** Charges that a flusher has read or put aside while the ledger is rebuilt: each counts exactly once. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { COMMAND_TIMEOUT_MS, freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import { createAccounts } from '@/accounts/accounts'
import { createApiKeys } from '@/accounts/api-keys'
import { assembleLedger } from '@/accounts/assemble-ledger'
import { createCredits } from '@/accounts/credits'
import { reconcileHistory } from '@/accounts/reconcile'
import { connectDatabase, type Database } from '@/db/client'
import { checkLedger } from '@/ledger/check/check'
import type { Ledger } from '@/ledger/ledger'
import type { LedgerHistory, Payer } from '@/ledger/outcomes'
import { createRecordStreams } from '@/ledger/records/record-streams'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { accountName, CONSUMER_GROUP, metaName, recordsName, shardOf } from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'
import { buryEntry } from '@/usage/dead-letters'
import { createFlusher, type Flusher } from '@/usage/flusher'
import { logRecorder } from './log-recorder'
import { usageRecord } from './sample-records'

const CREDIT = 1_000_000
const COST = 70_000
const LIMITS = { requestsPerMinute: 1_000, tokensPerMinute: 1_000_000, concurrency: 100 }
const { logger } = logRecorder()

let server: TestServer
let redis: RedisClient
let database: Database
let history: LedgerHistory
let ledger: Ledger
let payer: Payer
let flusher: Flusher | undefined

beforeAll(async () => {
  server = await startRedis()
  redis = connectRedis(server.url, { logger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(redis, PATIENCE_MS)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})
beforeEach(async () => {
  await redis.flushall()
  const url = await freshDatabase()
  database = connectDatabase(url, { maxConnections: 3 })
  ;({ ledger, history } = assembleLedger({ redis, database, logger, defaultLimits: LIMITS }))
  const account = await createAccounts(database, ledger).create({ email: 'one@example.test', name: 'One' })
  const accountId = account.kind === 'created' ? account.accountId : ''
  await createCredits(database, ledger).addCredit({ accountId, amount: nano(CREDIT), reference: 'first' })
  const key = await createApiKeys(database, ledger, 'svc').create({ accountId, name: 'key' })
  payer = { accountId, keyId: key.kind === 'created' ? key.keyId : '' }
  flusher = createFlusher({
    ...{ redis, logger, claimIdleMs: 20, sweepMs: 50 },
    connect: () => connectDatabase(url, { maxConnections: 1 }),
  })
})
afterEach(async () => {
  await flusher?.stop()
  await database.close()
})

/** Charges {@link COST}, and makes the facts of its record unreadable, as a defect or a newer version might. */
async function chargeTorn(): Promise<void> {
  await charge()
  const name = recordsName(shardOf(payer.accountId))
  const [entry] = await redis.xrevrange(name, '+', '-', 'COUNT', 1)
  const [id = '', fields = []] = entry ?? []
  await redis
    .multi()
    .xdel(name, id)
    .xadd(name, '*', 'r', fields.at(-1)?.replace(/\[.*$/, '{"torn":') ?? '')
    .exec()
}

async function charge(): Promise<void> {
  const hold = { ...payer, holdId: randomId('hold') }
  const { facts } = usageRecord({ holdId: hold.holdId })
  const request = { amount: nano(COST), inputCost: nano(1), tokens: 10, ttlMs: 60_000, facts }
  expect(await ledger.reserve({ ...hold, ...request })).toMatchObject({ kind: 'reserved' })
  expect(await ledger.settle({ ...hold, cost: nano(COST), tokens: 10, facts })).toMatchObject({ kind: 'settled' })
}

async function flushed(): Promise<void> {
  flusher?.start()
  await until(async () => (await ledger.unsyncedRecordCount()) === 0, 'the streams to be empty')
}

const letters = () => database.db.query.deadLetters.findMany()
const kinds = async () => {
  const [store, books] = [await checkLedger({ redis, history, logger }), await reconcileHistory(database, 'records')]
  return [...store.violations, ...books.violations].map(({ kind }) => kind)
}

test('a charge whose details were lost counts once in a rebuilt balance', async () => {
  await charge()
  await chargeTorn()
  await flushed()
  expect(await letters()).toMatchObject([{ accountId: payer.accountId, isBooked: true }])
  await redis.flushall()
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({
    available: nano(CREDIT - 2 * COST),
    spent: nano(2 * COST),
  })
  expect(await kinds()).toEqual([])
})

test('a refused record that still waits counts once in a reloaded account', async () => {
  await chargeTorn()
  await redis.del(accountName(payer.accountId))
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(CREDIT - COST), spent: nano(COST) })
  await flushed()
  await redis.flushall()
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(CREDIT - COST), spent: nano(COST) })
  expect(await kinds()).toEqual([])
})

test('a dead letter of a worker that died before its acknowledgement counts once', async () => {
  await chargeTorn()
  const name = recordsName(shardOf(payer.accountId))
  await redis.xgroup('CREATE', name, CONSUMER_GROUP, '0')
  await redis.xreadgroup('GROUP', CONSUMER_GROUP, 'flusher', 'STREAMS', name, '>')
  const [id = '', fields = []] = (await redis.xrange(name, '-', '+'))[0] ?? []
  const entry = { shard: shardOf(payer.accountId), stream: name, id, fields }
  expect(await buryEntry(database.sql, { entry, record: undefined, reason: 'not a usage record' })).toBe(true)
  expect(await kinds()).toEqual([])
  await redis.del(accountName(payer.accountId))
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(CREDIT - COST), spent: nano(COST) })
  await flushed()
  expect(await letters()).toHaveLength(1)
  expect(await kinds()).toEqual([])
})

test('a record that cannot be booked stays charged, and every check reports it', async () => {
  const full = usageRecord({ ...payer, holdId: 'hold_full' })
  await database.sql`INSERT INTO usage_daily VALUES (${payer.accountId}, (now() AT TIME ZONE 'UTC')::date, ${payer.keyId},
    ${full.facts.model}, 0, 0, 0, 0, 0, 0, 0, 0, 9000000000000000, 0, 0, 0), (${payer.accountId},
    (now() AT TIME ZONE 'UTC')::date, ${payer.keyId}, 'unknown', 0, 0, 0, 0, 0, 0, 0, 0, 9000000000000000, 0, 0, 0)`
  await charge()
  await flushed()
  expect(await letters()).toMatchObject([{ accountId: payer.accountId, isBooked: false }])
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(CREDIT - COST), spent: nano(COST) })
  expect(await kinds()).toContain('dead_letter')
  expect(await kinds()).toContain('balance_differs')
  await redis.flushall()
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(CREDIT), spent: nano(0) })
  expect(await kinds()).toContain('dead_letter')
})

test('a record that is being booked while Redis is emptied counts once after the commit', async () => {
  await charge()
  const locked = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const lock = database.sql.begin(async (transaction) => {
    await transaction`SELECT 1 FROM accounts FOR UPDATE`
    locked.resolve()
    await release.promise
  })
  await locked.promise
  flusher?.start()
  const waiting = () =>
    database.sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
  await until(async () => (await waiting()).length > 0, 'the flusher to be held up')
  await redis.flushall()
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(CREDIT), spent: nano(0) })
  release.resolve()
  await lock
  const isCounted = async () => (await ledger.readBalance(payer.accountId))?.spent === COST
  await until(isCounted, 'the charge to be counted in the store')
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(CREDIT - COST) })
  expect(await kinds()).toEqual([])
})

test('a record that another worker booked first causes no comparison of accounts', async () => {
  await charge()
  const shard = shardOf(payer.accountId)
  const [slow, fast] = [createRecordStreams(redis), createRecordStreams(redis)]
  const { entries } = await slow.readNew(10, 'all')
  await fast.count()
  expect((await fast.takeAbandoned(0, 10)).entries).toEqual([])
  const taken = await fast.takeAbandoned(0, 10)
  expect(taken.entries).toEqual(entries)
  const before = await redis.hget(metaName(shard), 'epoch')
  for (const worker of [fast, slow]) expect(await worker.acknowledge(entries)).toBeUndefined()
  expect(await redis.hget(metaName(shard), 'epoch')).toBe(before)
})

test('a record that Redis lost while it was booked causes a comparison of accounts', async () => {
  await charge()
  const shard = shardOf(payer.accountId)
  const worker = createRecordStreams(redis)
  const { entries } = await worker.readNew(10, 'all')
  await redis.flushall()
  await ledger.readBalance(payer.accountId)
  const before = await redis.hget(metaName(shard), 'epoch')
  expect(await worker.acknowledge(entries)).toBeUndefined()
  expect(await redis.hget(metaName(shard), 'epoch')).not.toBe(before)
})
