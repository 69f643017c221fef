/** Usage look-ups of an account take turns, so that other accounts' pages do not wait. */
import { expect, test } from 'bun:test'
import { until } from '@test/support/until'
import { GatewayError } from '@/chat/error'
import { createUsageViews } from '@/console/usage-views/usage-views'
import type { Database } from '@/db/client'
import { systemClock } from '@/lib/clock'
import { SHARED } from '@/limits/shared-resources'

/** Statements of a choice. */
const EACH = 4

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

test('an account may run a limited number of look-ups at once; the next one waits, other accounts don’t', async () => {
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
  expect(await mine.at(-1)).toEqual({ keys: [], models: [], members: [], tags: [], apps: [] })
})

test('concurrent exports are limited per account and in total; when one ends, the next can start', async () => {
  const { database, asked } = silentHistory()
  const views = createUsageViews({
    ...{ database, clock: systemClock, logger: { warn() {} } as never },
    ...{ ledger: undefined as never, priceUsage: undefined as never },
  })
  /** The history answers whatever it is asked until that is there. */
  async function answered<T>(result: Promise<T>): Promise<T> {
    await until(() => {
      for (const { answer } of asked.splice(0)) answer()
      return Bun.peek.status(result) !== 'pending'
    }, 'all to be answered')
    return result
  }
  const ask = (accountId: string) => {
    const exporting = views.export({ accountId, fromMs: 0, toMs: 1 }, 'csv')
    return exporting.catch((error: unknown) => (error instanceof GatewayError ? error.kind : 'bug'))
  }
  const burst = Array.from({ length: 40 }, (_, index) => ask(`acct_${index % 10}`))
  const again = Array.from({ length: 40 }, () => ask('acct_0'))
  const outcomes = await answered(Promise.all(burst))
  const others = await answered(Promise.all(again))
  const begun = outcomes.filter((one) => one instanceof ReadableStream)
  expect(begun).toHaveLength(SHARED.exports.perProcess)
  expect(outcomes.filter((one) => one === 'rate_limited')).toHaveLength(burst.length - begun.length)
  expect(others.every((one) => one === 'rate_limited')).toBe(true)

  await (begun[0] as ReadableStream).cancel()
  expect(await answered(ask('acct_0'))).toBeInstanceOf(ReadableStream)
})
