/** The flusher on a Redis Cluster: every shard reaches Postgres, also a moved one, and a dead master delays only its own shards. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ClusterNode, startCluster, type TestCluster } from '@test/ledger/cluster-stores'
import { COMMAND_TIMEOUT_MS, freshDatabase } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import { Redis } from 'ioredis'
import { connectDatabase, type Database } from '@/db/client'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { recordsName, shardOf } from '@/ledger/store/names'
import type { UsageRecord } from '@/ledger/usage-record'
import { createFlusher, type Flusher } from '@/usage/flusher'
import { logRecorder } from './log-recorder'
import { streamFields, usageRecord } from './sample-records'

/** As in test/ledger/cluster-stores.ts. */
const CLUSTER_PASSWORD = 'cluster'
const log = logRecorder()
let cluster: TestCluster
let redis: RedisClient
/** Commands of its own accord follow every redirection. */
let appender: RedisClient
let database: Database
let flusher: Flusher
let expected = 0

beforeAll(async () => {
  cluster = await startCluster(3)
  redis = connectRedis(cluster.url, { logger: log.logger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  appender = connectRedis(cluster.url, {
    logger: log.logger,
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    autoPipelining: false,
  })
  await Promise.all([waitForRedis(redis, PATIENCE_MS), waitForRedis(appender, PATIENCE_MS)])
  const databaseUrl = await freshDatabase()
  database = connectDatabase(databaseUrl, { maxConnections: 2 })
  const connect = () => connectDatabase(databaseUrl, { maxConnections: 1 })
  flusher = createFlusher({ redis, connect, logger: log.logger, claimIdleMs: 200, sweepMs: 100 })
  flusher.start()
})
afterAll(async () => {
  await flusher.stop()
  redis.disconnect()
  appender.disconnect()
  await database.close()
  await cluster.stop()
})

test('records of all shards of a cluster reach Postgres', async () => {
  await append(records(400))
  await booked()
})

test('moving a shard to another node neither loses nor doubles a record', async () => {
  const shard = shardOf('acct_0')
  const owner = await cluster.ownerOf(shard)
  const target = cluster.nodes.find((node) => node !== owner)
  if (!target) throw new Error('a cluster of one')
  const appending = (async () => {
    for (let round = 0; round < 20; round++) await append(records(30))
  })()
  await cluster.moveShard(shard, target)
  await appending
  await append(records(100))
  await booked()
})

test('a dead master delays its own shards only, and loses none of their records', async () => {
  const victim = await cluster.ownerOf(shardOf('acct_1'))
  const batch = records(300)
  const own: UsageRecord[] = []
  const others: UsageRecord[] = []
  for (const record of batch) {
    const isOwn = (await cluster.ownerOf(shardOf(record.accountId))) === victim
    ;(isOwn ? own : others).push(record)
  }
  expect(own.length).toBeGreaterThan(0)
  await victim.server.kill()
  await until(() => !flusher.status().healthy, 'the failure to be seen')
  await append(others)
  await booked()
  expect(flusher.status().lastError).toBeDefined()
  await restart(victim)
  await append(own)
  await booked()
  await until(() => flusher.status().healthy, 'health')
})

/** A restarted node has its own password again until it is told the cluster's. */
async function restart(node: ClusterNode): Promise<void> {
  await node.server.restart()
  const admin = new Redis(node.server.url)
  await admin.config('SET', 'requirepass', CLUSTER_PASSWORD)
  admin.disconnect()
}

function records(count: number): UsageRecord[] {
  return Array.from({ length: count }, (_, index) => usageRecord({ accountId: `acct_${index % 90}`, cost: 1 }))
}

/** As the gateway does, tries again where a shard is on the move or its node is back a moment ago. */
async function append(batch: readonly UsageRecord[]): Promise<void> {
  await Promise.all(
    batch.map((record) =>
      until(
        () =>
          appender.xadd(recordsName(shardOf(record.accountId)), '*', ...streamFields(record)).catch(() => undefined),
        'the record to be taken',
      ),
    ),
  )
  expected += batch.length
}

async function booked(): Promise<void> {
  await until(async () => (await recordCount()) === expected, `${expected} records`)
}

async function recordCount(): Promise<number> {
  const [row] = await database.sql<{ records: number }[]>`SELECT count(*) AS records FROM usage_records`
  return row?.records ?? -1
}
