/**
 * Tool arguments with an id too large for a double: the clients' libraries send and receive every digit, from every
 * provider. The test reads the answer before a library parses it.
 */
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import type { TestGateway } from '@test/support/gateway'
import OpenAI from 'openai'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { rawJson } from '@/lib/json'
import { modelAt, startTrio } from './trio'

const ID = '1098765432109876543'
const NEXT_ID = '1098765432109876544'
const ARGUMENTS = `{"id":${ID}}`

let gateway: TestGateway
let apiKey: string

beforeAll(async () => {
  gateway = await startTrio()
  apiKey = (await gateway.customer('100')).key
})
afterAll(() => gateway.stop())

/** What a program says that keeps such an id as its text. */
const input = { id: rawJson.rawJSON(ID) }

/** Sends a conversation with a call through the library of a family; returns the answer as it came. */
const SEND: Record<FormatName, (model: string) => Promise<string>> = {
  async 'chat-completions'(model) {
    const client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: ARGUMENTS } } as const
    const request = client.chat.completions.create({
      model,
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'done' },
      ],
    })
    return (await request.asResponse()).text()
  },
  async messages(model) {
    const client = new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0 })
    const request = client.messages.create({
      model,
      max_tokens: 99,
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look', input }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'done' }] },
      ],
    })
    return (await request.asResponse()).text()
  },
  async 'generate-content'(model) {
    const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url } })
    // The library shows no answer but what it parsed.
    const answers: Promise<string>[] = []
    const { fetch } = globalThis
    const tap = spyOn(globalThis, 'fetch').mockImplementation(
      Object.assign(async (...request: Parameters<typeof fetch>) => {
        const answer = await fetch(...request)
        answers.push(answer.clone().text())
        return answer
      }, fetch),
    )
    await models.generateContent({
      model,
      contents: [
        { role: 'user', parts: [{ text: 'go' }] },
        { role: 'model', parts: [{ functionCall: { id: 'call_1', name: 'look', args: input } }] },
        { role: 'user', parts: [{ functionResponse: { id: 'call_1', name: 'look', response: { output: 'done' } } }] },
      ],
    })
    tap.mockRestore()
    return (await Promise.all(answers)).at(-1) ?? ''
  },
  async responses(model) {
    const client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    const request = client.responses.create({
      model,
      input: [
        { role: 'user', content: 'go' },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: ARGUMENTS },
        { type: 'function_call_output', call_id: 'call_1', output: 'done' },
      ],
    })
    return (await request.asResponse()).text()
  },
}

const CALL = `"name":"look"`
const ANSWERS: Record<FormatName, string> = {
  'chat-completions': `{"choices":[{"message":{"tool_calls":[{"id":"c","function":{${CALL},"arguments":"{\\"id\\":${NEXT_ID}}"}}]}}],
    "usage":{"prompt_tokens":1,"completion_tokens":1}}`,
  messages: `{"type":"message","content":[{"type":"tool_use","id":"c",${CALL},"input":{"id":${NEXT_ID}}}],
    "usage":{"input_tokens":1,"output_tokens":1}}`,
  'generate-content': `{"candidates":[{"content":{"parts":[{"functionCall":{${CALL},"args":{"id":${NEXT_ID}}}}]}}],
    "usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1}}`,
  responses: `{"object":"response","status":"completed","output":[{"type":"function_call","id":"f","call_id":"c",${CALL},
    "arguments":"{\\"id\\":${NEXT_ID}}"}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`,
}

describe.each(FORMAT_NAMES)('large numeric ids reach a client of %s', (client) => {
  test.each(FORMAT_NAMES)('no digit of a large id is lost from a provider of %s', async (provider) => {
    const { upstream } = gateway
    const before = upstream.calls.length
    upstream.respond(() => new Response(ANSWERS[provider], { headers: { 'content-type': 'application/json' } }))
    expect(await SEND[client](modelAt(provider))).toContain(NEXT_ID)
    expect(upstream.calls[before]?.text).toContain(ID)
  })
})
