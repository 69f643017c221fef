/** A month's usage table is dumped, dropped and restored with Postgres' own programs, as the operators' page describes. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordOf } from '@test/console/administration/usage-archive/archive-world'
import { type DebianPostgres, startDebianPostgres } from '@test/deploy/machines/debian-postgres'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { startRedis, type TestServer } from '@test/support/stores'
import { connectDatabase, type Database } from '@/db/client'
import { migrate } from '@/db/migrate'
import { writeUsageBatch } from '@/usage/write-batch'

const ROOT = join(import.meta.dir, '..', '..')
const PASSWORDS = { MIGRATOR_PASSWORD: 'migrator', GATEWAY_PASSWORD: 'gateway', READER_PASSWORD: 'reader' }

let folder: string
let redis: TestServer
let postgres: DebianPostgres
let database: Database
let environment: Record<string, string>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-dropped-month-'))
  redis = await startRedis()
  postgres = await startDebianPostgres(join(folder, 'postgres'))
  const as = (role: string, password: string) => `postgres://${role}:${password}@127.0.0.1:${postgres.port}/svc`
  environment = {
    ...{ ...BARE_ENVIRONMENT, ...postgres.environment, ...PASSWORDS, REDIS_URL: redis.url },
    ...{ DATABASE_URL: as('svc_gateway', 'gateway'), DATABASE_MIGRATOR_URL: as('svc_migrator', 'migrator') },
    ...{ POSTGRES_USER: 'postgres', POSTGRES_DB: 'svc', ROLES: join(ROOT, 'deploy', 'postgres', 'roles.sql') },
  }
  await shell('createdb svc && sh deploy/postgres/10-roles.sh')
  await migrate(as('svc_migrator', 'migrator'))
  database = connectDatabase(as('svc_migrator', 'migrator'), { maxConnections: 1 })
  await database.sql`INSERT INTO accounts (id, name, email, balance_nano) VALUES ('acct_1', 'Ada', 'ada@example.test', 9)`
  await database.sql`INSERT INTO ledger_entries (id, account_id, kind, amount_nano, reference)
    VALUES ('entry_1', 'acct_1', 'credit', 9, 'first')`
  await database.sql`INSERT INTO credit_outbox (entry_id, account_id, amount_nano, applied_at, confirmed_at)
    VALUES ('entry_1', 'acct_1', 9, now(), now())`
  await database.sql`SELECT ensure_usage_partitions('2024-01-01', 2)`
  await writeUsageBatch(database.sql, [
    recordOf('acct_1', '2024-01-10', { recordId: 'req_1', cost: 5 }),
    recordOf('acct_1', '2024-02-10', { recordId: 'req_2', cost: 1 }),
  ])
})
afterAll(async () => {
  await database?.close()
  await postgres?.stop()
  await redis?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Runs lines in a checkout, as an operator's shell does, and gives what the last of them printed. */
async function shell(lines: string): Promise<string> {
  const real = lines
    .replaceAll('usage-2024-01.dump', join(folder, 'usage-2024-01.dump'))
    .replaceAll('bun run admin', `${process.execPath} src/cli/main.ts`)
  const child = Bun.spawn(['sh', '-e', '-c', real], { cwd: ROOT, env: environment, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${lines}\n${stdout}${stderr}`)
  return stdout
}

async function block(info: string): Promise<string> {
  const text = await Bun.file(join(ROOT, 'docs', 'operations', 'commands.md')).text()
  return text.split(`\`\`\`${info}\n`)[1]?.split('```')[0] ?? ''
}

const recordIds = async () =>
  (await database.sql<{ id: string }[]>`SELECT event_id AS id FROM usage_records ORDER BY 1`).map(({ id }) => id)
const check = async () => JSON.parse(await shell('bun run admin ledger check'))

test('the dump of a dropped month restores its records, and the books agree at each step', async () => {
  await shell('bun run admin usage archive --before 2024-02')
  const said = await shell(await block('sh dropped month'))
  expect(said).toContain('TABLE DATA public archived_usage_records_202401')
  expect(said).toContain('"dropped":[{"month":"2024-01"')
  const [found] = await database.sql`SELECT to_regclass('archived_usage_records_202401') AS name`
  expect(found?.name).toBeNull()
  expect(await recordIds()).toEqual(['req_2'])
  expect(await check()).toMatchObject({ ok: true, violations: [] })
  expect(await shell(await block('sh loaded month'))).toContain('"restored":[{"month":"2024-01"')
  expect(await recordIds()).toEqual(['req_1', 'req_2'])
  expect(await check()).toMatchObject({ ok: true, violations: [] })
  expect(JSON.parse(await shell('bun run admin audit verify'))).toMatchObject({ ok: true })
})
