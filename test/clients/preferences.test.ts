/** Routing preferences of callers, sent by each library as an extra body field or a header. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { TEXT } from '@test/matrix/cases/words'
import { respondWith } from '@test/matrix/provider'
import type { Customer, TestGateway } from '@test/support/gateway'
import OpenAI from 'openai'
import { startTrio } from './trio'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startTrio({ respond: () => respondWith(TEXT, 'messages', false) })
  customer = await gateway.customer('1')
})
afterAll(() => gateway.stop())

type Wish = { svc?: Record<string, unknown>; headers?: Record<string, string> }

const model = 'svc/messages'
const messages = [{ role: 'user' as const, content: 'Hi' }]

/** Asks once with the library of a family; fails with its own error. */
const ASK: Record<string, (wish: Wish) => Promise<unknown>> = {
  'chat-completions': ({ svc, headers }) => {
    const client = new OpenAI({ apiKey: customer.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    return client.chat.completions.create({ model, messages, ...(svc && { svc }) }, { headers })
  },
  messages: ({ svc, headers }) => {
    const client = new Anthropic({ apiKey: customer.key, baseURL: gateway.url, maxRetries: 0 })
    return client.messages.create({ model, messages, max_tokens: 9, ...(svc && { svc }) }, { headers })
  },
  'generate-content': ({ svc, headers = {} }) => {
    const { models } = new GoogleGenAI({ apiKey: customer.key, httpOptions: { baseUrl: gateway.url } })
    const httpOptions = { headers, ...(svc && { extraBody: { svc } }) }
    return models.generateContent({ model, contents: 'Hi', config: { httpOptions } })
  },
}

test.each(Object.keys(ASK))('the library of %s sends routing preferences in body field and header', async (family) => {
  const ask = (wish: Wish) => ASK[family]?.(wish) ?? expect.unreachable()
  await ask({
    svc: { max_price: { prompt: 1 }, providers: { only: ['messages'] } },
    headers: { 'x-svc-quality': '0.5' },
  })
  expect(JSON.stringify(gateway.upstream.calls.at(-1)?.body)).not.toContain('svc')
  const refused = (wish: Wish) =>
    ask(wish).then(
      () => expect.unreachable(),
      (error: Error) => error.message,
    )
  expect(await refused({ svc: { max_price: { prompt: 0.5 } } })).toContain('svc.max_price')
  expect(await refused({ headers: { 'x-svc-quality': 'high' } })).toContain('x-svc-quality')
})
