/** Operator commands for the question "was I charged twice?": requests by cost and tag, likely duplicates, and keys by a former text. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Fixture, openFixture, SERVICE } from '@test/accounts/fixture'
import { newUser } from '@test/accounts/members/people'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { usageRecord } from '@test/usage/sample-records'
import { OPERATOR } from '@/accounts/audit'
import { rotateKey } from '@/accounts/rotation/rotate-key'
import { writeUsageBatch } from '@/usage/write-batch'
import { type Outcome, run } from './run'

const MINUTE_MS = 60_000

let redis: TestServer
let stores: Record<string, string>
let fixture: Fixture

beforeAll(async () => {
  redis = await startRedis()
  stores = { REDIS_URL: redis.url, DATABASE_URL: await freshDatabase() }
  fixture = await openFixture(redis.url, stores.DATABASE_URL ?? '')
})
afterAll(async () => {
  await fixture.close()
  await redis.stop()
})

function admin(line: string): Promise<Outcome> {
  return run(line.split(' '), stores)
}

type Listed = { requests: { requestId: string; sameAs: string | null }[]; nextCursor: string | null }
const listed = async (line: string) => (await admin(`request list ${line}`)).json as unknown as Listed

test('request list pages an account’s requests by day, cost and tag, and marks likely duplicates', async () => {
  const { accountId } = await newUser(fixture)
  const atMs = Date.UTC(2026, 2, 5, 12)
  const record = (requestId: string, minutes: number, cost: number, tags?: string[]) =>
    usageRecord({
      ...{ accountId, atMs: atMs + minutes * MINUTE_MS, cost },
      facts: { requestId, ...(tags && { labels: { tags } }) },
    })
  await fixture.database.sql`SELECT ensure_usage_partitions('2026-03-01'::date, 1)`
  await writeUsageBatch(fixture.database.sql, [
    record('first', 0, 5_000, ['team=search']),
    record('again', 2, 5_000),
    record('dearer', 3, 6_000),
    record('much-later', 40, 5_000),
  ])
  const all = await listed(`--account ${accountId} --from 2026-03-05 --to 2026-03-05`)
  expect(all.requests.map(({ requestId, sameAs }) => [requestId, sameAs])).toEqual([
    ['much-later', null],
    ['dearer', null],
    ['again', 'first'],
    ['first', 'again'],
  ])
  expect(all.nextCursor).toBeNull()
  const same = await listed(`--account ${accountId} --from 2026-03-05 --to 2026-03-05 --cost 0.000005 --limit 2`)
  expect(same.requests.map(({ requestId }) => requestId)).toEqual(['much-later', 'again'])
  const next = await listed(
    `--account ${accountId} --from 2026-03-05 --to 2026-03-05 --cost 0.000005 --cursor ${same.nextCursor}`,
  )
  expect(next.requests.map(({ requestId }) => requestId)).toEqual(['first'])
  const tagged = await listed(`--account ${accountId} --from 2026-03-05 --tag team=search`)
  expect(tagged.requests.map(({ requestId }) => requestId)).toEqual(['first'])
  expect((await listed(`--account ${accountId} --from 2026-03-06 --to 2026-03-07`)).requests).toEqual([])
})

test('request list explains wrong options', async () => {
  expect((await admin('request list --account acct_none')).stderr).toContain('no account acct_none')
  for (const [option, words] of [
    ['--from yesterday', '--from must be a day such as 2026-03-01'],
    ['--cost free', '--cost must be an amount in USD'],
    ['--cursor x', 'cursor'],
  ] as const) {
    const { accountId } = await newUser(fixture)
    expect((await admin(`request list --account ${accountId} ${option}`)).stderr).toContain(words)
  }
})

test('key search finds a rotated key by the last four characters of its former text while that text works', async () => {
  const { accountId } = await newUser(fixture)
  const { database, ledger, apiKeys } = fixture
  const made = await apiKeys.create({ accountId, name: 'ci' })
  if (made.kind !== 'created') throw new Error(made.kind)
  const { keyId, key } = made
  const former = key.slice(-4)
  await rotateKey(database, ledger, SERVICE, { keyId, accountId, overlapMs: 60 * MINUTE_MS, by: OPERATOR })
  const found = { keyId, formerSecret: { lastFour: former } }
  expect((await admin(`key search ${former}`)).json).toMatchObject({ keys: [found] })
  expect((await admin(`key show ${keyId}`)).json).toMatchObject(found)
  await database.sql`UPDATE key_secrets SET created_at = now() - interval '2 hours', ends_at = now() - interval '1 second' WHERE key_id = ${keyId}`
  expect((await admin(`key search ${former}`)).json).toMatchObject({ keys: [] })
  expect((await admin(`key show ${keyId}`)).json).toMatchObject({ keyId, formerSecret: null })
})
