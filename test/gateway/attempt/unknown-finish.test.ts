/** An unknown finish reason without content is no answer: the next target is called, or the client gets an error. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type FormatName, type ScriptedModels, soundAnswer, startScriptedModels } from '@test/gateway/scripted-models'
import { eventStream } from '@test/support/upstream'

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

const CHAT = { id: 'c', object: 'chat.completion', created: 1, model: 'm' }
const NO_MESSAGE = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] }
const RESPONSE = { id: 'r', object: 'response', created_at: 1, model: 'm', output: [], status: 'queued' }

/** Of each format an answer without content, whole and as the data of a stream's events. */
const EMPTY: Record<FormatName, { word: string; whole: object; events: string[] }> = {
  'chat-completions': {
    word: 'brand_new',
    whole: {
      ...CHAT,
      choices: [{ index: 0, message: { role: 'assistant', content: null }, finish_reason: 'brand_new' }],
    },
    events: [
      JSON.stringify({
        ...{ ...CHAT, object: 'chat.completion.chunk' },
        choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: 'brand_new' }],
      }),
      '[DONE]',
    ],
  },
  messages: {
    word: 'brand_new',
    whole: { ...NO_MESSAGE, stop_reason: 'brand_new', usage: { input_tokens: 1, output_tokens: 0 } },
    events: [
      { type: 'message_start', message: { ...NO_MESSAGE, usage: { input_tokens: 1, output_tokens: 0 } } },
      { type: 'message_delta', delta: { stop_reason: 'brand_new' }, usage: { output_tokens: 0 } },
      { type: 'message_stop' },
    ].map((event) => JSON.stringify(event)),
  },
  'generate-content': {
    word: 'MISSING_THOUGHT_SIGNATURE',
    whole: { candidates: [{ index: 0, finishReason: 'MISSING_THOUGHT_SIGNATURE' }] },
    events: [JSON.stringify({ candidates: [{ index: 0, finishReason: 'MISSING_THOUGHT_SIGNATURE' }] })],
  },
  responses: {
    word: 'queued',
    whole: RESPONSE,
    events: [
      { type: 'response.created', response: RESPONSE },
      { type: 'response.completed', response: RESPONSE },
    ].map((event) => JSON.stringify(event)),
  },
}

function modelThatSaysNothing(format: FormatName, isStream: boolean): string {
  const { whole, events } = EMPTY[format]
  return world.modelWith(format, () => (isStream ? eventStream(...events) : Response.json(whole)))
}

const PAIRS: [provider: FormatName, client: FormatName][] = [
  ['chat-completions', 'messages'],
  ['messages', 'chat-completions'],
  ['generate-content', 'chat-completions'],
  ['responses', 'messages'],
]
const CASES = PAIRS.flatMap((pair) => [true, false].map((isStream) => [...pair, isStream] as const))

describe.each(CASES)('unknown finish reasons from %s to %s, streamed: %p', (provider, client, stream) => {
  test('an unknown finish reason before content leads to the next target', async () => {
    const model = modelThatSaysNothing(provider, stream)
    const sound = world.modelWith(client, () => soundAnswer(client, stream))
    const { response, text } = await world.ask({ format: client, model, fallback: [sound], stream })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-svc-model')).toBe(sound)
    expect(text).toMatch(/Sound|So"[\s\S]*"und/)
  })

  test('an unknown finish reason without another target is an error', async () => {
    const model = modelThatSaysNothing(provider, stream)
    const { response } = await world.ask({ format: client, model, stream })
    expect(response.status).toBe(502)
    const line = world.gateway.logLines.findLast((one) => one.includes('"event":"attempt_failed"'))
    expect(line).toMatch(new RegExp(`${EMPTY[provider].word}|not of the provider format`))
  })
})

test('an unknown finish reason before content also fails in the provider’s own format', async () => {
  const model = modelThatSaysNothing('responses', false)
  expect((await world.ask({ format: 'responses', model })).response.status).toBe(502)
})

test('a client of the provider’s own format gets the unknown finish reason', async () => {
  const model = modelThatSaysNothing('generate-content', false)
  const { response, text } = await world.ask({ format: 'generate-content', model })
  expect(response.status).toBe(200)
  expect(text).toContain('MISSING_THOUGHT_SIGNATURE')
})
