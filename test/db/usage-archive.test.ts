/** The digests of archived months cover every column of a record, and every money column of a day. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { freshDatabase } from '@test/support/stores'
import { connectDatabase, type Database } from '@/db/client'
import { DAY_TEXT, RECORD_TEXT } from '@/db/usage-archive'

/** Columns of the daily sums that are no matter of money, or say whose they are. */
const UNDIGESTED_DAY_COLUMNS = ['account_id', 'duration_ms', 'errors', 'first_token_count', 'first_token_ms']

let database: Database

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 1 })
})
afterAll(() => database.close())

async function columnsOf(table: string): Promise<string[]> {
  const rows = await database.sql<{ name: string }[]>`
    SELECT attname AS name FROM pg_attribute WHERE attrelid = ${table}::text::regclass AND attnum > 0 AND NOT attisdropped`
  return rows.map(({ name }) => name)
}

const wordsOf = (text: string) => new Set(text.match(/\w+/g))

test.each(['usage_records', 'archived_usage_records'])(
  'the digest of a record has every column of %s',
  async (table) => {
    const digested = wordsOf(RECORD_TEXT)
    expect((await columnsOf(table)).filter((column) => !digested.has(column))).toEqual([])
  },
)

test('the hash of a day covers every money column of the daily sums', async () => {
  const digested = wordsOf(DAY_TEXT)
  const left = (await columnsOf('usage_daily')).filter((column) => !digested.has(column))
  expect(left.toSorted()).toEqual(UNDIGESTED_DAY_COLUMNS)
})
