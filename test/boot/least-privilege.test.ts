/** The rights of the embedded stores' users: enough for the gateway, and nothing that changes the books or controls the servers. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asGateway, freshDatabase, redisUrl } from '@test/support/stores'
import { Redis } from 'ioredis'
import { recordAudit } from '@/accounts/audit'
import { startEmbeddedPostgres } from '@/boot/embedded/postgres'
import { preparePostgresRoles } from '@/boot/postgres-roles'
import { connectDatabase, type Database } from '@/db/client'
import { MIGRATIONS, migrate } from '@/db/migrate'

const DENIED = /permission denied|must be owner/
let database: Database
let redis: Redis

beforeAll(async () => {
  database = connectDatabase(asGateway(await freshDatabase()), { maxConnections: 2 })
  redis = new Redis(asGateway(await redisUrl()))
})
afterAll(async () => {
  redis.disconnect()
  await database.close()
})

function messageOf(statement: string): Promise<string> {
  return database.sql.unsafe(statement).then(
    () => 'done',
    (error: Error) => error.message,
  )
}

describe('S26: the gateway’s database role', () => {
  test.each([
    'UPDATE audit_entries SET details = details',
    'DELETE FROM audit_entries',
    'TRUNCATE audit_entries',
    'ALTER TABLE audit_entries DISABLE TRIGGER USER',
    'UPDATE ledger_entries SET amount_nano = 1',
    'DELETE FROM ledger_entries',
    'ALTER TABLE ledger_entries DISABLE TRIGGER ALL',
    'UPDATE usage_records SET cost_nano = 0',
    'DELETE FROM usage_records',
    'UPDATE usage_records_default SET cost_nano = 0',
    'DELETE FROM accounts',
    'DELETE FROM migrations',
    'DROP TABLE accounts',
    'CREATE TABLE public.mine (id int)',
    'CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
    'SET ROLE svc_migrator',
    'CREATE ROLE mine',
    "COPY accounts TO PROGRAM 'cat'",
    "SELECT pg_read_file('/etc/passwd')",
    'SET session_replication_role = replica',
  ])('S26: the gateway’s database role may not: %s', async (statement) => {
    expect(await messageOf(statement)).toMatch(DENIED)
  })

  test('S26: the gateway’s database role can add to the audit log and create months of usage records', async () => {
    const entry = {
      actor: { userId: null, email: 'operator' },
      action: 'test.run',
      subject: 's',
      accountId: null,
      details: {},
    }
    await database.db.transaction((transaction) => recordAudit(transaction, entry))
    expect(await messageOf(`SELECT ensure_usage_partitions('2040-01-01', 2)`)).toBe('done')
    expect(await messageOf('UPDATE usage_records_204001 SET cost_nano = 0')).toMatch(DENIED)
  })
})

describe('S26: the reports role', () => {
  test('S26: the reports role reads reports, but no credentials', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-roles-'))
    const server = await startEmbeddedPostgres({ dataDir, progress: () => undefined, settings: { fsync: 'off' } })
    try {
      // As a start without roles left it: everything belongs to the superuser.
      await migrate(server.url)
      const { migratorUrl, readerUrl } = await preparePostgresRoles(dataDir, server.url)
      await migrate(migratorUrl)
      const reader = connectDatabase(readerUrl, { maxConnections: 1 })
      expect(await reader.sql`SELECT id FROM migrations`).toHaveLength(MIGRATIONS.length)
      await reader.sql`SELECT * FROM usage_records, ledger_entries, audit_entries`
      for (const secret of [
        'users',
        'credentials',
        'sessions',
        'two_factors',
        'verifications',
        'api_keys',
        'sign_in_secret',
      ]) {
        await expect(reader.sql.unsafe(`SELECT * FROM ${secret}`)).rejects.toThrow(DENIED)
      }
      await expect(reader.sql`INSERT INTO accounts (id, name, email) VALUES ('a', 'a', 'a@b')`).rejects.toThrow(DENIED)
      await reader.close()
    } finally {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    }
  })
})

describe('S25: the gateway’s Redis user', () => {
  test.each([
    ...['CONFIG GET *', 'CONFIG SET dir /tmp', 'FLUSHALL', 'FLUSHDB', 'KEYS *', 'MODULE LIST', 'REPLICAOF NO ONE'],
    ...['SHUTDOWN', 'ACL LIST', 'CLIENT KILL TYPE normal', 'MONITOR', 'SAVE', 'SCRIPT FLUSH', 'FUNCTION LIST'],
    ...['SUBSCRIBE anything', 'GET somebody-elses', 'SET somebody-elses 1'],
  ])('S25: the gateway’s Redis user may not: %s', async (line) => {
    const [command = '', ...args] = line.split(' ')
    await expect(redis.call(command, ...args)).rejects.toThrow(/NOPERM/)
  })

  test('S25: the gateway’s Redis user may not use forbidden commands in a script either', async () => {
    const refused = /can't access at least one of the keys|can't run this command/
    await expect(redis.eval("return redis.call('GET', 'somebody-elses')", 0)).rejects.toThrow(refused)
    await expect(redis.eval("return redis.call('KEYS', '*')", 0)).rejects.toThrow(refused)
  })

  test('S25: the gateway’s Redis user can use the gateway’s own keys', async () => {
    await redis.set('ledger-check:test', '1', 'PX', 1_000)
    expect(await redis.get('ledger-check:test')).toBe('1')
    expect(await redis.eval("return redis.call('GET', KEYS[1])", 1, 'ledger-check:test')).toBe('1')
  })
})
