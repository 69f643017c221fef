/**
 * A gateway checks the schema before it serves: if it cannot use it, start and commands end with one line. Slow: each
 * case starts a process.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { readinessOf } from '@test/support/readiness'
import { asGateway, freshDatabase, redisUrl } from '@test/support/stores'
import { connectDatabase } from '@/db/client'
import { MIGRATIONS } from '@/db/migrate'
import { addressOf, spawnGateway } from './process'

const ADMIN = [process.execPath, join(import.meta.dir, '..', '..', 'src', 'cli', 'main.ts')]
const NEWEST = MIGRATIONS.at(-1)?.id ?? 0
let databaseUrl: string
let environment: Record<string, string>

beforeAll(async () => {
  databaseUrl = await freshDatabase()
  environment = { REDIS_URL: asGateway(await redisUrl()), DATABASE_URL: asGateway(databaseUrl), PORT: '0' }
})

const owner = () => connectDatabase(databaseUrl, { maxConnections: 1 })
const opened = [] as ReturnType<typeof owner>[]
afterAll(() => Promise.all(opened.map((database) => database.close())))

async function ownerSql() {
  const database = owner()
  opened.push(database)
  return database.sql
}

async function endOf(command?: string[]): Promise<{ code: number | null; output: string }> {
  const started = spawnGateway(environment, undefined, command)
  return { code: await started.exited(), output: started.output().trim() }
}

test('if the schema is up to date, the gateway starts with the role that owns no tables', async () => {
  const gateway = spawnGateway(environment)
  expect(await addressOf(gateway)).toStartWith('http')
  gateway.kill('SIGTERM')
  expect(await gateway.exited()).toBe(0)
})

test('a missing migration is reported in one error line with the setting that helps, also for commands', async () => {
  const sql = await ownerSql()
  const [removed] = await sql`DELETE FROM migrations WHERE id = ${NEWEST} RETURNING *`
  const expected = `The database lacks migration ${NEWEST} (`
  const start = await endOf()
  expect(start.code).toBe(1)
  expect(start.output.split('\n')).toHaveLength(1)
  expect(start.output).toStartWith(expected)
  expect(start.output).toContain('set DATABASE_MIGRATOR_URL')
  const command = await endOf([...ADMIN, 'account', 'list'])
  expect(command.code).toBe(2)
  expect(command.output).toContain(expected)
  await sql`INSERT INTO migrations ${sql(removed as Record<string, never>)}`
})

test('a gateway older than the schema refuses to start and to run commands; running gateways continue', async () => {
  const running = spawnGateway(environment)
  const address = await addressOf(running)
  const sql = await ownerSql()
  await sql`INSERT INTO migrations (id, name, digest, requires) VALUES (9999, 'tomorrow', '', 9999)`
  const expected = `it has migration 9999 (tomorrow), this version knows migrations up to ${NEWEST}`
  const start = await endOf()
  expect({ code: start.code, lines: start.output.split('\n').length }).toEqual({ code: 1, lines: 1 })
  expect(start.output).toContain(expected)
  const command = await endOf([...ADMIN, 'account', 'list'])
  expect(command.code).toBe(2)
  expect(command.output).toContain(expected)
  expect((await readinessOf(address)).status).toBe(200)
  running.kill('SIGTERM')
  expect(await running.exited()).toBe(0)
  await sql`UPDATE migrations SET requires = ${NEWEST} WHERE id = 9999`
  const again = spawnGateway(environment)
  expect(await addressOf(again)).toStartWith('http')
  expect(again.output()).toContain('schema_is_newer')
  again.kill('SIGTERM')
  await again.exited()
})
