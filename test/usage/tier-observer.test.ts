/** Counting the answers of tiers: which requests, how they ended, repeated questions; nothing is lost or kept. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type ManualClock, manualClock } from '@test/routing/world'
import { freshDatabase } from '@test/support/stores'
import { connectDatabase, type Database } from '@/db/client'
import { createLogger } from '@/lib/logger'
import { COUNTERS, dayOf, noCounts, readObservations } from '@/usage/observations'
import { createTierObserver, RETRY_MS, type TierObserver } from '@/usage/tier-observer'

let database: Database
let clock: ManualClock
let observer: TierObserver
const logger = createLogger({ level: 'error', write: () => undefined, service: 'svc' })

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 4 })
})
afterAll(() => database.close())
beforeEach(async () => {
  await database.sql`TRUNCATE tier_observations, feedback`
  clock = manualClock()
  observer = observe(1)
})

function observe(share: number, stores = database): TierObserver {
  const shareOf = (tier: string) => (tier === 'auto-smart' ? share : 0)
  return createTierObserver({ shareOf, database: stores, clock, logger })
}

const asked = {
  ...{ tier: 'auto-smart', model: 'svc/a', session: undefined as string | undefined, turns: 1 },
}
const id = () => `req_${crypto.randomUUID().replaceAll('-', '')}`
const WHOLE = { ending: 'complete', finish: 'stop', outputTokens: 7 } as const

function answered(change: Partial<typeof asked> = {}, requestId = id()) {
  return observer.answered({ ...asked, requestId, arrivedMs: clock.monotonic(), ...change })
}

async function sums() {
  await observer.flush()
  return readObservations(database, 1, clock.now())
}

test('answers are counted by finish reason', async () => {
  const ends = [
    { ending: 'complete', finish: 'stop' },
    { ending: 'complete', finish: 'length' },
    { ending: 'cut', finish: undefined },
    { ending: 'complete', finish: 'tool-calls' },
    { ending: 'complete', finish: 'content-filter' },
    { ending: 'broken', finish: undefined },
    { ending: 'disconnected', finish: undefined },
  ] as const
  for (const end of ends) answered()?.({ ...end, outputTokens: 10 })
  expect(await sums()).toEqual([
    {
      ...{ tier: 'auto-smart', model: 'svc/a', ...noCounts(), answers: 7, outputTokens: 70 },
      ...{ cutByLength: 2, toolCalls: 1, filtered: 1, broken: 1, leftEarly: 1 },
    },
  ])
})

describe('the share of counted requests', () => {
  test('with a share of 0 no answer is counted, and a request for a named model is never counted', async () => {
    observer = observe(0)
    for (let count = 0; count < 200; count++) expect(answered()).toBeUndefined()
    observer = observe(1)
    expect(answered({ tier: 'svc/a' })).toBeUndefined()
    expect(await sums()).toEqual([])
  })

  test('the share of counted requests is respected, and every process decides the same for a request', () => {
    observer = observe(0.25)
    const ids = Array.from({ length: 4_000 }, id)
    const chosen = ids.filter((requestId) => answered({}, requestId))
    expect(chosen.length).toBeGreaterThan(800)
    expect(chosen.length).toBeLessThan(1_200)
    expect(ids.filter((requestId) => answered({}, requestId))).toEqual(chosen)
  })
})

describe('repeated questions', () => {
  const session = 'a'.repeat(32)

  async function retriesAfter(pauseMs: number, second: Partial<typeof asked>): Promise<number | undefined> {
    answered({ session, turns: 3 })?.(WHOLE)
    clock.advance(pauseMs)
    answered({ session, turns: 3, model: 'svc/b', ...second })
    return (await sums()).find(({ model }) => model === 'svc/a')?.retries
  }

  test('a repeated question within a minute counts against the model that answered', async () => {
    expect(await retriesAfter(RETRY_MS - 1, {})).toBe(1)
  })

  test.each([
    ['later', RETRY_MS, {}],
    ['in the next turn of the conversation', 1_000, { turns: 5 }],
    ['in another conversation', 1_000, { session: 'b'.repeat(32) }],
    ['without a known conversation', 1_000, { session: undefined }],
  ])('a repeated question does not count: %s', async (_, pauseMs, second) => {
    expect(await retriesAfter(pauseMs, second)).toBe(0)
  })

  test('a question repeated three times counts once per answer', async () => {
    answered({ session })?.(WHOLE)
    for (let count = 0; count < 3; count++) answered({ session })
    expect(await sums()).toMatchObject([{ answers: 1, retries: 1 }])
  })
})

test('two gateways add to the same sums of a tier, and failed writes are repeated', async () => {
  const other = observe(1)
  other.answered({ ...asked, requestId: id(), arrivedMs: 0 })?.(WHOLE)
  await other.stop()
  answered()?.(WHOLE)
  await database.sql`ALTER TABLE tier_observations RENAME TO hidden`
  await expect(observer.flush()).rejects.toThrow()
  await database.sql`ALTER TABLE hidden RENAME TO tier_observations`
  expect(await sums()).toMatchObject([{ answers: 2, outputTokens: 14 }])
  expect(await sums()).toMatchObject([{ answers: 2 }])
})

test('the observer stores only names and numbers', async () => {
  answered({ session: 'secret-session' })?.(WHOLE)
  await observer.flush()
  const rows = await database.sql`SELECT * FROM tier_observations`
  const { day, tier, model, ...rest } = rows[0] ?? {}
  expect([String(tier), String(model), rows.length]).toEqual(['auto-smart', 'svc/a', 1])
  expect(new Date(day as string).toISOString().slice(0, 10)).toBe(dayOf(clock.now()))
  expect(Object.keys(rest)).toHaveLength(COUNTERS.length)
  for (const value of Object.values(rest)) expect(Number.isInteger(Number(value))).toBe(true)
})
