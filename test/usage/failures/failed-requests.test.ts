/** Notes of failed requests: a sample of each hour and account, everything counted, nothing kept for longer than a week. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { memoryLogger } from '@test/ledger/harness'
import { type ManualClock, manualClock } from '@test/routing/world'
import { freshDatabase } from '@test/support/stores'
import { GatewayError } from '@/chat/error'
import { connectDatabase, type Database } from '@/db/client'
import {
  createFailedRequests,
  type FailedRequests,
  MAX_ALIKE_PER_HOUR,
  MAX_LISTED_PER_HOUR,
} from '@/usage/failures/failed-requests'
import { forgetOldFailures } from '@/usage/failures/failure-tables'

setDefaultTimeout(300_000)

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let database: Database
let clock: ManualClock
let failures: FailedRequests
let count = 0

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 4 })
})
afterAll(() => database.close())
beforeEach(async () => {
  await database.sql`TRUNCATE failed_requests, failed_request_counts`
  clock = manualClock(Date.parse('2026-11-21T12:30:00Z'))
  failures = notes()
})

function notes(stores = database): FailedRequests {
  return createFailedRequests({
    ...{ database: stores, clock, logger: memoryLogger() },
    isSold: (model) => model === 'svc/alpha',
  })
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
  test('is kept with who, when and why', async () => {
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

  test('without a valid key is nobody’s', async () => {
    fail({ error: new GatewayError('invalid_credentials', 'This API key is deactivated.') })
    await failures.flush()
    expect([...(await listed()), await counted()]).toEqual([0])
  })

  test('is written once, however often it is told', async () => {
    fail()
    await failures.flush()
    count -= 1
    fail()
    await failures.flush()
    expect((await listed()).length).toBe(1)
  })
})

describe('a flood', () => {
  test('is listed in part and counted whole, kind by kind, and another account is not the poorer for it', async () => {
    const kinds = Array.from(
      { length: 8 },
      (_, index) => new GatewayError('invalid_request', 'no', { code: `kind_${index}` }),
    )
    for (const error of kinds) for (let again = 0; again < 500; again++) fail({ error })
    fail({ accountId: 'acct_2', keyId: 'key_2' })
    await failures.flush()
    const rows = await listed()
    const own = rows.filter(({ account_id }) => account_id === 'acct_1')
    expect(own.length).toBe(MAX_LISTED_PER_HOUR)
    expect(own.filter(({ code }) => code === 'kind_0').length).toBe(MAX_ALIKE_PER_HOUR)
    expect(rows.length - own.length).toBe(1)
    expect(await counted()).toBe(4_001)
  })

  test('is sampled anew in the next hour', async () => {
    for (let again = 0; again < 100; again++) fail()
    clock.advance(HOUR_MS)
    for (let again = 0; again < 100; again++) fail()
    await failures.flush()
    expect((await listed()).length).toBe(2 * MAX_ALIKE_PER_HOUR)
    expect(
      await database.sql`SELECT count(*) AS hours, sum(requests)::bigint AS requests FROM failed_request_counts`,
    ).toEqual([{ hours: 2, requests: 200 }] as never)
  })

  test('while the history is away is kept within bounds, what is lost is counted, and the rest is written later', async () => {
    const away = connectDatabase('postgres://nobody@127.0.0.1:1/none', { maxConnections: 1 })
    const unwritten = notes(away)
    for (let account = 0; account < 3_000; account++) fail({ accountId: `acct_${account}`, into: unwritten })
    await expect(unwritten.flush()).rejects.toThrow()
    fail({ accountId: 'acct_late', into: unwritten })
    expect(unwritten.lostCount()).toBe(1_001)
    await away.close()
  })

  test('of two processes is added up', async () => {
    const other = notes()
    for (let again = 0; again < 40; again++) fail({ into: again % 2 === 0 ? failures : other })
    await Promise.all([failures.flush(), other.flush()])
    expect(await counted()).toBe(40)
  })
})

test('what is older than seven days is forgotten', async () => {
  fail()
  clock.advance(DAY_MS)
  fail()
  await failures.flush()
  await forgetOldFailures(database, clock.now() + 6 * DAY_MS - HOUR_MS)
  expect((await listed()).length).toBe(2)
  await forgetOldFailures(database, clock.now() + 6 * DAY_MS + HOUR_MS)
  expect([(await listed()).length, await counted()]).toEqual([1, 1])
})

test('a worker writes by itself, and what is left when it stops', async () => {
  fail()
  failures.start()
  await failures.stop()
  expect((await listed()).length).toBe(1)
})
