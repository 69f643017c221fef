/** Keys that this Redis has never seen, as after its loss: each is served, however many come at once. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { chatCompletion } from '@test/support/upstream'

const CUSTOMERS = 120
const AT_ONCE = 100
const TOGETHER = 30

let databaseUrl: string
let lost: TestServer
let fresh: TestServer
let customers: Customer[]
let cold: TestGateway

beforeAll(async () => {
  databaseUrl = await freshDatabase()
  ;[lost, fresh] = await Promise.all([startRedis(), startRedis()])
  const before = await startGateway({ respond: refuse, redisUrl: lost.url, databaseUrl })
  customers = await eachOf(TOGETHER, Array(CUSTOMERS).fill('1'), (usd: string) => before.customer(usd))
  await before.stop()
  cold = await startGateway({
    respond: () => Response.json(chatCompletion('hello')),
    redisUrl: fresh.url,
    databaseUrl,
  })
})
afterAll(async () => {
  await cold.stop()
  await Promise.all([lost.stop(), fresh.stop()])
})

test('of 120 keys used for the first time, 100 at a time, none is refused and each is charged', async () => {
  const body = JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hello.' }] })
  const answers = await eachOf(AT_ONCE, customers, async ({ key }) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`${cold.url}/v1/chat/completions`, { method: 'POST', headers, body })
    return { status: response.status, text: await response.text() }
  })
  expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  const balances = await Promise.all(customers.map(({ accountId }) => cold.balance(accountId)))
  expect(new Set(balances.map(({ available }) => 1e9 - available))).toEqual(new Set([20_000]))
})

function refuse(): Response {
  return new Response('nobody should ask', { status: 500 })
}

/** Does `work` for each item in order, as many at once as said. */
async function eachOf<T, R>(atOnce: number, items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) results[index] = await work(items[index] as T)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}
