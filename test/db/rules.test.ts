/** Constraints of the database, whatever the code does. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { freshDatabase } from '@test/support/stores'
import { connectDatabase, type Database } from '@/db/client'
import { databaseFailure } from '@/db/failure'

let database: Database

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 4 })
  await database.sql`INSERT INTO accounts (id, name, email) VALUES ('acct_1', 'One', 'one@example.test')`
  await database.sql`INSERT INTO ledger_entries (id, account_id, kind, amount_nano, reference)
    VALUES ('entry_1', 'acct_1', 'credit', 5, 'first')`
})
afterAll(() => database.close())

describe('ledger entries', () => {
  test.each([
    'UPDATE ledger_entries SET amount_nano = 6',
    'DELETE FROM ledger_entries',
    'TRUNCATE ledger_entries CASCADE',
  ])('ledger entries are append-only: %s', async (statement) => {
    const error = await failureOf(statement)
    expect(error.message).toContain('append-only')
    const rows = await database.sql`SELECT amount_nano FROM ledger_entries`
    expect([...rows]).toEqual([{ amount_nano: 5 }])
  })

  test.each([
    ["'acct_1', 'credit', 7, 'first'", 'the reference of another entry'],
    ["'acct_1', 'credit', -7, 'second'", 'a negative credit'],
    ["'acct_1', 'credit', 0, 'third'", 'nothing'],
    ["'acct_1', 'credit', 9000000000000001, 'fourth'", 'more than nine million dollars'],
    ["'acct_2', 'credit', 1, 'fifth'", 'an unknown account'],
    ["'acct_1', 'gift', 1, 'sixth'", 'an unknown kind'],
    ["'acct_1', 'transfer', 0, 'seventh'", 'a transfer of nothing'],
  ])('ledger entries refuse %s: %s', async (values) => {
    const statement = `INSERT INTO ledger_entries (id, account_id, kind, amount_nano, reference) VALUES ('entry_x', ${values})`
    expect(databaseFailure(await failureOf(statement))).toBe('data')
  })
})

describe('transfers of credit', () => {
  const insert = (id: string, rest: string) => `INSERT INTO credit_transfers
    (id, from_account_id, to_account_id, amount_nano, debit_entry_id, credit_entry_id, moved_by, request_key) VALUES ('${id}', ${rest})`

  beforeAll(async () => {
    await database.sql.unsafe(`
      INSERT INTO accounts (id, name, email) VALUES ('acct_5', 'Five', 'five@example.test');
      INSERT INTO ledger_entries (id, account_id, kind, amount_nano, reference) VALUES
        ('out', 'acct_1', 'transfer', -3, 'transfer:t'), ('in', 'acct_5', 'transfer', 3, 'transfer:t');
      ${insert('t', "'acct_1', 'acct_5', 3, 'out', 'in', 'user', 'k'")}`)
  })

  test.each(['UPDATE credit_transfers SET amount_nano = 6', 'DELETE FROM credit_transfers'])(
    'transfers of credit are append-only: %s',
    async (statement) => {
      expect((await failureOf(statement)).message).toContain('append-only')
    },
  )

  test.each([
    ["'acct_1', 'acct_5', 3, 'entry_1', 'none', 'user', 'l'", 'an entry that does not exist'],
    ["'acct_1', 'acct_5', 3, 'out', 'entry_1', 'user', 'l'", 'the entry of another account'],
    ["'acct_1', 'acct_1', 3, 'entry_1', 'entry_1', 'user', 'l'", 'one account on both sides'],
    ["'acct_1', 'acct_5', 0, 'entry_1', 'entry_1', 'user', 'l'", 'nothing'],
    ["'acct_1', 'acct_5', 3, 'entry_1', 'entry_1', 'user', 'k'", 'the request key of another transfer'],
  ])('transfers refuse %s: %s', async (rest) => {
    expect(databaseFailure(await failureOf(insert('u', rest)))).toBe('data')
  })
})

describe('accounts and keys', () => {
  test('an e-mail address belongs to one account, in any letter case', async () => {
    const error = await failureOf(
      `INSERT INTO accounts (id, name, email) VALUES ('acct_9', 'Nine', 'ONE@Example.test')`,
    )
    expect(error.message).toContain('accounts_email_key')
  })

  test.each(['status = $$gone$$', 'balance_nano = 9000000000000001', 'name = $$$$', 'ledger_seq = -1'])(
    'an account cannot have %s',
    async (change) => {
      expect(databaseFailure(await failureOf(`UPDATE accounts SET ${change}`))).toBe('data')
    },
  )

  const digest = 'a0'.repeat(32)
  test.each([digest.toUpperCase(), digest.slice(1), `${digest}0`, `${digest.slice(1)}g`, `${digest.slice(2)} \t`])(
    'a digest is 64 lower-case hexadecimal characters, not %j',
    async (wrong) => {
      const key = (hash: string) => `INSERT INTO api_keys (id, account_id, name, key_hash, prefix, last_four)
        VALUES ('key_1', 'acct_1', 'key', '${hash}', 'svc-', 'wxyz')`
      const charged = (hash: string) =>
        `INSERT INTO charged_idempotency_keys VALUES ('acct_1', '${hash}', 'r', 'k', now())`
      for (const insert of [key, charged]) expect(databaseFailure(await failureOf(insert(wrong)))).toBe('data')
    },
  )

  test('a hash of the right length and alphabet is accepted', async () => {
    await database.sql`INSERT INTO api_keys (id, account_id, name, key_hash, prefix, last_four)
      VALUES ('key_1', 'acct_1', 'key', ${digest}, 'svc-', 'wxyz')`
    await database.sql`INSERT INTO charged_idempotency_keys VALUES ('acct_1', ${digest}, 'r', 'k', now())`
  })
})

describe('usage partitions', () => {
  test('rows that were written before their month’s partition existed move into it', async () => {
    const { sql } = database
    await sql.unsafe(insertRecord('h_early', '2031-03-31T23:59:59.999Z'))
    await sql.unsafe(insertRecord('h_later', '2031-04-01T00:00:00Z'))
    expect(await partitionOf('h_early')).toBe('usage_records_default')
    await sql`SELECT ensure_usage_partitions('2031-03-15', 1)`
    expect(await partitionOf('h_early')).toBe('usage_records_203103')
    expect(await partitionOf('h_later')).toBe('usage_records_default')
  })

  test('usage partitions can be created concurrently and repeatedly', async () => {
    const { sql } = database
    const made = await Promise.all(
      [1, 2, 3, 4].map(() => sql<{ made: number }[]>`SELECT ensure_usage_partitions('2032-11-01', 4) AS made`),
    )
    expect(made.map(([row]) => row?.made).sort()).toEqual([0, 0, 0, 4])
    await sql.unsafe(insertRecord('h_year', '2033-01-01T00:00:00Z'))
    expect(await partitionOf('h_year')).toBe('usage_records_203301')
  })

  test('every partition has an index to find an account’s record', async () => {
    const { sql } = database
    const plan = await sql.begin(async (transaction) => {
      await transaction`SET LOCAL enable_seqscan = off`
      return await transaction`EXPLAIN SELECT * FROM usage_records WHERE account_id = 'a' ORDER BY settled_at DESC LIMIT 50`
    })
    const text = plan.map((row) => row['QUERY PLAN']).join('\n')
    expect(text).toContain('usage_records_default_account_id_settled_at_idx')
    expect(text).not.toContain('Seq Scan')
  })
})

async function failureOf(statement: string): Promise<Error> {
  try {
    await database.sql.unsafe(statement)
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error(`was accepted: ${statement}`)
}

async function partitionOf(recordId: string): Promise<string> {
  const [row] =
    await database.sql`SELECT tableoid::regclass::text AS name FROM usage_records WHERE event_id = ${recordId}`
  return row?.name
}

function insertRecord(recordId: string, settledAt: string): string {
  return `INSERT INTO usage_records VALUES ('${recordId}', '${recordId}', 'acct_1', 'key_1', 'settle', 1, 1, 1, '${settledAt}',
    'request', 'svc/alpha', 'svc/alpha', 'provider1', 'alpha', 'messages', 'messages', 1, 0, 0, 0, 1, 0, 'usage', '{}',
    false, 200, 1, '${settledAt}', NULL, 5)`
}
