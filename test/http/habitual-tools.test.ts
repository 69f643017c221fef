/** Tools that clients send in every request: offered to the model if they have a price, otherwise omitted. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject } from '@/lib/json'

const ANSWER = {
  id: 'resp_theirs',
  object: 'response',
  created_at: 1_760_000_000,
  status: 'completed',
  model: 'upstream',
  output: [
    { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } },
    {
      id: 'msg_1',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Found', annotations: [], logprobs: [] }],
    },
  ],
  usage: {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  },
}
const FUNCTION = { type: 'function', name: 'exec', parameters: { type: 'object', properties: {} }, strict: false }
const SEARCH = { type: 'web_search' }

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(ANSWER),
    catalog(file) {
      const [alpha] = file.models
      assert(file.providers.provider1 && alpha, 'the catalogue has a provider and a model')
      file.providers.provider1.format = 'responses'
      const priced = structuredClone(alpha)
      const [target] = priced.targets as JsonObject[]
      assert(target, 'the model has a target')
      target.toolPrices = { web_search: 0.01 }
      file.models.push({ ...priced, id: 'svc/searching' })
    },
  })
  customer = await gateway.customer('10')
})
afterAll(() => gateway.stop())

async function ask(model: string, fields: JsonObject) {
  gateway.upstream.calls.length = 0
  const before = await gateway.balance(customer.accountId)
  const response = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'Look it up', store: false, ...fields }),
  })
  const body: unknown = await response.json()
  assert(isJsonObject(body), 'an answer is an object')
  const after = await gateway.balance(customer.accountId)
  const sent = gateway.upstream.calls[0]?.body
  return { status: response.status, headers: response.headers, body, sent, cost: after.spent - before.spent }
}

const TOKENS = 10 * 1_000 + 5 * 2_000
const CENT = 10_000_000

test('a search tool without a price beside other tools is omitted, and named in the answer', async () => {
  const { status, sent, headers, cost } = await ask('svc/alpha', { tools: [SEARCH, FUNCTION] })
  expect([status, headers.get('x-svc-left-out'), cost]).toEqual([200, 'web_search', TOKENS])
  expect(sent?.tools).toEqual([FUNCTION])
})

test('a tool without a price inside an input item is omitted, and the request is accepted', async () => {
  const added = { type: 'additional_tools', role: 'developer', tools: [FUNCTION, SEARCH] }
  const { status, sent } = await ask('svc/alpha', { input: [added, { role: 'user', content: 'Look it up' }] })
  expect(status).toBe(200)
  expect(sent?.input).toMatchObject([{ tools: [FUNCTION] }, { role: 'user' }])
})

test('a tool with a price is offered to the model, and each use is charged', async () => {
  const { status, sent, headers, cost, body } = await ask('svc/searching', { tools: [SEARCH, FUNCTION] })
  expect([status, headers.get('x-svc-left-out'), cost]).toEqual([200, null, TOKENS + CENT])
  expect(sent?.tools).toEqual([SEARCH, FUNCTION])
  expect(body.output).toMatchObject([{ type: 'web_search_call' }, { type: 'message' }])
})

test('a required tool without a price is refused', async () => {
  for (const fields of [{ tools: [SEARCH] }, { tools: [SEARCH, FUNCTION], tool_choice: SEARCH }]) {
    const { status, body, sent } = await ask('svc/alpha', fields)
    expect([status, sent]).toEqual([400, undefined])
    expect(body).toMatchObject({ error: { param: 'tools[0]' } })
  }
})
