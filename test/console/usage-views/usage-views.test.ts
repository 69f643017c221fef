/** What an account looks up of its usage: in turns, so that nobody else's pages wait for one who looks up much. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { until } from '@test/support/until'
import { createUsageViews } from '@/console/usage-views/usage-views'
import type { Database } from '@/db/client'
import { systemClock } from '@/lib/clock'
import { SHARED } from '@/limits/shared-resources'

setDefaultTimeout(300_000)

/** Statements of a choice. */
const EACH = 2

/** A history that answers nothing until it is told to. */
function silentHistory() {
  const asked: { accountId: unknown; answer(): void }[] = []
  const sql = (_: readonly string[], accountId: unknown) => {
    const { promise, resolve } = Promise.withResolvers<unknown[]>()
    asked.push({ accountId, answer: () => resolve([]) })
    return promise
  }
  return { database: { sql } as unknown as Database, asked }
}

test('an account has some look-ups at once; the next waits for them, and another account does not', async () => {
  const { database, asked } = silentHistory()
  const askedBy = (accountId: string) => asked.filter((one) => one.accountId === accountId).length
  const views = createUsageViews({
    ...{ database, clock: systemClock },
    ...{ logger: undefined as never, ledger: undefined as never, priceUsage: undefined as never },
  })
  const mine = Array.from({ length: SHARED.pageReads.perAccount + 1 }, () => views.choices({ accountId: 'acct_1' }))
  const other = views.choices({ accountId: 'acct_2' })
  await until(() => askedBy('acct_2') === EACH, 'the other one to be heard')
  expect(askedBy('acct_1')).toBe(SHARED.pageReads.perAccount * EACH)
  for (const { answer } of asked.splice(0)) answer()
  await Promise.all([other, ...mine.slice(0, -1)])
  await until(() => askedBy('acct_1') === EACH, 'the next one to be heard')
  for (const { answer } of asked) answer()
  expect(await mine.at(-1)).toEqual({ keys: [], models: [] })
})
