/** The audit log: only grows, in one order for concurrent writers, and shows tampering. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { freshDatabase } from '@test/support/stores'
import { type AuditEntry, recordAudit, verifyAuditChain } from '@/accounts/audit'
import { connectDatabase, type Database } from '@/db/client'

let database: Database

beforeAll(async () => {
  database = connectDatabase(await freshDatabase())
})
afterAll(() => database.close())

const entry: AuditEntry = {
  actor: { userId: 'user_1', email: 'root@example.test' },
  action: 'account.suspend',
  subject: 'acct_1',
  accountId: 'acct_1',
  details: { reason: 'unpaid', before: 'active', amount: '12.5', count: 3, isLarge: false, note: null },
  ip: '192.0.2.1',
  requestId: 'req_1',
}

describe('recordAudit', () => {
  test('S23: concurrent writers make one hash chain without gaps', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, index) => write({ ...entry, subject: `acct_${index}` })))
    const state = await verifyAuditChain(database)
    expect(state).toMatchObject({ kind: 'intact', entries: 40 })
    const [row] = await database.sql`SELECT count(DISTINCT subject)::int AS subjects FROM audit_entries`
    expect(row).toEqual({ subjects: 40 })
  })

  test('a failed transaction leaves no audit entry and no gap', async () => {
    const before = await verifyAuditChain(database)
    const failing = database.db.transaction(async (transaction) => {
      await recordAudit(transaction, entry)
      throw new Error('undone')
    })
    await expect(failing).rejects.toThrow('undone')
    await write(entry)
    const after = await verifyAuditChain(database)
    expect(after.kind === 'intact' && before.kind === 'intact' && after.entries - before.entries).toBe(1)
  })

  test('the hash chain stays valid for entries with any text and number', async () => {
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.double(), fc.boolean(), fc.constant(null))
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), value),
        fc.string({ unit: 'binary', minLength: 1 }),
        async (details, text) => {
          await write({ ...entry, details, subject: `a${text}`, actor: { userId: null, email: text } })
        },
      ),
      { numRuns: 60 },
    )
    expect((await verifyAuditChain(database)).kind).toBe('intact')
  })
})

describe('the table of audit entries', () => {
  test.each(['UPDATE audit_entries SET details = details', 'DELETE FROM audit_entries', 'TRUNCATE audit_entries'])(
    'the table of audit entries refuses %s',
    async (statement) => {
      await expect(database.sql.unsafe(statement).execute()).rejects.toThrow('append-only')
    },
  )

  test.each([
    ['S23: an altered entry', `UPDATE audit_entries SET details = '{"amount":"1"}' WHERE seq = 3`, 3, 'altered'],
    ['another actor', `UPDATE audit_entries SET actor_email = 'x@example.test' WHERE seq = 2`, 2, 'altered'],
    ['another time', `UPDATE audit_entries SET at = at + interval '1 hour' WHERE seq = 4`, 4, 'altered'],
    ['a removed entry', 'DELETE FROM audit_entries WHERE seq = 2', 2, 'missing'],
    ['a removed first entry', 'DELETE FROM audit_entries WHERE seq = 1', 1, 'missing'],
  ] as const)('the chain check finds what a superuser changed: %s', async (_, statement, seq, fault) => {
    const own = connectDatabase(await freshDatabase())
    for (let index = 0; index < 5; index++) await write(entry, own)
    expect((await verifyAuditChain(own)).kind).toBe('intact')
    await own.sql.unsafe(`ALTER TABLE audit_entries DISABLE TRIGGER USER; ${statement}`)
    expect(await verifyAuditChain(own)).toEqual({ kind: 'broken', seq, fault })
    await own.close()
  })

  test('if an audit entry and its hash were changed, the next entry’s link is wrong', async () => {
    const own = connectDatabase(await freshDatabase())
    for (let index = 0; index < 3; index++) await write(entry, own)
    const other = connectDatabase(await freshDatabase())
    await write({ ...entry, details: {} }, other)
    const [forged] = await other.sql`SELECT * FROM audit_entries`
    await own.sql.unsafe('ALTER TABLE audit_entries DISABLE TRIGGER USER')
    await own.sql`UPDATE audit_entries SET details = '{}', at = ${forged?.at}, hash = ${forged?.hash} WHERE seq = 1`
    expect(await verifyAuditChain(own)).toEqual({ kind: 'broken', seq: 2, fault: 'unlinked' })
    await Promise.all([own.close(), other.close()])
  })
})

function write(item: AuditEntry, { db }: Database = database): Promise<void> {
  return db.transaction((transaction) => recordAudit(transaction, item))
}
