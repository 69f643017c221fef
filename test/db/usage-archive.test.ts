/** What the digests of archived months cover: all that there is, in versions that never change. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { freshDatabase } from '@test/support/stores'
import { connectDatabase, type Database } from '@/db/client'
import { DIGEST_TEXTS } from '@/db/usage-archive'

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

describe('the version that months are sealed with', () => {
  test.each(['usage_records', 'archived_usage_records'])('has every column of %s', async (table) => {
    const digested = wordsOf(DIGEST_TEXTS.at(-1)?.record ?? '')
    expect((await columnsOf(table)).filter((column) => !digested.has(column))).toEqual([])
  })

  test('the version that months are sealed with has every column of the daily sums that is a matter of money', async () => {
    const digested = wordsOf(DIGEST_TEXTS.at(-1)?.day ?? '')
    const left = (await columnsOf('usage_daily')).filter((column) => !digested.has(column))
    expect(left.toSorted()).toEqual(UNDIGESTED_DAY_COLUMNS)
  })
})

test('a version that months may have been sealed with is what it was', () => {
  const digests = DIGEST_TEXTS.map(({ record, day }) =>
    [record, day].map((text) => Bun.hash(text.replaceAll(/\s+/g, ' ')).toString(16)),
  )
  expect(digests).toEqual([
    ['23bc5124f238f0ad', '13dcd5818f1bde6c'],
    ['6a22c1a59919c668', '13dcd5818f1bde6c'],
  ])
})
