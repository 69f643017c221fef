/** Bug 1 of similar products: concurrent requests all see the same balance or budget, and all spend it. */
import { afterAll, beforeAll, expect } from 'bun:test'
import { test } from '@test/ledger/accounts/within-day'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { formatUsd, nano } from '@/lib/money'
import { chat, spentAtRest } from './support'

const REQUESTS = 200
const AFFORDABLE = 4
let gateway: TestGateway
let twin: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Promise(() => {}) })
  twin = await gateway.twin()
})
afterAll(() => gateway.stop())

test('with a balance for four requests, two gateways accept exactly four', async () => {
  const { accountId, key } = await gateway.customer(formatUsd(nano((await holdOfOne()) * AFFORDABLE)))
  expect(await race([key])).toEqual({ answered: AFFORDABLE, refused: REQUESTS - AFFORDABLE })
  expect((await gateway.balance(accountId)).available).toBeGreaterThanOrEqual(0)
})

test('with a balance for four requests, ten keys of the account get exactly four', async () => {
  const { accountId } = await gateway.customer(formatUsd(nano((await holdOfOne()) * AFFORDABLE)))
  const keys = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const created = await gateway.apiKeys.create({ accountId, name: 'one of ten' })
      return created.kind === 'created' ? created.key : ''
    }),
  )
  expect(await race(keys)).toEqual({ answered: AFFORDABLE, refused: REQUESTS - AFFORDABLE })
})

test('with a monthly budget for four requests, a key of an account with much credit gets four', async () => {
  const budget = nano((await holdOfOne()) * AFFORDABLE)
  const { accountId, key } = await gateway.customer('1000', { monthlyBudget: budget })
  expect(await race([key])).toEqual({ answered: AFFORDABLE, refused: REQUESTS - AFFORDABLE })
  expect(await spentAtRest(gateway, accountId)).toBeLessThanOrEqual(budget)
})

/** What one request of the race holds. */
async function holdOfOne(): Promise<number> {
  const { accountId, key } = await gateway.customer('1')
  const release = Promise.withResolvers<void>()
  gateway.upstream.respond(() => release.promise.then(() => Response.json(chatCompletion('Hello'))))
  const answer = chat(gateway.url, key)
  const held = await until(async () => (await gateway.balance(accountId)).held as number, 'the hold')
  release.resolve()
  await answer
  return held
}

/** Sends all requests at once; the provider answers only when every other request has been refused. */
async function race(keys: readonly string[]): Promise<{ answered: number; refused: number }> {
  const release = Promise.withResolvers<void>()
  gateway.upstream.respond(() => release.promise.then(() => Response.json(chatCompletion('Hello', usageOf(10, 100)))))
  const before = gateway.upstream.calls.length
  let refused = 0
  const answers = Array.from({ length: REQUESTS }, async (_, index) => {
    const { status } = await chat((index % 2 ? gateway : twin).url, keys[index % keys.length] ?? '')
    if (status === 402) refused++
    return status
  })
  await until(() => refused === REQUESTS - AFFORDABLE, 'the refusals')
  await until(() => gateway.upstream.calls.length - before >= AFFORDABLE, 'the others to be on their way')
  expect(gateway.upstream.calls.length - before).toBe(AFFORDABLE)
  release.resolve()
  const answered = (await Promise.all(answers)).filter((status) => status === 200).length
  return { answered, refused }
}
