/** Many large requests at once: each long step of one has its own turn of the event loop. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, type Mock, spyOn, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { countTurns } from '@test/support/loop-turns'
import { chatCompletion } from '@test/support/upstream'

const LARGE = 1024 * 1024
const AT_ONCE = 6
const real = { parse: JSON.parse, stringify: JSON.stringify }

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
})
afterAll(() => gateway.stop())

let parse: Mock<typeof JSON.parse>
let stringify: Mock<typeof JSON.stringify>
beforeEach(() => {
  parse = spyOn(JSON, 'parse')
  stringify = spyOn(JSON, 'stringify')
})
afterEach(() => {
  parse.mockRestore()
  stringify.mockRestore()
})

test('two large bodies are not parsed or serialised in one turn of the event loop', async () => {
  const customers = await Promise.all(Array.from({ length: AT_ONCE }, () => gateway.customer('1000')))
  const content = 'x'.repeat(LARGE)
  const body = JSON.stringify({ model: 'svc/alpha', max_tokens: 9, messages: [{ role: 'user', content }] })
  const found: number[] = []
  const turns = countTurns()
  // The provider, in the same process, parses a body that is as long as the name of its model has it.
  parse.mockImplementation((text, ...more) => {
    if (text.length === body.length) found.push(turns.now())
    return real.parse(text, ...more)
  })
  stringify.mockImplementation((value: unknown) => {
    const text = real.stringify(value)
    if (text?.length > LARGE) found.push(turns.now())
    return text
  })
  const statuses = await Promise.all(
    customers.map(async ({ key }) => {
      const headers = { 'x-api-key': key, 'content-type': 'application/json' }
      const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
      await response.text()
      return response.status
    }),
  )
  turns.stop()
  expect(statuses).toEqual(customers.map(() => 200))
  expect(found.length).toBe(2 * AT_ONCE)
  expect(new Set(found).size).toBe(2 * AT_ONCE)
})
