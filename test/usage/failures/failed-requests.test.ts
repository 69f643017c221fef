/** Records of failed requests: at most 10,000 a day and account are listed, all are counted, and all are deleted after thirty days. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { memoryLogger } from '@test/ledger/harness'
import { type ManualClock, manualClock } from '@test/routing/world'
import { freshDatabase } from '@test/support/stores'
import { until } from '@test/support/until'
import { GatewayError } from '@/chat/error'
import { sumFailures } from '@/console/usage-views/failures/failure-search'
import { connectDatabase, type Database } from '@/db/client'
import { createFailedRequests, type FailedRequests } from '@/usage/failures/failed-requests'
import { forgetOldCounts, MAX_LISTED_PER_DAY } from '@/usage/failures/failure-tables'

const DAY_MS = 86_400_000

let database: Database
let clock: ManualClock
let failures: FailedRequests
let count = 0

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 4 })
})
afterAll(() => database.close())
beforeEach(async () => {
  await database.sql`TRUNCATE failed_requests, failed_request_counts, failed_request_days`
  clock = manualClock(Date.parse('2026-11-21T12:30:00Z'))
  failures = notes()
})

function notes(): FailedRequests {
  return createFailedRequests({ database, clock, logger: memoryLogger() })
}

type Changes = { accountId?: string; keyId?: string; model?: string; error?: unknown; into?: FailedRequests }

function fail({ accountId = 'acct_1', keyId = 'key_1', model, error = TOO_FAST, into = failures }: Changes = {}): void {
  count += 1
  into.note({ requestId: `req_${count}`, payer: { accountId, keyId }, format: 'messages', model, error })
}

const TOO_FAST = new GatewayError('rate_limited', 'Rate limit reached: 5 requests per minute.', {
  code: 'rate_limit_exceeded',
})

function listed() {
  return database.sql`SELECT account_id, key_id, status, code, model, words FROM failed_requests ORDER BY request_id`
}

async function counted(): Promise<number> {
  const [row] = await database.sql`SELECT coalesce(sum(requests), 0)::bigint AS requests FROM failed_request_counts`
  return row?.requests
}

describe('a failed request', () => {
  test('a failed request is stored with account, time and reason', async () => {
    fail({
      model: 'svc/alpha',
      error: new GatewayError('invalid_request', 'messages is required', { param: 'messages' }),
    })
    fail({ model: 'my secret', error: new TypeError('what nobody may read') })
    await failures.flush()
    const kept = { account_id: 'acct_1', key_id: 'key_1' }
    expect([...(await listed())]).toEqual([
      { ...kept, status: 400, code: 'invalid_request', model: 'svc/alpha', words: 'messages is required' },
      { ...kept, status: 500, code: 'internal', model: null, words: 'The service had an internal error. Try again.' },
    ])
    const [row] = await database.sql`SELECT failed_at, param, format FROM failed_requests WHERE status = 400`
    expect(row).toMatchObject({ param: 'messages', format: 'messages' })
    expect(Date.parse(row?.failed_at)).toBe(clock.now())
  })

  test('a failed request has the requested model, unless it may be content or a secret', async () => {
    const names = ['svc/alfa', 'claude-sonnet-5-5', 'us.anthropic.claude-v1:0', '@cf/meta/llama-3']
    const hidden = [
      'my secret plan',
      'sk-ant-0123456789abcdef',
      `svc-${'a1B2'.repeat(9)}`,
      'x'.repeat(129),
      '<b>x</b>',
      '',
    ]
    for (const model of [...names, ...hidden]) fail({ model })
    await failures.flush()
    const kept = (await listed()).map(({ model }) => model)
    expect(kept.filter((model) => model !== null).sort()).toEqual(names.sort())
    expect(kept).toHaveLength(names.length + hidden.length)
  })

  test('a failed request without a valid key belongs to no account', async () => {
    fail({ error: new GatewayError('invalid_credentials', 'This API key is deactivated.') })
    await failures.flush()
    expect([...(await listed()), await counted()]).toEqual([0])
  })

  test('a failed request is stored once, however often it is reported', async () => {
    fail()
    await failures.flush()
    count -= 1
    fail()
    await failures.flush()
    expect((await listed()).length).toBe(1)
  })
})

/** As many as one process lists of an account between two writings. */
const AT_ONCE = 1_000

async function rowsOf(accountId: string): Promise<number> {
  return (await listed()).filter(({ account_id }) => account_id === accountId).length
}

describe('a flood of failures', () => {
  test('all gateways together list at most 10,000 failures of an account a day; the rest is counted by reason', async () => {
    const other = notes()
    const slow = new GatewayError('overloaded', 'Slow.', { code: 'slow' })
    for (let round = 0; round < 7; round++) {
      for (let again = 0; again < AT_ONCE; again++) {
        fail({})
        fail({ into: other, error: slow })
      }
      await Promise.all([failures.flush(), other.flush()])
    }
    expect(await rowsOf('acct_1')).toBe(MAX_LISTED_PER_DAY)
    const sums = await sumFailures(database, { accountId: 'acct_1' }, clock.now())
    expect(sums.map(({ status, code, requests }) => [status, code, requests]).sort()).toEqual([
      [429, 'rate_limit_exceeded', 7 * AT_ONCE],
      [503, 'slow', 7 * AT_ONCE],
    ])
    expect(sums.reduce((sum, { kept }) => sum + kept, 0)).toBe(MAX_LISTED_PER_DAY)
    clock.advance(DAY_MS)
    fail()
    await failures.flush()
    expect(await rowsOf('acct_1')).toBe(MAX_LISTED_PER_DAY + 1)
  })

  test('many failing accounts leave room in the list for each other', async () => {
    for (let account = 0; account < 10; account++)
      for (let again = 0; again < 2 * AT_ONCE; again++) fail({ accountId: `flood_${account}` })
    for (let again = 0; again < 5; again++) fail({ accountId: 'acct_2' })
    await failures.flush()
    expect(await rowsOf('flood_0')).toBe(AT_ONCE)
    expect(await rowsOf('flood_9')).toBe(20)
    expect(await rowsOf('acct_2')).toBe(5)
    expect(await counted()).toBe(20_005)
  })

  test('many error codes of one account do not reduce another account’s counts', async () => {
    for (let code = 0; code < 3_000; code++)
      fail({ accountId: 'flood', error: new GatewayError('invalid_request', 'no', { code: `code_${code}` }) })
    fail({ accountId: 'acct_2' })
    await failures.flush()
    expect([failures.lostCount(), await counted()]).toEqual([2_000, 1_001])
  })

  test('while Postgres is unreachable the buffer is limited, losses are counted, and the rest is written later', async () => {
    const { sql } = database
    await sql`ALTER TABLE failed_request_counts RENAME TO away`
    for (let account = 0; account < 21_000; account++) fail({ accountId: `acct_${account}` })
    await expect(failures.flush()).rejects.toThrow()
    fail({ accountId: 'acct_late' })
    expect(failures.lostCount()).toBe(1_001)
    await sql`ALTER TABLE away RENAME TO failed_request_counts`
    await failures.flush()
    const [row] = await sql`SELECT sum(requests)::bigint AS requests, sum(kept)::bigint AS kept,
      (SELECT count(*) FROM failed_requests) AS listed FROM failed_request_counts`
    expect(row).toEqual({ requests: 20_000, kept: 5_000, listed: 5_000 })
  })

  test('failure counts of two processes are added up', async () => {
    const other = notes()
    for (let again = 0; again < 40; again++) fail({ into: again % 2 === 0 ? failures : other })
    await Promise.all([failures.flush(), other.flush()])
    expect(await counted()).toBe(40)
  })
})

test('failures are in daily partitions, which are dropped with their sums after thirty days', async () => {
  const keep = (day: string) => database.sql`SELECT keep_failure_partitions(${day}::text::date) AS made`
  const partitions = async () => {
    const rows = await database.sql`SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
      WHERE inhparent = 'failed_requests'::regclass ORDER BY relname`
    return rows.map(({ relname }) => relname.slice('failed_requests_'.length))
  }
  clock.advance(-100 * DAY_MS)
  const days = ['20260812', '20260813', '20260814', '20260815', '20260816']
  fail()
  await failures.flush()
  expect([...(await keep('2026-08-13'))]).toEqual([{ made: 4 }])
  expect(await partitions()).toEqual(expect.arrayContaining(days.slice(0, 4)))
  clock.advance(DAY_MS)
  fail()
  await failures.flush()
  expect([...(await keep('2026-08-14'))]).toEqual([{ made: 1 }])
  const rows = await database.sql`SELECT tableoid::regclass::text AS at FROM failed_requests ORDER BY failed_at`
  expect(rows.map(({ at }) => at)).toEqual(['failed_requests_20260813', 'failed_requests_20260814'])
  for (const [later, left] of [
    [29, 2],
    [30, 1],
    [31, 0],
  ] as const) {
    const atMs = clock.now() + later * DAY_MS
    await keep(new Date(atMs).toISOString().slice(0, 10))
    await forgetOldCounts(database, atMs)
    expect([(await listed()).length, await counted()]).toEqual([left, left])
  }
  expect((await partitions()).filter((day) => days.includes(day))).toEqual(['20260815', '20260816'])
  const [day] = await database.sql`SELECT count(*) AS days FROM failed_request_days`
  expect(day?.days).toBe(0)
})

test('a flush of failures waits for a running one', async () => {
  const locked = await database.sql.reserve()
  await locked`BEGIN`
  await locked`LOCK TABLE failed_request_counts IN ACCESS EXCLUSIVE MODE`
  fail()
  const ended: string[] = []
  const flushes = ['first', 'second'].map((name) => failures.flush().then(() => ended.push(name)))
  await until(
    async () =>
      (
        await locked`SELECT FROM pg_locks JOIN pg_database d ON d.oid = database WHERE NOT granted AND datname = current_database()`
      ).length > 0,
  )
  expect(ended).toEqual([])
  await locked`COMMIT`
  locked.release()
  await Promise.all(flushes)
  expect(ended).toEqual(['first', 'second'])
})

test('the worker for failures writes regularly, and writes the rest when it stops', async () => {
  fail()
  failures.start()
  await failures.stop()
  expect((await listed()).length).toBe(1)
})
