/** OpenRouter's own libraries, its SDK and its provider for the AI SDK, with only key and address changed. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { OpenRouter } from '@openrouter/sdk'
import { answer } from '@test/matrix/cases/words'
import { respondWith } from '@test/matrix/provider'
import type { Customer, TestGateway } from '@test/support/gateway'
import { generateText, streamText } from 'ai'
import { type Sandbox, startSandbox } from '@/boot/embedded/sandbox'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { modelAt, startTrio } from './trio'

let sandbox: Sandbox
let gateway: TestGateway
let customer: Customer
let sdk: OpenRouter

beforeAll(async () => {
  sandbox = await startSandbox()
  gateway = await startTrio({ origin: sandbox.baseUrl })
  customer = await gateway.customer('100')
  sdk = new OpenRouter({ apiKey: customer.key, serverURL: `${gateway.url}/v1` })
})
afterAll(async () => {
  await gateway.stop()
  await sandbox.stop()
})

const messages = [{ role: 'user' as const, content: 'Good day' }]

/** What a stream says, and its id. */
async function streamFrom(model: string): Promise<{ id: string; text: string }> {
  const stream = await sdk.chat.send({ chatRequest: { model, messages, stream: true } })
  if (!(Symbol.asyncIterator in stream)) throw new Error('a stream was asked for')
  let [id, text] = ['', '']
  for await (const chunk of stream) {
    id = chunk.id
    text += chunk.choices[0]?.delta.content ?? ''
  }
  return { id, text }
}

test.each(FORMAT_NAMES)('OpenRouter’s SDK streams from a provider of %s, and reads the cost', async (provider) => {
  const { id, text } = await streamFrom(modelAt(provider))
  expect(text).toContain('Good day')
  const { data } = await sdk.generations.getGeneration({ id })
  expect(data.totalCost).toBeGreaterThan(0)
  expect(data.tokensPrompt).toBeGreaterThan(0)
  expect(data.model).toBe(modelAt(provider))
})

test.each(FORMAT_NAMES)('the OpenRouter SDK reads a whole answer of a provider of %s', async (provider) => {
  const answer = await sdk.chat.send({ chatRequest: { model: modelAt(provider), messages } })
  if (Symbol.asyncIterator in answer) throw new Error('a whole answer was asked for')
  expect(answer.choices[0]?.message.content).toContain('Good day')
  expect(answer.usage?.promptTokens).toBeGreaterThan(0)
  expect((await sdk.generations.getGeneration({ id: answer.id })).data.totalCost).toBeGreaterThan(0)
})

test('the OpenRouter SDK lists the models', async () => {
  const { result } = await sdk.models.list()
  expect(result.data.map(({ id }) => id)).toEqual(FORMAT_NAMES.map(modelAt))
})

test('the OpenRouter SDK reads the credits', async () => {
  const before = await sdk.credits.getCredits()
  await streamFrom(modelAt('messages'))
  const after = await sdk.credits.getCredits()
  expect(after.data.totalCredits).toBe(100)
  expect(after.data.totalUsage).toBeGreaterThan(before.data.totalUsage)
})

test.each(FORMAT_NAMES)('the AI SDK gets an answer and its cost from a provider of %s', async (provider) => {
  const openrouter = createOpenRouter({ apiKey: customer.key, baseURL: `${gateway.url}/v1` })
  const model = openrouter(modelAt(provider), { usage: { include: true } })
  const whole = await generateText({ model, prompt: 'Good day' })
  const streamed = streamText({ model, prompt: 'Good day' })
  expect(await streamed.text).toContain('Good day')
  expect(whole.text).toContain('Good day')
  for (const metadata of [whole.providerMetadata, await streamed.providerMetadata]) {
    const usage = metadata?.openrouter?.usage as { cost?: number } | undefined
    expect(usage?.cost).toBeGreaterThan(0)
  }
})

/** Recorded answers of all formats. The streams of chat-completions have chunks whose usage is null. */
const ANSWERS = ['text', 'tool-one', 'reasoning', 'length', 'cached'].map((name) => answer(name))
const TOOLS = ['get_weather', 'get_time'].map((name) => ({ type: 'function' as const, function: { name } }))
const FINGERPRINT = /"system_fingerprint": ?"fp_1",/g
/** What a provider says in place of the fingerprint of the recordings, which only those of chat-completions have. */
const FINGERPRINTS = ['"system_fingerprint":"fp_1",', '"system_fingerprint":null,', '']

describe('recorded answers', () => {
  let recorded: TestGateway
  let key: string
  let provider: FormatName = 'messages'
  let told = answer('text')
  let fingerprint = ''

  beforeAll(async () => {
    recorded = await startTrio({
      async respond({ path, body }) {
        const recording = respondWith(told, provider, body.stream === true || path.includes('stream'))
        return new Response((await recording.text()).replaceAll(FINGERPRINT, fingerprint), recording)
      },
    })
    key = (await recorded.customer('100')).key
  })
  afterAll(() => recorded.stop())

  test.each(FORMAT_NAMES)(
    'the SDK reads recorded answers of %s whole and streamed, with and without usage',
    async (format) => {
      provider = format
      const request = { model: modelAt(provider), messages, tools: TOOLS }
      const reader = new OpenRouter({ apiKey: key, serverURL: `${recorded.url}/v1` })
      for (fingerprint of provider === 'chat-completions' ? FINGERPRINTS : [''])
        for (told of ANSWERS) {
          const whole = await reader.chat.send({ chatRequest: request })
          expect(whole).toMatchObject({ usage: { completionTokens: told.usage?.output } })
          for (const includeUsage of [false, true]) {
            const streamed = { ...request, stream: true, streamOptions: { includeUsage } } as const
            const stream = await reader.chat.send({ chatRequest: streamed })
            if (!(Symbol.asyncIterator in stream)) throw new Error('a stream was asked for')
            const chunks = await Array.fromAsync(stream)
            const finishes = chunks.flatMap(({ choices }) => choices.flatMap((choice) => choice.finishReason ?? []))
            expect(finishes).toHaveLength(1)
            expect(chunks.filter(({ usage }) => usage)).toHaveLength(includeUsage ? 1 : 0)
          }
        }
    },
  )

  test.each(FORMAT_NAMES)(
    'other clients get no fingerprint that %s did not send, and null as usage',
    async (format) => {
      provider = format
      told = answer('text')
      fingerprint = ''
      const send = async (more: object) => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const body = JSON.stringify({ model: modelAt(provider), messages, tools: TOOLS, ...more })
        return await (await fetch(`${recorded.url}/v1/chat/completions`, { method: 'POST', headers, body })).text()
      }
      expect(await send({})).not.toContain('system_fingerprint')
      expect(await send({ stream: true, stream_options: { include_usage: true } })).toContain('"usage":null')
    },
  )
})
