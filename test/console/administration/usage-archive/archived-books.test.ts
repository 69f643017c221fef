/** Archived usage cannot be booked again, changed or lost unnoticed, and months that may still change are not archived. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { appendRecords } from '@test/usage/sample-records'
import { ArchiveRefusal } from '@/console/administration/usage-archive/archive-step'
import { listArchive } from '@/console/administration/usage-archive/months'
import {
  archiveUsage,
  dropUsage,
  planArchive,
  restoreUsage,
} from '@/console/administration/usage-archive/usage-archive'
import { connectDatabase } from '@/db/client'
import { rebuildAll } from '@/ledger/check/rebuild'
import { deadlinesName, recordsName, shardOf } from '@/ledger/store/names'
import type { UsageRecord } from '@/ledger/usage-record'
import { createFlusher } from '@/usage/flusher'
import { writeUsageBatch } from '@/usage/write-batch'
import { type ArchiveWorld, openArchiveWorld, recordOf } from './archive-world'

let redis: TestServer
let world: ArchiveWorld
let accountId: string
let settled: UsageRecord
let expired: UsageRecord

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => {
  world = await openArchiveWorld(redis.url)
  accountId = await world.account()
  settled = recordOf(accountId, '2025-09-10', { cost: 30 })
  expired = recordOf(accountId, '2025-09-30', { cost: 5, kind: 'expire' })
  await world.book([
    settled,
    expired,
    recordOf(accountId, '2025-10-03', { cost: 9 }),
    recordOf(accountId, '2026-02-03'),
  ])
})
afterEach(() => world.close())

function archive() {
  return archiveUsage(world.deps, '2025-12')
}

/** Appends `appended` as the ledger does and has them carried. */
async function carry(appended: readonly UsageRecord[]) {
  const flusher = createFlusher({
    redis: world.fixture.redis,
    connect: () => connectDatabase(world.gatewayUrl, { maxConnections: 1 }),
    logger: silentLogger,
    ...{ lingerMs: 5, sweepMs: 20, claimIdleMs: 50, maxDeliveries: 2 },
  })
  await appendRecords(world.fixture.redis, appended)
  flusher.start()
  await until(async () => (await world.fixture.redis.xlen(streamName())) === 0, 'the stream to be empty')
  await flusher.stop()
  return flusher.status()
}

function streamName(): string {
  return recordsName(shardOf(accountId))
}

async function tamper(statement: string): Promise<void> {
  await world.superuser.sql.unsafe(`BEGIN; SET LOCAL session_replication_role = replica; ${statement}; COMMIT`)
}

describe('a record of an archived month that is delivered again', () => {
  test('a repeated record of an archived month, or a late charge of its hold, is not booked again', async () => {
    await archive()
    const late = recordOf(accountId, '2026-11-01', {
      ...settled,
      recordId: `${settled.holdId}:late`,
      kind: 'late',
      held: 0,
    })
    expect(await carry([settled, expired, late])).toMatchObject({ insertedRecords: 0, deadLetters: 0 })
    expect(await world.fixture.history.knownRecordIds([settled.recordId, 'x'])).toEqual([settled.recordId])
    expect(await world.fixture.history.settledHoldIds([settled.holdId, expired.holdId])).toEqual([settled.holdId])
    expect(await world.violations()).toEqual([])
  })

  test('an expired hold of an archived month can be charged late', async () => {
    await archive()
    const late = {
      ...recordOf(accountId, '2026-11-01', { cost: 2, held: 0, kind: 'late' }),
      holdId: expired.holdId,
      recordId: `${expired.holdId}:late`,
    }
    expect(await world.add([{ ...late, flags: ['late'] }])).toBe(1)
    expect(await world.violations()).toEqual([])
  })

  test('a record of a dropped month, or one missing in the archive, becomes a dead letter', async () => {
    await archive()
    const unknown = recordOf(accountId, '2025-10-20', { cost: 1 })
    expect(await carry([unknown])).toMatchObject({ insertedRecords: 0, deadLetters: 1 })
    await dropUsage(world.deps, '2025-10')
    expect(await carry([settled])).toMatchObject({ insertedRecords: 0, deadLetters: 1 })
    expect(await world.violations()).toEqual(['dead_letter', 'dead_letter'])
    const [row] = await world.owner.sql`SELECT error FROM dead_letters LIMIT 1`
    expect(row?.error).toContain('usage_records_not_archived')
  })

  test('a gateway that does not know of the archive cannot book a record of an archived month', async () => {
    await archive()
    const earlier = world.fixture.database.sql`INSERT INTO usage_records SELECT * FROM archived_usage_records LIMIT 1`
    await expect(earlier).rejects.toThrow('usage_records_not_archived')
    await world.fixture.database.sql`SELECT ensure_usage_partitions('2025-08-01', 6)`
    await expect(
      world.fixture.database.sql`INSERT INTO usage_records SELECT * FROM archived_usage_records LIMIT 1`,
    ).rejects.toThrow('usage_records_not_archived')
  })
})

describe('the check of the archive', () => {
  test.each<[string, string]>([
    ['archived_records_altered', 'UPDATE archived_usage_records SET cost_nano = cost_nano + 1 WHERE cost_nano = 30'],
    ['archived_records_altered', "UPDATE archived_usage_records SET model = 'svc/other' WHERE cost_nano = 30"],
    ['archived_records_altered', 'DELETE FROM archived_usage_records WHERE cost_nano = 30'],
    ['archived_records_altered', 'TRUNCATE archived_usage_records_202510'],
    ['checkpoints_altered', 'UPDATE usage_checkpoints SET cost_nano = cost_nano + 1'],
    ['checkpoints_altered', "UPDATE usage_checkpoints SET last_id = 'x'"],
    ['checkpoints_altered', "DELETE FROM usage_checkpoints WHERE month = '2025-10-01'"],
    ['checkpoints_altered', 'DELETE FROM archived_months'],
    ['checkpoints_altered', 'UPDATE archived_months SET charges_nano = charges_nano + 1'],
    ['archive_differs_from_audit_log', "UPDATE archived_months SET digest = repeat('0', 64)"],
    ['archived_sum_differs', "UPDATE usage_daily SET cost_nano = cost_nano - 1 WHERE day = '2025-10-03'"],
    ['archived_sum_differs', "DELETE FROM usage_daily WHERE day = '2025-09-30'"],
    ['archived_days_altered', "UPDATE usage_daily SET model = 'svc/other' WHERE day = '2025-10-03'"],
    ['archived_month_missing', 'DROP TABLE archived_usage_records_202509'],
    ['archived_month_missing', 'ALTER TABLE archived_usage_records DETACH PARTITION archived_usage_records_202509'],
    ['archive_not_protected', 'ALTER TABLE archived_usage_records_202509 DISABLE TRIGGER closed_month_rows'],
    ['archive_not_protected', 'DROP TRIGGER closed_month_whole ON archived_usage_records_202509'],
    ['archive_not_protected', 'ALTER TABLE usage_checkpoints DISABLE TRIGGER ALL'],
    ['archive_not_protected', 'ALTER TABLE usage_records_default DROP CONSTRAINT usage_records_not_archived'],
    [
      'record_in_archived_month',
      'ALTER TABLE usage_records_default DROP CONSTRAINT usage_records_not_archived; INSERT INTO usage_records SELECT * FROM archived_usage_records LIMIT 1',
    ],
    [
      'event_counted_twice',
      "CREATE TEMP TABLE again AS SELECT * FROM archived_usage_records LIMIT 1; UPDATE again SET settled_at = '2026-02-05'; INSERT INTO usage_records SELECT * FROM again",
    ],
  ])('the check of the archive finds %s after: %s', async (kind, statement) => {
    await archive()
    await tamper(statement)
    expect(await world.violations()).toContain(kind)
  })

  test('the check of the archive accepts months that the drop command removed', async () => {
    await archive()
    expect((await dropUsage(world.deps, '2025-10')).map(({ month }) => month)).toEqual(['2025-09'])
    expect(await world.violations()).toEqual([])
    expect(await listArchive(world.owner)).toMatchObject([
      { month: '2025-09', state: 'dropped', records: 2, table: null },
      { month: '2025-10', state: 'archived' },
    ])
    await expect(restoreUsage(world.deps, '2025-09')).rejects.toThrow(/records of 2025-09 are not in this database/)
    await restoreUsage(world.deps, '2025-10')
    expect(await world.violations()).toEqual([])
  })

  test('restoring a month refuses altered records', async () => {
    await archive()
    await tamper('UPDATE archived_usage_records SET cost_nano = 29 WHERE cost_nano = 30')
    await expect(restoreUsage(world.deps, '2025-09')).rejects.toThrow(/2025-09 are not those that were sealed/)
  })

  test('even the owner of the tables cannot change the archive', async () => {
    await archive()
    for (const statement of [
      'UPDATE archived_usage_records SET cost_nano = 0',
      'DELETE FROM archived_usage_records',
      'TRUNCATE archived_usage_records',
      'UPDATE archived_usage_records_202509 SET cost_nano = 0',
      'TRUNCATE archived_usage_records_202509',
      'INSERT INTO archived_usage_records SELECT * FROM usage_records',
      'UPDATE usage_checkpoints SET cost_nano = 0',
      'DELETE FROM usage_checkpoints',
    ])
      await expect(world.owner.sql.unsafe(statement), statement).rejects.toThrow(/is closed|append-only|no partition/)
  })
})

describe('months that cannot be archived', () => {
  const refusal = async () =>
    await planArchive(world.deps, '2025-12').then(
      () => 'done',
      (error: unknown) => (error instanceof ArchiveRefusal ? error.message : String(error)),
    )

  test('a month that ended recently cannot be archived', async () => {
    const [row] = await world.owner.sql<{ month: string; late: string }[]>`
      SELECT to_char(now() - interval '31 days', 'YYYY-MM') AS month, to_char(now() + interval '10 days', 'YYYY-MM') AS late`
    const told = `the latest that can be given now is --before ${row?.month}`
    await expect(planArchive(world.deps, row?.late ?? '')).rejects.toThrow(told)
    await planArchive(world.deps, row?.month ?? '')
  })

  test('a month with records in Redis, open holds or dead letters is not archived', async () => {
    expect(await refusal()).toBe('done')
    const { redis, database } = world.fixture
    await appendRecords(redis, [recordOf(accountId, '2025-11-30')])
    expect(await refusal()).toContain('1 usage records from before 2025-12 are in Redis')
    await redis.del(streamName())
    const deadlines = deadlinesName(shardOf(accountId))
    await redis.zadd(deadlines, Date.parse('2025-11-05'), 'hold')
    expect(await refusal()).toContain('1 holds from before 2025-12 are open')
    await redis.del(deadlines)
    const at = (day: string) => `${Date.parse(day)}-0`
    await database.sql`INSERT INTO dead_letters (stream, entry_id, payload, error, is_booked)
      VALUES ('s', ${at('2025-10-09')}, '[]', 'torn', false), ('s', ${at('2026-01-09')}, '[]', 'torn', false)`
    expect(await refusal()).toContain('1 dead letters from before 2025-12')
  })

  test('a month whose books do not add up is not archived', async () => {
    await tamper("UPDATE usage_daily SET cost_nano = cost_nano + 1 WHERE day = '2025-10-03'")
    await expect(archive()).rejects.toThrow(/records of 2025-10 are not what the daily sums say, for 1 accounts/)
    expect((await listArchive(world.owner)).map(({ month }) => month)).toEqual(['2025-09'])
    await tamper("UPDATE usage_daily SET cost_nano = cost_nano - 1 WHERE day = '2025-10-03'")
    expect((await archive()).map(({ month }) => month)).toEqual(['2025-10'])
    expect(await world.violations()).toEqual([])
  })
})

describe('database roles', () => {
  test('a gateway’s role may not archive, and the error names the setting that is needed', async () => {
    const gateway = { ...world.deps, owner: world.fixture.database }
    for (const work of [
      () => archiveUsage(gateway, '2025-12'),
      () => planArchive(gateway, '2025-12'),
      () => restoreUsage(gateway, '2025-09'),
      () => dropUsage(gateway, '2025-12'),
    ])
      await expect(work()).rejects.toThrow('set DATABASE_MIGRATOR_URL to an address of "svc_migrator"')
  })

  test('a gateway’s role cannot change the archive', async () => {
    await archive()
    for (const statement of [
      'UPDATE archived_usage_records SET cost_nano = 0',
      'DELETE FROM archived_usage_records',
      "INSERT INTO archived_months (month, records, accounts, charges_nano, digest) VALUES ('2024-01-01', 0, 0, 0, repeat('0', 64))",
      'UPDATE archived_months SET dropped_at = now()',
      'DELETE FROM usage_checkpoints',
      'SELECT * FROM archived_usage_records_202509',
      'DROP TABLE archived_usage_records_202509',
      'ALTER TABLE usage_records DETACH PARTITION usage_records_202602',
    ])
      await expect(world.fixture.database.sql.unsafe(statement), statement).rejects.toThrow(
        /permission denied|must be owner/,
      )
  })
})

describe('a killed archive run', () => {
  test.each(['closed', 'sealed', 'archived'])(
    'a run killed once it has %s the second month leaves correct books, and can continue',
    async (step) => {
      const script = [
        'test/console/administration/usage-archive/killed-archive.ts',
        world.ownerUrl,
        world.redisUrl,
        `${step} 2025-10`,
      ]
      const child = Bun.spawn([process.execPath, ...script], { stdout: 'inherit', stderr: 'inherit' })
      await child.exited
      expect(child.signalCode).toBe('SIGKILL')
      expect(await world.violations()).toEqual([])
      // What is neither closed nor archived takes records; nothing is booked twice.
      expect(await writeUsageBatch(world.fixture.database.sql, [settled, recordOf(accountId, '2026-02-04')])).toBe(1)
      await rebuildAll({ ...world.fixture, logger: silentLogger })
      expect((await archive()).map(({ month }) => month)).toEqual(step === 'archived' ? [] : ['2025-10'])
      expect(await world.violations()).toEqual([])
    },
  )

  test('restoring undoes an archive run that was killed', async () => {
    const script = [
      'test/console/administration/usage-archive/killed-archive.ts',
      world.ownerUrl,
      world.redisUrl,
      'sealed 2025-10',
    ]
    await Bun.spawn([process.execPath, ...script], { stdout: 'inherit', stderr: 'inherit' }).exited
    await restoreUsage(world.deps, '2025-09')
    await world.add([recordOf(accountId, '2025-09-12'), recordOf(accountId, '2025-10-04')])
    expect(await listArchive(world.owner)).toEqual([])
    expect(await world.violations()).toEqual([])
  })
})
