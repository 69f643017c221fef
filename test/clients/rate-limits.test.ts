/** Rate limit headers of a key: each library shows limit and remaining amount of answers, streams and refusals. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { TEXT } from '@test/matrix/cases/words'
import { respondWith } from '@test/matrix/provider'
import type { TestGateway } from '@test/support/gateway'
import OpenAI from 'openai'
import { startTrio } from './trio'

type Told = { get(name: string): string | null }

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTrio()
})
afterAll(() => gateway.stop())

const REQUESTS = 3
const TOKENS = 1_000_000
const model = 'svc/messages'
const messages = [{ role: 'user' as const, content: 'Hi' }]

/** Asks once with the library of a family and returns the headers that it shows; fails with its own error. */
const ASK: Record<string, (key: string, stream: boolean) => Promise<Told>> = {
  async 'chat-completions'(apiKey, stream) {
    const client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    const { response } = await client.chat.completions.create({ model, messages, stream }).withResponse()
    return response.headers
  },
  async messages(apiKey, stream) {
    const client = new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0 })
    const { response } = await client.messages.create({ model, messages, max_tokens: 9, stream }).withResponse()
    return response.headers
  },
  async 'generate-content'(apiKey, stream) {
    const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url } })
    const request = { model, contents: 'Hi' }
    if (!stream) return toldBy((await models.generateContent(request)).sdkHttpResponse?.headers)
    for await (const chunk of await models.generateContentStream(request)) return toldBy(chunk.sdkHttpResponse?.headers)
    throw new Error('an empty stream')
  },
}

function toldBy(headers: Record<string, string> = {}): Told {
  return { get: (name) => headers[name] ?? null }
}

/** A key of which `used` requests of the minute are gone. */
async function keyWith(used: number): Promise<string> {
  const { key } = await gateway.customer('1', { requestsPerMinute: REQUESTS, tokensPerMinute: TOKENS })
  for (let count = 0; count < used; count++) await ASK['chat-completions']?.(key, false)
  return key
}

const MILLISECONDS = { m: 60_000, s: 1_000, ms: 1 } as const

/** Milliseconds of a duration like `1m0s`, `1.2s` or `6ms`. */
function durationOf(text: string | null): number {
  const parts = [...(text ?? '').matchAll(/([\d.]+)(ms|s|m)/g)]
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * MILLISECONDS[unit as 's'], 0)
}

const modes = [
  ['an answer', false],
  ['a stream', true],
] as const

describe.each([['chat-completions'], ['generate-content']])('the library of %s', (family) => {
  test.each(modes)('the client reads limit, remaining amount and waiting time with %s', async (_, stream) => {
    gateway.upstream.respond(() => respondWith(TEXT, 'messages', stream))
    const headers = (await ASK[family]?.(await keyWith(0), stream)) as Told
    expect(headers.get('x-ratelimit-limit-requests')).toBe(String(REQUESTS))
    expect(headers.get('x-ratelimit-remaining-requests')).toBe(String(REQUESTS - 1))
    expect(durationOf(headers.get('x-ratelimit-reset-requests'))).toBe(60_000 / REQUESTS)
    expect(headers.get('x-ratelimit-limit-tokens')).toBe(String(TOKENS))
    const taken = TOKENS - Number(headers.get('x-ratelimit-remaining-tokens'))
    expect(taken).toBeGreaterThan(0)
    expect(durationOf(headers.get('x-ratelimit-reset-tokens'))).toBe(Math.ceil((taken / TOKENS) * 60_000))
  })
})

describe('the library of messages', () => {
  test.each(modes)('the messages library gets limit, remaining amount and reset time with %s', async (_, stream) => {
    gateway.upstream.respond(() => respondWith(TEXT, 'messages', stream))
    const beganMs = Date.now()
    const headers = (await ASK.messages?.(await keyWith(0), stream)) as Told
    expect(headers.get('anthropic-ratelimit-requests-limit')).toBe(String(REQUESTS))
    expect(headers.get('anthropic-ratelimit-requests-remaining')).toBe(String(REQUESTS - 1))
    expectSoon(headers.get('anthropic-ratelimit-requests-reset'), beganMs, 60_000 / REQUESTS)
    expect(headers.get('anthropic-ratelimit-tokens-limit')).toBe(String(TOKENS))
    expect(Number(headers.get('anthropic-ratelimit-tokens-remaining'))).toBeLessThan(TOKENS)
    expectSoon(headers.get('anthropic-ratelimit-tokens-reset'), beganMs, 0)
    expect(headers.get('x-ratelimit-limit-requests')).toBeNull()
  })
})

/** The moment is whole seconds, written as RFC 3339, and `inMs` from one between `beganMs` and now. */
function expectSoon(moment: string | null, beganMs: number, inMs: number): void {
  expect(moment).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  expect(Date.parse(moment ?? '')).toBeWithin(beganMs + inMs - 1_000, Date.now() + inMs + 1_001)
}

describe('a rate limit refusal has the headers of the path’s format', () => {
  const refusalOf = async (family: 'chat-completions' | 'messages') => {
    gateway.upstream.respond(() => respondWith(TEXT, 'messages', false))
    const key = await keyWith(REQUESTS)
    return (await ASK[family]?.(key, false).catch((error: { status: number; headers: Told }) => error)) as {
      status: number
      headers: Told
    }
  }

  test('a rate limit refusal has the header names of the chat-completions library', async () => {
    const { status, headers } = await refusalOf('chat-completions')
    expect(status).toBe(429)
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('0')
    expect(durationOf(headers.get('x-ratelimit-reset-requests'))).toBeGreaterThan(Number(headers.get('retry-after')))
    expect(headers.get('x-ratelimit-limit-tokens')).toBeNull()
  })

  test('a rate limit refusal has the header names of the messages library', async () => {
    const beganMs = Date.now()
    const { status, headers } = await refusalOf('messages')
    expect(status).toBe(429)
    expect(headers.get('anthropic-ratelimit-requests-limit')).toBe(String(REQUESTS))
    expect(headers.get('anthropic-ratelimit-requests-remaining')).toBe('0')
    expectSoon(headers.get('anthropic-ratelimit-requests-reset'), beganMs, 60_000)
    expect(headers.get('x-ratelimit-limit-requests')).toBeNull()
  })
})
