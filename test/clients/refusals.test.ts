/** A model refuses: the official client requests a schema and reads the refusal, whatever the provider's format. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { respondWith } from '@test/matrix/provider'
import type { TestGateway } from '@test/support/gateway'
import OpenAI from 'openai'
import { modelAt, startTrio } from './trio'

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTrio()
  client = new OpenAI({ apiKey: (await gateway.customer('100')).key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
})
afterAll(() => gateway.stop())

const WORDS = "I can't help with that."
const CITY = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

describe.each(['chat-completions', 'responses'] as const)('a refusal by a model of a provider of %s', (format) => {
  const model = modelAt(format)
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  const chat = {
    model,
    messages,
    response_format: { type: 'json_schema' as const, json_schema: { name: 'city', schema: CITY } },
  }
  const responses = {
    model,
    input: 'Hi',
    text: { format: { type: 'json_schema' as const, name: 'city', schema: CITY } },
  }

  function decline(isStream: boolean): void {
    gateway.upstream.respond(() => respondWith({ fixture: 'matrix/refusal', usage: null }, format, isStream))
  }

  test('a model’s refusal reaches chat.completions.parse', async () => {
    decline(false)
    const { choices } = await client.chat.completions.parse(chat)
    expect(choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: null, refusal: WORDS, parsed: null },
    })
  })

  test('a model’s refusal reaches chat.completions.stream', async () => {
    decline(true)
    const stream = client.chat.completions.stream(chat)
    let told = ''
    stream.on('refusal.done', ({ refusal }) => (told = refusal))
    const { choices } = await stream.finalChatCompletion()
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { refusal: WORDS } })
    expect(told).toBe(WORDS)
  })

  test('a model’s refusal reaches responses.parse and responses.stream', async () => {
    decline(false)
    const whole = await client.responses.parse(responses)
    decline(true)
    const streamed = await client.responses.stream(responses).finalResponse()
    for (const { status, output, output_parsed } of [whole, streamed]) {
      expect({ status, output_parsed }).toEqual({ status: 'completed', output_parsed: null })
      expect(output).toMatchObject([{ type: 'message', content: [{ type: 'refusal', refusal: WORDS }] }])
    }
  })
})

test('an answer that a content filter cut stays incomplete, and gets no refusal text', async () => {
  for (const format of ['messages', 'generate-content', 'responses'] as const) {
    gateway.upstream.respond(() => respondWith({ fixture: 'matrix/filtered', usage: null }, format, false))
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const { choices } = await client.chat.completions.create({ model: modelAt(format), messages })
    expect(choices[0]).toMatchObject({ finish_reason: 'content_filter', message: { refusal: null } })
  }
})
