/** The operator commands that archive usage, run as processes with the database roles of a deployment. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { recordOf } from '@test/console/administration/usage-archive/archive-world'
import { asGateway, freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { connectDatabase, type Database } from '@/db/client'
import { writeUsageBatch } from '@/usage/write-batch'
import { type Outcome, run } from './run'

let redis: TestServer
let asServing: Record<string, string>
let asOperator: Record<string, string>
let database: Database

beforeAll(async () => {
  redis = await startRedis()
  const address = await freshDatabase()
  asServing = { REDIS_URL: redis.url, DATABASE_URL: asGateway(address) }
  asOperator = { ...asServing, DATABASE_MIGRATOR_URL: `${address}?role=svc_migrator` }
  database = connectDatabase(address, { maxConnections: 1 })
  await database.sql`INSERT INTO accounts (id, name, email) VALUES ('acct_1', 'Ada', 'ada@example.test')`
  await database.sql`SELECT ensure_usage_partitions('2025-09-01', 2)`
  await writeUsageBatch(database.sql, [
    recordOf('acct_1', '2025-09-10', { cost: 5_000_000_000 }),
    recordOf('acct_1', '2025-10-10', { cost: 1 }),
  ])
  await database.sql`INSERT INTO ledger_entries (id, account_id, kind, amount_nano, reference)
    VALUES ('entry_1', 'acct_1', 'credit', 9000000000, 'first')`
  await database.sql`INSERT INTO credit_outbox (entry_id, account_id, amount_nano, applied_at, confirmed_at)
    VALUES ('entry_1', 'acct_1', 9000000000, now(), now())`
  await database.sql`UPDATE accounts SET balance_nano = balance_nano + 9000000000`
})
afterAll(async () => {
  await database.close()
  await redis.stop()
})

function admin(line: string, stores = asOperator): Promise<Outcome> {
  return run(line.split(' '), stores)
}

const SEPTEMBER = { month: '2025-09', state: 'archived', records: 1, accounts: 1, chargedUsd: '5', droppedAt: null }

test('with the gateway’s role, usage archive fails and names the missing setting', async () => {
  const { code, stderr } = await admin('usage archive --before 2025-10', asServing)
  expect(code).toBe(1)
  expect(stderr).toContain('"svc_gateway" may not take months out of the usage records')
  expect(stderr).toContain('set DATABASE_MIGRATOR_URL')
})

test('usage archive refuses invalid months at once', async () => {
  for (const [line, words] of [
    ['usage archive', 'usage archive needs --before'],
    ['usage archive --before 2025-13', '--before must be a month, e.g. 2026-01'],
    ['usage archive --before yesterday', '--before must be a month'],
    ['usage archive --before 2025-10 --dry-run=yes', 'does not take an argument'],
    ['usage archive lst', 'usage archive does not take "lst"'],
    ['usage restore', 'usage restore needs --from'],
    ['usage archive --before 2199-01', 'the latest that can be given now is --before'],
  ] as const) {
    const { code, stderr } = await admin(line)
    expect({ line, isRefused: code > 0, stderr }).toEqual({
      line,
      isRefused: true,
      stderr: expect.stringContaining(words),
    })
  }
  expect((await admin('usage archive --help')).stdout).toContain('[--dry-run]')
  expect((await admin('usage archive list --help')).stdout).toContain('Usage: bun run admin usage archive list')
})

test('usage archive, list, check, drop and restore work one after another', async () => {
  const planned = await admin('usage archive --before 2025-10 --dry-run')
  expect(planned.json).toEqual({
    before: '2025-10',
    due: [{ month: '2025-09', requests: 1, chargedUsd: '5', bytes: expect.any(Number) }],
  })
  expect((await admin('usage archive list')).json).toEqual({ months: [] })
  const done = await admin('usage archive --before 2025-10')
  expect(done.json).toMatchObject({
    before: '2025-10',
    archived: [{ ...SEPTEMBER, table: 'archived_usage_records_202509' }],
  })
  expect(done.stderr).toBe('2025-09: closed\n2025-09: sealed\n2025-09: archived\n')
  expect((await admin('usage archive list', asServing)).json).toMatchObject({ months: [SEPTEMBER] })
  expect((await admin('ledger check', asServing)).json).toMatchObject({ ok: true, violations: [] })
  expect((await admin('usage --by day --days 366 --account acct_1')).json).toMatchObject({
    total: { requests: expect.any(Number) },
  })
  expect((await admin('request show req_gone')).stderr).toContain('records from before 2025-10-01 are archived')
  expect((await admin('usage restore --from 2025-09')).json).toMatchObject({ from: '2025-09', restored: [SEPTEMBER] })
  expect((await admin('usage archive --before 2025-10')).code).toBe(0)
  expect((await admin('usage archive drop --before 2025-10')).json).toMatchObject({ dropped: [SEPTEMBER] })
  expect((await admin('usage archive list')).json).toMatchObject({
    months: [{ month: '2025-09', state: 'dropped', table: null }],
  })
  expect((await admin('usage restore --from 2025-09')).stderr).toContain(
    'load the dump of archived_usage_records_202509 first',
  )
  expect((await admin('ledger check')).json).toMatchObject({ ok: true })
  expect((await admin('audit verify')).json).toMatchObject({ ok: true })
  const { json } = await admin('audit list --action usage')
  expect(json.entries).toMatchObject(
    ['usage.drop', 'usage.archive', 'usage.restore', 'usage.archive'].map((action) => ({ action, subject: '2025-09' })),
  )
})
