/** The promise in one test: 1,000 requests at once with money for exactly 10, over two gateways, cost exactly 10. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { formatUsd, nano } from '@/lib/money'

let gateway: TestGateway
let twin: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Promise(() => {}) })
  twin = await gateway.twin()
})
afterAll(() => gateway.stop())

const REQUESTS = 1_000
const BODY = JSON.stringify({ model: 'svc/alpha', max_tokens: 1_000, messages: [{ role: 'user', content: 'Hi' }] })

async function request(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: BODY,
  })
  await response.arrayBuffer()
  return response.status
}

test('money for exactly 10', async () => {
  const holdSize = await measureHold()
  const { accountId, key } = await gateway.customer(formatUsd(nano(holdSize * 10 + Math.floor(holdSize / 2))))
  const release = Promise.withResolvers<void>()
  gateway.upstream.calls.length = 0
  gateway.upstream.respond(async () => {
    await release.promise
    return Response.json(chatCompletion('Hello', usageOf(10, 1_000)))
  })
  let lowest = Number.POSITIVE_INFINITY
  const answers = Array.from({ length: REQUESTS }, (_, index) => request((index % 2 ? twin : gateway).url, key))
  let refused = 0
  for (const answer of answers) void answer.then((status) => (refused += status === 402 ? 1 : 0))
  await until(
    async () => {
      lowest = Math.min(lowest, (await gateway.balance(accountId)).available)
      return refused === REQUESTS - 10
    },
    '990 refusals',
    60_000,
  )
  expect(gateway.upstream.calls).toHaveLength(10)
  release.resolve()
  const statuses = await Promise.all(answers)
  expect(statuses.filter((status) => status === 200)).toHaveLength(10)
  expect(lowest).toBeGreaterThanOrEqual(0)
  expect(gateway.upstream.calls).toHaveLength(10)
  const after = await gateway.balance(accountId)
  expect([after.held as number, after.spent as number]).toEqual([0, 10 * (10 * 1_000 + 1_000 * 2_000)])
}, 120_000)

/** What one such request holds, seen from outside: the balance while it is open. */
async function measureHold(): Promise<number> {
  const { accountId, key } = await gateway.customer('1')
  const release = Promise.withResolvers<void>()
  gateway.upstream.respond(async () => {
    await release.promise
    return Response.json(chatCompletion('Hello'))
  })
  const answer = request(gateway.url, key)
  const held = await until(async () => (await gateway.balance(accountId)).held as number, 'the hold')
  release.resolve()
  await answer
  return held
}
