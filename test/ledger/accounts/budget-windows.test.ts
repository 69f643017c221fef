/** Budget windows, computed equally by Lua and by Postgres at any moment, across leap days and new years. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { redisUrl } from '@test/support/stores'
import Redis from 'ioredis'
import { BUDGET_WINDOWS, windowEnd, windowNumbers } from '@/ledger/budgets'
import budgetsText from '@/ledger/scripts/preludes/budgets.lua' with { type: 'text' }
import preludeText from '@/ledger/scripts/preludes/prelude.lua' with { type: 'text' }

const MS_PER_DAY = 86_400_000
const FIRST_MS = Date.UTC(2024, 0, 1)
const LAST_MS = Date.UTC(2101, 0, 1)
/** Two years, one of them with a leap day, and those around 2100, which has none. */
const PERIODS = [
  [FIRST_MS, Date.UTC(2026, 0, 1)],
  [Date.UTC(2099, 6, 1), LAST_MS],
] as const
/** Numbers of windows, then their ends, of each moment. */
const SCRIPT = `${preludeText}
${budgetsText}
local answer = {}
for index = 1, #ARGV do
  local windows = windowsAt(tonumber(ARGV[index]))
  for window = 1, #WINDOWS do
    answer[#answer + 1] = string.format('%.0f', windows[window])
    answer[#answer + 1] = string.format('%.0f', endOfWindow(window, windows[window]))
  end
end
return answer`

let redis: Redis

beforeAll(async () => {
  redis = new Redis(await redisUrl())
})
afterAll(() => redis.disconnect())

/** What the store says of moments: number and end of each window; -1 for the one that never ends. */
async function ofStore(moments: readonly number[]): Promise<number[]> {
  return ((await redis.eval(SCRIPT, 0, ...moments)) as string[]).map(Number)
}

function ofHistory(moments: readonly number[]): number[] {
  return moments.flatMap((ms) =>
    BUDGET_WINDOWS.flatMap((window) => [windowNumbers(ms)[window], windowEnd(window, ms) ?? -1]),
  )
}

test('a budget’s day window is the same at its first and last millisecond, on each day of some years', async () => {
  const edges = PERIODS.flatMap(([first, last]) =>
    Array.from({ length: (last - first) / MS_PER_DAY }, (_, day) => first + day * MS_PER_DAY).flatMap((ms) => [
      ms - 1,
      ms,
    ]),
  )
  for (let from = 0; from < edges.length; from += 1_000) {
    const part = edges.slice(from, from + 1_000)
    expect(await ofStore(part)).toEqual(ofHistory(part))
  }
})

test('all moments of a budget window give the same window, and the next one begins at its end', async () => {
  const moments = fc.array(fc.integer({ min: FIRST_MS, max: LAST_MS }), { minLength: 1, maxLength: 50 })
  await fc.assert(
    fc.asyncProperty(moments, async (some) => {
      expect(await ofStore(some)).toEqual(ofHistory(some))
      for (const ms of some) {
        for (const window of ['day', 'week', 'month'] as const) {
          const end = windowEnd(window, ms) ?? expect.unreachable()
          expect(windowNumbers(end - 1)[window]).toBe(windowNumbers(ms)[window])
          expect(windowNumbers(end)[window]).toBeGreaterThan(windowNumbers(ms)[window])
        }
      }
    }),
  )
})

test.each([
  ['week', '2026-11-22T23:59:59.999Z', '2026-11-23T00:00:00.000Z'],
  ['week', '2026-12-31T12:00:00.000Z', '2027-01-04T00:00:00.000Z'],
  ['month', '2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  ['day', '2028-02-28T23:59:59.999Z', '2028-02-29T00:00:00.000Z'],
  ['month', '2027-12-31T23:59:59.999Z', '2028-01-01T00:00:00.000Z'],
] as const)('the budget window %s that contains %s ends at %s', (window, moment, end) => {
  expect(windowEnd(window, Date.parse(moment))).toBe(Date.parse(end))
})
