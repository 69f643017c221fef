/** A gateway whose event loop stood still longer than the ledger's time limit: no request is refused for it. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { spendThen, standStill } from '@test/support/delays'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'

const CALLERS = 8
const STALL_MS = 1_400
const ROUNDS = 3

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('hello')),
    environment: { REDIS_COMMAND_TIMEOUT_MS: '1000' },
  })
  customer = await gateway.customer('100')
})
afterAll(() => gateway.stop())

test('a stall of the gateway’s own event loop refuses no request', async () => {
  const stalls: ((work: () => void) => void)[] = [(work) => spendThen(1, work), setImmediate, queueMicrotask]
  const statuses: number[] = []
  let isDone = false
  const calling = Array.from({ length: CALLERS }, async () => {
    while (!isDone) statuses.push(await call())
  })
  for (const stall of Array(ROUNDS).fill(stalls).flat()) {
    const answered = statuses.length
    await until(() => statuses.length > answered + CALLERS, 'requests to be on their way')
    await new Promise<void>((resume) => stall(() => resume(standStill(STALL_MS))))
  }
  isDone = true
  await Promise.all(calling)
  expect(new Set(statuses)).toEqual(new Set([200]))
  const complaints = gateway.logLines.filter((line) => line.includes('no answer in time') || line.includes('timed out'))
  expect(complaints).toEqual([])
})

async function call(): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hello.' }] }),
  })
  await response.arrayBuffer()
  return response.status
}
