/** A flusher of the version before, beside ours: whoever takes a record books it once, and none is buried. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { openFixture } from '@test/accounts/fixture'
import { createTestAccount } from '@test/accounts/test-account'
import { FACTS, passDeadline, request, settlement } from '@test/ledger/harness'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { connectDatabase } from '@/db/client'
import type { Payer } from '@/ledger/outcomes'
import { createRecordStreams, type StreamEntry } from '@/ledger/records/record-streams'
import type { RedisClient } from '@/ledger/store/connection'
import { CONSUMER_GROUP, metaName, recordsName, SHARD_COUNT, shardOf } from '@/ledger/store/names'
import { BILLING_RULES, type RequestFacts } from '@/ledger/usage-record'
import { sha256Hex } from '@/lib/ids'
import { nano } from '@/lib/money'
import { createFlusher } from '@/usage/flusher'
import { writeUsageBatch } from '@/usage/write-batch'
import { logRecorder } from './log-recorder'
import { readAsBefore } from './older-reader'

setDefaultTimeout(300_000)

const CREDIT = 1_000_000
const LIMIT = 1_000

/** All that a gateway of ours may say of a request, each rule once, and what versions before know nothing of. */
const SAYINGS: Partial<RequestFacts>[] = [
  ...BILLING_RULES.map((rule) => ({ rule })),
  { idempotencyKey: sha256Hex('key') },
  { labels: { tags: ['team=search'], app: 'My App', endUser: 'a1' } },
  { providerCost: nano(9), outrun: { calls: 1, cost: nano(4) } },
  { hasUnpricedUsage: true, isReclassified: true },
  { tools: [{ name: 'web_search', uses: 2, cost: nano(5) }] },
  {
    counts: { gaps: ['input_over', 'clamped'], providerInput: 9, providerOutput: 1, localInput: 1, localOutput: 1 },
    flags: ['clamped'],
  },
]

let redisServer: TestServer
beforeAll(async () => {
  redisServer = await startRedis()
})
afterAll(() => redisServer.stop())

async function openWorld() {
  const databaseUrl = await freshDatabase()
  const fixture = await openFixture(redisServer.url, databaseUrl)
  await fixture.redis.flushall()
  const accountId = await createTestAccount(fixture)
  // A store that a version before began, and is not packed while one of its gateways lives.
  await fixture.redis.hset(metaName(shardOf(accountId)), 'shards', SHARD_COUNT)
  const key = await fixture.apiKeys.create({ accountId, name: 'key' })
  if (key.kind !== 'created') throw new Error(key.kind)
  await fixture.credits.addCredit({ accountId, amount: nano(CREDIT), reference: 'start' })
  const payer = { accountId, keyId: key.keyId }
  const streams = createRecordStreams(fixture.redis)
  return {
    ...{ fixture, payer, streams, databaseUrl },
    /** What the flusher of before does with all that it is given, until its process is killed. */
    async flushAsBefore(isKilled: boolean): Promise<number> {
      const entries = await readAsOlder(fixture.redis, shardOf(accountId))
      const records = entries.flatMap(({ fields }) => readAsBefore(fields) ?? [])
      await writeUsageBatch(fixture.database.sql, records)
      if (!isKilled) await streams.acknowledge(entries)
      return entries.length - records.length
    },
  }
}

/** Versions before had the store note who has what, and took over what was noted for long. */
async function readAsOlder(redis: RedisClient, shard: number): Promise<StreamEntry[]> {
  const stream = recordsName(shard)
  await redis.xgroup('CREATE', stream, CONSUMER_GROUP, '0', 'MKSTREAM').catch((error: Error) => {
    expect(error.message).toStartWith('BUSYGROUP')
  })
  const abandoned = await redis.xautoclaim(stream, CONSUMER_GROUP, 'flusher', 0, '0-0', 'COUNT', LIMIT)
  const fresh = await redis.xreadgroup('GROUP', CONSUMER_GROUP, 'flusher', 'COUNT', LIMIT, 'STREAMS', stream, '>')
  const [, claimed] = abandoned as [string, [string, string[]][]]
  const [, read = []] = (fresh as [string, [string, string[]][]][] | null)?.[0] ?? []
  return [...claimed, ...read].map(([id, fields]) => ({ shard, stream, id, fields }))
}

type World = Awaited<ReturnType<typeof openWorld>>

/** Charges one request for each saying, one that expires, and one that is charged late. Returns what all of it costs. */
async function charge({ fixture: { ledger, redis } }: World, payer: Payer): Promise<number> {
  for (const [index, saying] of SAYINGS.entries()) {
    const hold = request(payer, 500)
    await ledger.reserve(hold)
    const isFree = saying.rule === 'hangup_free' && { freePerHour: 1_000 }
    await ledger.settle(settlement(hold, 100 + index, { facts: { ...FACTS, ...saying }, ...isFree }))
  }
  const stuck = request(payer, 500, { inputCost: nano(50) })
  await ledger.reserve(stuck)
  await ledger.renew([{ ...stuck, cost: nano(60), facts: FACTS, reached: true }])
  await passDeadline(redis, stuck)
  await ledger.expireDue(LIMIT)
  expect(await ledger.settle(settlement(stuck, 75), { force: true })).toMatchObject({ kind: 'late' })
  return Number((await ledger.readBalance(payer.accountId))?.spent)
}

async function booked({ fixture: { database } }: World) {
  const [records] = await database.sql`SELECT count(*)::int AS count, sum(cost_nano)::int AS cost FROM usage_records`
  const [account] =
    await database.sql`SELECT ${CREDIT}::int - balance_nano::int AS cost FROM accounts WHERE balance_nano <> 0`
  const [buried] = await database.sql`SELECT count(*)::int AS count FROM dead_letters`
  return { records: records?.count, cost: records?.cost, taken: account?.cost, buried: buried?.count }
}

test.each([false, true])(
  'it reads all that our gateways say, and books it once (killed before its word: %p)',
  async (isKilled) => {
    const world = await openWorld()
    const cost = await charge(world, world.payer)
    const expected = { records: SAYINGS.length + 2, cost, taken: cost, buried: 0 }
    expect(await world.flushAsBefore(isKilled)).toBe(0)
    expect(await booked(world)).toEqual(expected)
    // What it left, and what comes after it, ours carries.
    const flusher = createFlusher({
      redis: world.fixture.redis,
      connect: () => connectDatabase(world.databaseUrl, { maxConnections: 1 }),
      logger: logRecorder().logger,
      claimIdleMs: 0,
    })
    const more = await charge(world, world.payer)
    flusher.start()
    await until(async () => (await world.streams.count()).records === 0, 'all records to be booked')
    await flusher.stop()
    // Nothing is left of the notes either.
    const [noted] = (await world.fixture.redis.xpending(
      recordsName(shardOf(world.payer.accountId)),
      CONSUMER_GROUP,
    )) as [number]
    expect(noted).toBe(0)
    expect(await booked(world)).toEqual({ records: 2 * expected.records, cost: more, taken: more, buried: 0 })
    await world.fixture.close()
  },
)
