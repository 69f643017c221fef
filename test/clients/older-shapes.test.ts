/** Older request shapes of official clients: deprecated functions, and a choice from an enum. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { GoogleGenAI, Type } from '@google/genai'
import { formatOf } from '@test/gateway/answer-parts'
import type { TestGateway } from '@test/support/gateway'
import OpenAI from 'openai'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import type { AnswerBlock, ChatResponse, FinishKind } from '@/chat/response'
import { unfold } from '@/chat/unfold'
import { ZERO_USAGE } from '@/chat/usage'
import { modelAt, startTrio } from './trio'

let gateway: TestGateway
let apiKey: string

beforeAll(async () => {
  gateway = await startTrio()
  apiKey = (await gateway.customer('100')).key
})
afterAll(() => gateway.stop())

const CONTEXT = {
  ...{ id: 'req_1', model: 'upstream-model', created: 1_760_000_000 },
  ...{ wantsUsage: true, wantsReasoning: false, estimatedInputTokens: 1 },
}

/** Has the provider of `format` answer with these blocks. */
function script(format: FormatName, content: AnswerBlock[], finish: FinishKind): void {
  const response: ChatResponse = {
    ...{ id: 'x', created: 1, model: 'upstream-model' },
    choices: [{ index: 0, content, finish: { kind: finish } }],
    usage: { ...ZERO_USAGE, uncached: 10, output: 5 },
  }
  const codec = formatOf(format)
  gateway.upstream.respond(({ path, body }) => {
    if (body.stream !== true && !path.includes('stream')) return Response.json(codec.encodeResponse(response, CONTEXT))
    const encoder = codec.createStreamEncoder(CONTEXT)
    const frames = unfold(response).flatMap((event) => (event.type === 'end' ? encoder.end() : encoder.push(event)))
    const text = frames.map((frame, index) => codec.framing.format(frame, index)).join('')
    return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  })
}

const lastBody = () => JSON.stringify(gateway.upstream.calls.at(-1)?.body)

describe.each(['messages', 'generate-content'] as const)('deprecated functions at a provider of %s', (provider) => {
  const call = (id: string, city: string): AnswerBlock => ({
    ...{ type: 'tool-call', id, name: 'weather' },
    argumentsText: `{"city":"${city}"}`,
  })

  test.each([false, true])(
    'a request with the older `functions` gets a function call as the answer (stream: %p)',
    async (isStream) => {
      script(provider, [call('a', 'Oslo'), call('b', 'Rome')], 'tool-calls')
      const client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
      const request = {
        model: modelAt(provider),
        messages: [{ role: 'user' as const, content: 'Weather?' }],
        functions: [{ name: 'weather', parameters: { type: 'object', properties: {} } }],
      }
      const completion = isStream
        ? await client.chat.completions.stream(request).finalChatCompletion()
        : await client.chat.completions.create(request)
      const [choice] = completion.choices
      expect(choice?.finish_reason).toBe('function_call')
      expect(choice?.message.function_call).toMatchObject({ name: 'weather', arguments: '{"city":"Oslo"}' })
      expect(choice?.message).not.toHaveProperty('tool_calls.0')
    },
  )
})

describe.each(FORMAT_NAMES)('a choice from an enum at a provider of %s', (provider) => {
  test.each([false, true])('the answer is exactly one word of the enum (stream: %p)', async (isStream) => {
    const isNative = provider === 'generate-content'
    script(provider, [{ type: 'text', text: isNative ? 'red' : '{"choice": "red"}' }], 'stop')
    const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url } })
    const request = {
      model: modelAt(provider),
      contents: 'Which colour?',
      config: {
        responseMimeType: 'text/x.enum',
        responseSchema: { type: Type.STRING, enum: ['red', 'green'] },
      },
    }
    let text = ''
    if (isStream) for await (const chunk of await models.generateContentStream(request)) text += chunk.text ?? ''
    else text = (await models.generateContent(request)).text ?? ''
    expect(text).toBe('red')
    expect(lastBody()).toContain('"enum":["red","green"]')
  })

  test('if the provider omits the object around the enum, the answer is the provider’s text', async () => {
    script(provider, [{ type: 'text', text: 'Red, I think' }], 'stop')
    const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url } })
    const responseSchema = { type: Type.STRING, enum: ['red'] }
    const config = { responseMimeType: 'text/x.enum', responseSchema }
    const { text } = await models.generateContent({ model: modelAt(provider), contents: 'Which?', config })
    expect(text).toBe('Red, I think')
  })
})
