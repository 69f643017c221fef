/** Migrations: many processes may start at once, each file runs once, and the tables are what the schema files say. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres, type TestServer } from '@test/support/stores'
import { is } from 'drizzle-orm'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import { connectDatabase, type Database } from '@/db/client'
import { MIGRATIONS, migrate } from '@/db/migrate'

setDefaultTimeout(60_000)

let server: Promise<TestServer> | undefined
let databaseCount = 0
const open: Database[] = []

afterAll(async () => {
  await Promise.all(open.map((database) => database.close()))
  await (await server)?.stop()
})

describe('migrate', () => {
  test('four processes at once apply each migration exactly once', async () => {
    const url = await emptyDatabase()
    const processes = [1, 2, 3, 4].map(() => spawnMigrator(url))
    const applied = await Promise.all(processes)
    expect(applied.flat().sort()).toEqual(MIGRATIONS.map((migration) => migration.name).sort())
    const { sql } = connect(url)
    const rows = await sql`SELECT id, name FROM migrations ORDER BY id`
    expect([...rows]).toEqual(MIGRATIONS.map(({ id, name }) => ({ id, name })))
  })

  test('a second run changes nothing', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    const applied: string[] = []
    await migrate(url, { onApplied: (migration) => applied.push(migration.name) })
    expect(applied).toEqual([])
  })

  test('a migration that fails leaves nothing behind, and those before it stay', async () => {
    const url = await emptyDatabase()
    const broken = { id: 99, name: 'broken', sql: 'CREATE TABLE half_done (id integer); SELECT 1 / 0;' }
    expect(migrate(url, { migrations: [...MIGRATIONS, broken] })).rejects.toThrow('division by zero')
    const { sql } = connect(url)
    const [row] = await sql`SELECT to_regclass('half_done') AS half, (SELECT max(id) FROM migrations) AS last`
    expect(row).toEqual({ half: null, last: MIGRATIONS.at(-1)?.id })
  })

  test('an applied migration that was edited afterwards is refused', async () => {
    const url = await emptyDatabase()
    await migrate(url, { migrations: [{ id: 1, name: 'first', sql: 'SELECT 1' }] })
    const edited = migrate(url, { migrations: [{ id: 1, name: 'first', sql: 'SELECT 2' }] })
    expect(edited).rejects.toThrow('migration 1 (first) was changed after it had been applied')
  })
})

describe('the schema files and the migrations', () => {
  test('name the same tables, columns and nullability', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    const { sql } = connect(url)
    const actual = await sql<{ table: string; column: string; nullable: boolean }[]>`
      SELECT table_name AS table, column_name AS column, is_nullable = 'YES' AS nullable FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name <> 'migrations' AND table_name NOT LIKE 'usage_records_%'`
    expect(lines(actual)).toEqual(lines(await declaredColumns()))
  })
})

/** The columns of every table in src/db/schema.ts and src/db/*-schema.ts. */
async function declaredColumns() {
  const folder = join(import.meta.dir, '..', '..', 'src', 'db')
  const names = (await readdir(folder)).filter((name) => /(^|-)schema\.ts$/.test(name))
  const modules = await Promise.all(names.map((name) => import(join(folder, name))))
  const tables = modules.flatMap((module) => Object.values(module)).filter((value) => is(value, PgTable))
  return tables.flatMap((table) => {
    const config = getTableConfig(table)
    return config.columns.map((column) => ({ table: config.name, column: column.name, nullable: !column.notNull }))
  })
}

function lines(rows: readonly { table: string; column: string; nullable: boolean }[]): string[] {
  return rows.map((row) => `${row.table}.${row.column}${row.nullable ? '?' : ''}`).sort()
}

async function emptyDatabase(): Promise<string> {
  server ??= startPostgres()
  const { url } = await server
  const name = `migrate_${++databaseCount}`
  await connect(url).sql.unsafe(`CREATE DATABASE ${name}`)
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

function connect(url: string): Database {
  const database = connectDatabase(url, { maxConnections: 1 })
  open.push(database)
  return database
}

/** Another process that migrates `url`; resolves with the names of the migrations it applied itself. */
async function spawnMigrator(url: string): Promise<string[]> {
  const script = `import { migrate } from '@/db/migrate'
    const applied = []
    await migrate(process.argv.at(-1), { onApplied: (migration) => applied.push(migration.name) })
    process.stdout.write(JSON.stringify(applied))`
  const child = Bun.spawn(['bun', '-e', script, url], { stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect({ exitCode: await child.exited, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return JSON.parse(stdout)
}
