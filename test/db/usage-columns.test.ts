/** The table of usage record columns equals Postgres' columns, and each column is written, digested and read by it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { freshDatabase } from '@test/support/stores'
import { usageRecord } from '@test/usage/sample-records'
import { ZERO_USAGE } from '@/chat/usage'
import { connectDatabase, type Database } from '@/db/client'
import { usageColumns } from '@/db/schema'
import { nano } from '@/lib/money'
import { copyRecords, insertRecords } from '@/usage/insert-records'

let database: Database

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 1 })
})
afterAll(() => database.close())

test.each(['usage_records', 'archived_usage_records'])(
  'names, types and nullability equal those of %s',
  async (table) => {
    const stored = await database.sql<{ name: string; type: string; isNullable: boolean }[]>`
    SELECT attname AS name, format_type(atttypid, atttypmod) AS type, NOT attnotnull AS "isNullable" FROM pg_attribute
    WHERE attrelid = ${table}::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attname`
    const columns = usageColumns.map(({ name, type, isNullable }) => ({ name, type, isNullable }))
    expect(columns.toSorted((one, other) => (one.name < other.name ? -1 : 1))).toEqual([...stored])
  },
)

/** Has something to say in every column. */
const WHOLE = usageRecord({
  flags: ['overrun'],
  memberId: 'user_1',
  facts: {
    usage: { ...ZERO_USAGE, units: [{ billable: 'output_image', unit: 'image', count: 1 }] },
    tools: [{ name: 'web_search', uses: 1, cost: nano(1) }],
    labels: { tags: ['team=search', 'env=a"b\\c'], app: 'https://app.example', endUser: 'a1' },
    ...{ answerId: 'chatcmpl-1', finish: 'stop', serviceTier: 'flex' },
    data: { rules: ['no-training (key)'], terms: 'retention none, trains false, region eu' },
    providerCost: nano(7),
    counts: { gaps: ['input_over'], providerInput: 1, providerOutput: 2, localInput: 3, localOutput: 4 },
  },
})

test.each([
  ['COPY', copyRecords],
  ['INSERT', insertRecords],
] as const)('every column of usage records is written by %s', async (_, write) => {
  await database.sql`TRUNCATE usage_records`
  await database.sql.begin<unknown>((transaction) => write(transaction, [WHOLE]))
  const [row = {}] = await database.sql<Record<string, unknown>[]>`SELECT * FROM usage_records`
  expect(Object.keys(row)).toHaveLength(usageColumns.length)
  expect(Object.entries(row).filter(([, value]) => value === null)).toEqual([])
})
