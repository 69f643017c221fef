/** Idempotency keys of each library: how it sends them, and what a repeated request gets. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, chatStream, eventStream } from '@test/support/upstream'
import { generateText, type LanguageModel, streamText } from 'ai'
import Anthropic0 from 'anthropic-0'
import { GoogleGenAI as GoogleGenAI2 } from 'genai-2'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response(null, { status: 599 }) })
  customer = await gateway.customer('1')
})
afterAll(() => gateway.stop())
beforeEach(() => {
  gateway.upstream.calls.length = 0
  gateway.upstream.respond(({ body }, index) => {
    const words = ['Answer ', String(index)]
    return body.stream ? eventStream(...chatStream(words)) : Response.json(chatCompletion(words.join('')))
  })
})

type Wish = { headers: Record<string, string>; stream: boolean }
/** Asks once, and returns the text of the answer. */
type Ask = (wish: Wish) => Promise<string>

const model = 'svc/alpha'
const messages = [{ role: 'user' as const, content: 'Hi' }]

function openai(Client: typeof OpenAI): Ask {
  return async ({ headers, stream }) => {
    const client = new Client({ apiKey: customer.key, baseURL: `${gateway.url}/v1` })
    if (!stream)
      return (await client.chat.completions.create({ model, messages }, { headers })).choices[0]?.message.content ?? ''
    let text = ''
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true }, { headers }))
      text += chunk.choices[0]?.delta.content ?? ''
    return text
  }
}

function anthropic(Client: typeof Anthropic): Ask {
  return async ({ headers, stream }) => {
    const client = new Client({ apiKey: customer.key, baseURL: gateway.url })
    const wish = { model, messages, max_tokens: 9 }
    const message = stream
      ? await client.messages.stream(wish, { headers }).finalMessage()
      : await client.messages.create(wish, { headers })
    return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  }
}

function genai(Client: typeof GoogleGenAI): Ask {
  return async ({ headers, stream }) => {
    const { models } = new Client({ apiKey: customer.key, httpOptions: { baseUrl: gateway.url } })
    const wish = { model, contents: 'Hi', config: { httpOptions: { headers } } }
    if (!stream) return (await models.generateContent(wish)).text ?? ''
    let text = ''
    for await (const chunk of await models.generateContentStream(wish)) text += chunk.text ?? ''
    return text
  }
}

function aiSdk(open: () => LanguageModel): Ask {
  return async ({ headers, stream }) => {
    const wish = { model: open(), prompt: 'Hi', headers, maxOutputTokens: 256 }
    return stream ? await streamText(wish).text : (await generateText(wish)).text
  }
}

const access = (path: string) => ({ apiKey: customer.key, baseURL: `${gateway.url}${path}` })

const LIBRARIES: Record<string, Ask> = {
  'openai 7': openai(OpenAI),
  'openai 6': openai(OpenAI6 as unknown as typeof OpenAI),
  '@anthropic-ai/sdk 1': anthropic(Anthropic),
  '@anthropic-ai/sdk 0': anthropic(Anthropic0 as unknown as typeof Anthropic),
  '@google/genai 3': genai(GoogleGenAI),
  '@google/genai 2': genai(GoogleGenAI2 as unknown as typeof GoogleGenAI),
  '@ai-sdk/openai': aiSdk(() => createOpenAI(access('/v1')).chat(model)),
  '@ai-sdk/anthropic': aiSdk(() => createAnthropic(access('/v1'))(model)),
  '@ai-sdk/google': aiSdk(() => createGoogle(access('/v1beta'))(model)),
}

const WAYS = Object.entries(LIBRARIES).flatMap(([name, ask]) =>
  [false, true].map((stream) => [name, stream, ask] as const),
)

test.each(WAYS)('%s, stream %p: requests with one idempotency key are one request', async (name, stream, ask) => {
  const headers = { 'Idempotency-Key': `${name} ${stream}`.replaceAll(' ', '-') }
  const first = await ask({ headers, stream })
  expect(first).toStartWith('Answer ')
  expect(await ask({ headers, stream })).toBe(first)
  expect(gateway.upstream.calls).toHaveLength(1)
  await ask({ headers: {}, stream })
  expect(gateway.upstream.calls).toHaveLength(2)
})

test.each(['openai 7', 'openai 6', '@anthropic-ai/sdk 1', '@anthropic-ai/sdk 0'])(
  '%s: retries automatically while the first request is still open',
  async (name) => {
    const asked = LIBRARIES[name] ?? expect.unreachable()
    const before = gateway.logLines.length
    const isTurnedAway = () => gateway.logLines.slice(before).some((line) => line.includes('idempotency_key_in_use'))
    gateway.upstream.respond(async () => {
      await until(isTurnedAway, 'the other to be told that the key is in use')
      return Response.json(chatCompletion('Once'))
    })
    const headers = { 'Idempotency-Key': `under-way-${name.replaceAll(' ', '-')}` }
    const both = await Promise.all([asked({ headers, stream: false }), asked({ headers, stream: false })])
    expect(both).toEqual(['Once', 'Once'])
    expect(gateway.upstream.calls).toHaveLength(1)
  },
)

test('the option `idempotencyKey` of openai sends no header by itself', async () => {
  const client = new OpenAI({ apiKey: customer.key, baseURL: `${gateway.url}/v1` })
  for (let round = 0; round < 2; round++)
    await client.chat.completions.create({ model, messages }, { idempotencyKey: 'option-alone' })
  expect(gateway.upstream.calls).toHaveLength(2)
})
