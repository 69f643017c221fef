/** OpenRouter's own libraries: its SDK and its provider for the AI SDK, of which only the key and the address are changed. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { OpenRouter } from '@openrouter/sdk'
import type { Customer, TestGateway } from '@test/support/gateway'
import { generateText, streamText } from 'ai'
import { type Sandbox, startSandbox } from '@/boot/embedded/sandbox'
import { FORMAT_NAMES } from '@/chat/format-name'
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

test.each([...FORMAT_NAMES])('the SDK streams from a provider of %s, and asks what it cost', async (provider) => {
  const { id, text } = await streamFrom(modelAt(provider))
  expect(text).toContain('Good day')
  const { data } = await sdk.generations.getGeneration({ id })
  expect(data.totalCost).toBeGreaterThan(0)
  expect(data.tokensPrompt).toBeGreaterThan(0)
  expect(data.model).toBe(modelAt(provider))
})

test('the SDK reads the credits', async () => {
  const before = await sdk.credits.getCredits()
  await streamFrom(modelAt('messages'))
  const after = await sdk.credits.getCredits()
  expect(after.data.totalCredits).toBe(100)
  expect(after.data.totalUsage).toBeGreaterThan(before.data.totalUsage)
})

test.each([...FORMAT_NAMES])('the AI SDK answers by a provider of %s, and tells the cost', async (provider) => {
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
