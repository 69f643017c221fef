/** An answer with an unknown finish reason never looks complete to a client; without content it is no answer. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventStream } from '@test/support/upstream'
import { FORMATS, type FormatName, type ScriptedModels, soundAnswer, startScriptedModels } from './scripted-models'

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

const PLAIN: Record<FormatName, [written: RegExp, unlisted: (word: string) => string]> = {
  'chat-completions': [/"finish_reason":"stop"/g, (word) => `"finish_reason":"${word}"`],
  messages: [/"stop_reason":"end_turn"/g, (word) => `"stop_reason":"${word}"`],
  'generate-content': [/"finishReason":"STOP"/g, (word) => `"finishReason":"${word}"`],
  responses: [
    /"status":"completed","error":null,"incomplete_details":null/g,
    (word) => `"status":"incomplete","error":null,"incomplete_details":{"reason":"${word}"}`,
  ],
}

/** How each format ends an answer of which nobody knows why it ended. */
const UNKNOWN: Record<FormatName, string> = {
  'chat-completions': '"finish_reason":"content_filter"',
  messages: '"stop_reason":"refusal"',
  'generate-content': '"finishReason":"OTHER"',
  responses: '"incomplete_details":{"reason":"content_filter"}',
}

async function answerWith(
  format: FormatName,
  word: string,
  has: { stream: boolean; text: boolean },
): Promise<Response> {
  const sound = soundAnswer(format, has.stream)
  const [written, unlisted] = PLAIN[format]
  const said = (await sound.text())
    .replace(written, unlisted(word))
    .replace('response.completed', 'response.incomplete')
  return new Response(has.text ? said : said.replace(/"(Sound|So|und)"/g, '""'), { headers: sound.headers })
}

const CASES = FORMATS.flatMap((provider) =>
  FORMATS.flatMap((client) =>
    [true, false].flatMap((stream) => [true, false].map((text) => ({ provider, client, stream, text }))),
  ),
)

test.each(CASES)(
  'an unlisted finish reason does not become a normal stop: $provider to $client, stream $stream, text $text',
  async ({ provider, client, stream, text: hasText }) => {
    // In another format, an unknown word and nothing else is no answer.
    const word = hasText || client === provider ? 'SOMETHING_NEW' : 'NEW_SAFETY_RULE'
    let calls = 0
    const model = world.modelWith(provider, () => {
      calls++
      return answerWith(provider, word, { stream, text: hasText })
    })
    const { response, text } = await world.ask({ format: client, model, stream })
    expect([response.status, calls]).toEqual([200, 1])
    const [plain, asWritten] = PLAIN[client]
    expect(text.replaceAll('": ', '":')).not.toMatch(new RegExp(plain.source))
    if (client === provider) expect(text).toContain(asWritten(word))
    else if (word === 'SOMETHING_NEW') expect(text).toContain(UNKNOWN[client])
    else expect(text).toContain(client === 'generate-content' ? '"finishReason":"SAFETY"' : UNKNOWN[client])
  },
)

test('an unlisted finish reason is logged once by name, and counted', async () => {
  const model = world.modelWith('generate-content', () =>
    answerWith('generate-content', 'SOMETHING_NEW', { stream: false, text: true }),
  )
  const provider = model.replace('svc/', '')
  await world.ask({ format: 'chat-completions', model })
  const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text()
  expect(metrics).toContain(`svc_unlisted_finish_reasons_total{provider="${provider}"} 1`)
})

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

const EMPTY_PAIRS: [provider: FormatName, client: FormatName][] = [
  ['chat-completions', 'messages'],
  ['messages', 'chat-completions'],
  ['generate-content', 'chat-completions'],
  ['responses', 'messages'],
]
const EMPTY_CASES = EMPTY_PAIRS.flatMap((pair) => [true, false].map((isStream) => [...pair, isStream] as const))

test.each(EMPTY_CASES)(
  'an unknown finish reason before content leads to the next target: %s to %s, streamed: %p',
  async (provider, client, stream) => {
    const model = modelThatSaysNothing(provider, stream)
    const sound = world.modelWith(client, () => soundAnswer(client, stream))
    const { response, text } = await world.ask({ format: client, model, fallback: [sound], stream })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-svc-model')).toBe(sound)
    expect(text).toMatch(/Sound|So"[\s\S]*"und/)
    const line = world.gateway.logLines.findLast((one) => one.includes('"event":"attempt_failed"'))
    expect(line).toMatch(new RegExp(`${EMPTY[provider].word}|not of the provider format`))
  },
)

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
