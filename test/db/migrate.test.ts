/** Migrations: many processes may start at once, each file is applied once, and the tables match the schema files. */
import { afterAll, describe, expect, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres, type TestServer } from '@test/support/stores'
import { is } from 'drizzle-orm'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import { connectDatabase, type Database } from '@/db/client'
import { MIGRATIONS, migrate, SchemaError } from '@/db/migrate'

let server: Promise<TestServer> | undefined
let databaseCount = 0
const open: Database[] = []

afterAll(async () => {
  await Promise.all(open.map((database) => database.close()))
  await (await server)?.stop()
})

describe('migrate', () => {
  test('four concurrent processes apply each migration once', async () => {
    const url = await emptyDatabase()
    const processes = [1, 2, 3, 4].map(() => spawnMigrator(url))
    const applied = await Promise.all(processes)
    expect(applied.flat().sort()).toEqual(MIGRATIONS.map((migration) => migration.name).sort())
    const { sql } = connect(url)
    const rows = await sql`SELECT id, name FROM migrations ORDER BY id`
    expect([...rows]).toEqual(MIGRATIONS.map(({ id, name }) => ({ id, name })))
  })

  test('a second run of the migrations changes nothing', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    const applied: string[] = []
    await migrate(url, { onApplied: (migration) => applied.push(migration.name) })
    expect(applied).toEqual([])
  })

  test('a failed migration leaves nothing behind, and earlier ones stay', async () => {
    const url = await emptyDatabase()
    const broken = { id: 99, name: 'broken', sql: 'CREATE TABLE half_done (id integer); SELECT 1 / 0;' }
    await expect(migrate(url, { migrations: [...MIGRATIONS, broken] })).rejects.toThrow('division by zero')
    const { sql } = connect(url)
    const [row] = await sql`SELECT to_regclass('half_done') AS half, (SELECT max(id) FROM migrations) AS last`
    expect(row).toEqual({ half: null, last: MIGRATIONS.at(-1)?.id })
  })

  test('an applied migration that was edited later is refused', async () => {
    const url = await emptyDatabase()
    await migrate(url, { migrations: [{ id: 1, name: 'first', sql: 'SELECT 1' }] })
    const edited = migrate(url, { migrations: [{ id: 1, name: 'first', sql: 'SELECT 2' }] })
    await expect(edited).rejects.toThrow('migration 1 (first) was changed after it had been applied')
  })
})

const FIRST = { id: 1, name: 'first', sql: 'CREATE TABLE one (id integer)' }
const ADDED = { id: 2, name: 'added', sql: 'ALTER TABLE one ADD COLUMN note text', isExpansion: true }
const CHANGED = { id: 3, name: 'changed', sql: 'ALTER TABLE one DROP COLUMN note' }
const LATER = { id: 4, name: 'later', sql: 'CREATE TABLE two (id integer)', isExpansion: true }

describe('a gateway older than the schema', () => {
  async function migratedTo(...migrations: (typeof FIRST | typeof ADDED)[]): Promise<string> {
    const url = await emptyDatabase()
    await migrate(url, { migrations })
    return url
  }

  test('a gateway of an older version works with a newer schema that only has additions, and logs this', async () => {
    const url = await migratedTo(FIRST, ADDED)
    const newer: string[] = []
    await migrate(url, { migrations: [FIRST], onNewer: (names) => newer.push(names) })
    expect(newer).toEqual(['migration 2 (added)'])
  })

  test('a gateway of an older version refuses a newer schema with changes, even if additions followed', async () => {
    const url = await migratedTo(FIRST, ADDED, CHANGED, LATER)
    await expect(migrate(url, { migrations: [FIRST, ADDED] })).rejects.toThrow(
      'The database is newer than this version of the gateway: it has migrations 3 (changed), 4 (later), this version knows migrations up to ' +
        '2, and no version that does not know migration 3 can use it.',
    )
    await migrate(url, { migrations: [FIRST, ADDED, CHANGED] })
  })

  test('a gateway of an older version grants no rights on objects of a newer schema', async () => {
    const url = await emptyDatabase()
    const { sql } = connect(url)
    await sql.unsafe(
      `DO $$ BEGIN CREATE ROLE svc_gateway; CREATE ROLE svc_reader; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
    )
    await migrate(url)
    await sql`CREATE TABLE books_of_tomorrow (id integer)`
    await sql`INSERT INTO migrations (id, name, digest, requires) VALUES (9999, 'tomorrow', '', 0)`
    await migrate(url)
    const [row] = await sql`SELECT has_table_privilege('svc_gateway', 'books_of_tomorrow', 'DELETE') AS may`
    expect(row).toEqual({ may: false })
  })
})

describe('a database older than 1.0', () => {
  test('a database older than 1.0 is refused with one line that says what to do, and is not changed', async () => {
    const url = await emptyDatabase()
    const before = { id: 1, name: 'history', sql: 'CREATE TABLE accounts (id text); CREATE TABLE kept (id integer)' }
    await migrate(url, { migrations: [before] })
    const { sql } = connect(url)
    const state =
      () => sql`SELECT id, name, digest, (SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace)
      FROM migrations`
    const untouched = [...(await state())]
    const refused = await migrate(url).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(SchemaError)
    expect(String(refused)).toMatch(
      /made by a version before 1\.0.*nothing in it was changed\. Set DATABASE_URL to a new, empty/,
    )
    expect(String(refused)).not.toContain('\n')
    expect([...(await state())]).toEqual(untouched)
  })
})

describe('a role without create rights', () => {
  test('a role without create rights starts on a current schema; otherwise the error names the migration and the setting', async () => {
    const url = await emptyDatabase()
    const { sql } = connect(url)
    await sql.unsafe(
      "CREATE ROLE serves LOGIN PASSWORD 'serves'; REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO serves",
    )
    const served = new URL(url)
    served.username = 'serves'
    served.password = 'serves'
    await expect(migrate(served.href, { migrations: [FIRST, ADDED] })).rejects.toThrow(
      'The database lacks migrations 1 (first), 2 (added), which its role may not make (permission denied for schema public): ' +
        'set DATABASE_MIGRATOR_URL to the same database for the role that owns its tables.',
    )
    await migrate(url, { migrations: [FIRST] })
    await expect(migrate(served.href, { migrations: [FIRST] })).rejects.toThrow(
      'may not see which schema the database has',
    )
    await sql`GRANT SELECT ON migrations TO serves`
    await migrate(served.href, { migrations: [FIRST] })
    await expect(migrate(served.href, { migrations: [FIRST, ADDED] })).rejects.toThrow('lacks migration 2 (added)')
  })
})

describe('the schema files and the migrations', () => {
  test('schema files and migrations have the same tables, columns and nullability', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    const { sql } = connect(url)
    const actual = await sql<{ table: string; column: string; nullable: boolean }[]>`
      SELECT table_name AS table, column_name AS column, is_nullable = 'YES' AS nullable FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name <> 'migrations'
        AND NOT EXISTS (SELECT FROM pg_class WHERE relname = table_name AND relispartition)`
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
