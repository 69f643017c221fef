/** Bug 2 of similar products: a client that disconnects, or a stream that breaks, is billed nothing or the whole reservation. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatChunk, type LiveStream, liveStream, usageChunk, usageOf } from '@test/support/upstream'
import { chat, PRICE, spentAtRest } from './support'

const WORDS = 20
let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Promise(() => {}) })
})
afterAll(() => gateway.stop())

const data = (event: unknown) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`
const words = (count: number) => Array.from({ length: count }, () => data(chatChunk({ content: 'lengthy ' }))).join('')

type Case = {
  name: string
  before: string
  /** What the client has read when it ends. */
  until: string
  /** What ends it: the client, or the provider. */
  end(live: LiveStream, controller: AbortController): void
  least: number
  most: number
}

const INPUT = 1 * PRICE.input
const CASES: readonly Case[] = [
  {
    name: 'a client that disconnects after twenty words pays for these and the input, far less than the hold',
    before: words(WORDS) + data(chatChunk({ content: 'last' })),
    until: 'last',
    end: (_, controller) => controller.abort(),
    least: INPUT + WORDS * PRICE.output,
    most: 4 * WORDS * PRICE.output,
  },
  {
    name: 'a client that disconnects after the usage pays exactly the usage',
    before: words(WORDS) + data(chatChunk({}, 'stop')) + data(usageChunk(usageOf(9, 33))),
    until: 'prompt_tokens',
    end: (_, controller) => controller.abort(),
    least: 9 * PRICE.input + 33 * PRICE.output,
    most: 9 * PRICE.input + 33 * PRICE.output,
  },
  {
    name: 'a stream that its provider cuts costs the relayed part',
    before: words(WORDS) + data(chatChunk({ content: 'last' })),
    until: 'last',
    end: (live) => live.error(),
    least: INPUT + WORDS * PRICE.output,
    most: 4 * WORDS * PRICE.output,
  },
]

test.each(CASES)('the charge of a disconnect: $name', async ({ before, until: sign, end, least, most }) => {
  customer = await gateway.customer('1')
  const live = liveStream()
  gateway.upstream.respond(() => live.response)
  live.write(before)
  const controller = new AbortController()
  const response = await chat(
    gateway.url,
    customer.key,
    { stream: true, stream_options: { include_usage: true }, max_tokens: 10_000 },
    controller.signal,
  )
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  for (let text = ''; !text.includes(sign); ) text += decoder.decode((await reader.read()).value)
  const { held } = await gateway.balance(customer.accountId)
  end(live, controller)
  await until(async () => (await gateway.balance(customer.accountId)).held === 0, 'the hold to end')
  const spent = await spentAtRest(gateway, customer.accountId)
  expect(spent).toBeGreaterThanOrEqual(least)
  expect(spent).toBeLessThanOrEqual(most)
  expect(spent).toBeLessThan(held / 10)
})

test('a client that disconnects before the provider’s first byte pays nothing, even if the provider is broken', async () => {
  customer = await gateway.customer('1')
  const controller = new AbortController()
  const before = gateway.upstream.calls.length
  gateway.upstream.respond(() => new Promise(() => {}))
  const answer = chat(gateway.url, customer.key, { stream: true }, controller.signal).catch(() => undefined)
  await until(() => gateway.upstream.calls.length > before, 'the call')
  controller.abort()
  await answer
  await until(() => gateway.upstream.calls.at(-1)?.isAborted, 'the provider to be stopped')
  gateway.upstream.respond(() => new Response(null, { status: 500 }))
  await (await chat(gateway.url, customer.key, { stream: true })).text()
  expect(await spentAtRest(gateway, customer.accountId)).toBe(0)
})
