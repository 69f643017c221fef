/** `cache_control` in a request: allowed places, what each provider gets, and the price of each lifetime. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { costOf } from '@test/money-bugs/support'
import { chatCompletion } from '@test/support/upstream'
import { type FormatName, type ScriptedModels, soundAnswer, startScriptedModels } from './scripted-models'

const MARK = { cache_control: { type: 'ephemeral' } }
const HOUR = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const SHORT = { type: 'ephemeral' }
const LONG = { type: 'ephemeral', ttl: '1h' }

type Marked = { cache_control?: unknown; [field: string]: unknown }
type Body = { system?: Marked[]; messages: { role: string; content: Marked[] }[]; tools?: Marked[] }

let plain: ScriptedModels
let reading: ScriptedModels

beforeAll(async () => {
  plain = await startScriptedModels()
  reading = await startScriptedModels({ quirks: ['cache-control'] })
})
afterAll(async () => {
  await plain.gateway.stop()
  await reading.gateway.stop()
})

/** Asks a provider of the format in chat-completions (or `client`), and returns what it was sent. */
async function sent(
  world: ScriptedModels,
  provider: 'chat-completions' | 'messages',
  body: Record<string, unknown>,
  client: 'chat-completions' | 'messages' = 'chat-completions',
) {
  let received: Body | undefined
  const model = world.modelWith(provider, (call) => {
    received = call.body as unknown as Body
    return soundAnswer(provider, false)
  })
  const { response, text } = await world.ask({ format: client, model, body })
  return { response, text, body: received as Body }
}

const text = (words: string, mark: object = {}) => ({ type: 'text', text: words, ...mark })

describe('cache marks sent to messages providers', () => {
  test('messages: cache marks on parts of every role are sent', async () => {
    const { body } = await sent(plain, 'messages', {
      messages: [
        { role: 'system', content: [text('Rules', HOUR), text('More')] },
        { role: 'user', content: [text('Document', MARK), text('Question')] },
      ],
    })
    expect(body.system).toEqual([text('Rules', HOUR), text('More')])
    expect(body.messages[0]?.content).toEqual([text('Document', MARK), text('Question')])
  })

  test('messages: cache marks on whole messages with a single text are sent', async () => {
    const { body } = await sent(plain, 'messages', {
      messages: [
        { role: 'system', content: 'Rules', ...HOUR },
        { role: 'user', content: 'Document', ...MARK },
        { role: 'assistant', content: 'Yes', ...MARK },
        { role: 'user', content: 'Question' },
      ],
    })
    expect(body.system?.[0]?.cache_control).toEqual(LONG)
    expect(body.messages.slice(0, 2).map(({ content }) => content)).toEqual([
      [text('Document', MARK)],
      [text('Yes', MARK)],
    ])
  })

  test('messages: the cache mark of a tool result is sent on the result block, the only valid place', async () => {
    const { body } = await sent(plain, 'messages', {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'now', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: [text('noon', MARK)] },
      ],
    })
    expect(body.messages.at(-1)?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'c1', content: 'noon', ...MARK },
    ])
  })

  test.each([
    ['beside the function', (name: string) => ({ type: 'function', function: { name }, ...MARK })],
    ['inside the function', (name: string) => ({ type: 'function', function: { name, ...MARK } })],
  ])('messages: cache marks on tools are sent, %s', async (_where, tool) => {
    const { body } = await sent(plain, 'messages', { tools: [tool('now')] })
    expect(body.tools?.[0]?.cache_control).toEqual(SHORT)
  })

  test('messages: a cache mark on the whole request is sent', async () => {
    const { body } = await sent(plain, 'messages', HOUR)
    expect(body.messages[0]?.content).toEqual([text('Hi', HOUR)])
  })

  test('messages: the last four cache marks are sent; no one-hour mark follows a five-minute mark', async () => {
    const content = [MARK, HOUR, MARK, HOUR, MARK, MARK].map((mark, index) => text(`Part ${index}`, mark))
    const { body } = await sent(plain, 'messages', { messages: [{ role: 'user', content }] })
    const marks = body.messages[0]?.content.map((part) => part.cache_control)
    expect(marks).toEqual([undefined, undefined, SHORT, SHORT, SHORT, SHORT])
  })

  test('a cache mark with an unknown lifetime is refused, because its price is unknown', async () => {
    const content = [text('Document', { cache_control: { type: 'ephemeral', ttl: '1d' } })]
    const { response, text: answer } = await sent(plain, 'messages', { messages: [{ role: 'user', content }] })
    expect(response.status).toBe(400)
    expect(JSON.parse(answer).error.param).toContain('messages[0].content')
  })
})

describe('cache marks sent to chat-completions providers', () => {
  const everywhere = {
    ...HOUR,
    messages: [{ role: 'user', content: [text('Document', MARK)], ...MARK }],
    tools: [{ type: 'function', function: { name: 'now', ...MARK }, ...MARK }],
  }

  test('chat-completions: cache marks are omitted and named if the provider is not known to support them', async () => {
    const { body, response } = await sent(plain, 'chat-completions', everywhere)
    expect(JSON.stringify(body)).not.toContain('cache_control')
    expect(body.messages[0]?.content).toEqual([text('Document')])
    expect(response.headers.get('x-svc-left-out')).toBe('cache_control')
  })

  test('chat-completions: cache marks are sent if the catalogue says that the provider supports them', async () => {
    const { body, response } = await sent(reading, 'chat-completions', everywhere)
    expect(body).toMatchObject(everywhere)
    expect(response.headers.get('x-svc-left-out')).toBeNull()
  })

  const messagesBody = {
    system: [text('Rules', HOUR)],
    messages: [{ role: 'user', content: [text('Document', MARK), text('Question')] }],
    tools: [{ name: 'now', input_schema: { type: 'object' }, ...MARK }],
  }

  test('chat-completions: a provider that supports cache marks also gets those of a messages client', async () => {
    const { body } = await sent(reading, 'chat-completions', messagesBody, 'messages')
    expect(body.messages[0]).toEqual({ role: 'system', content: [text('Rules', HOUR)] })
    expect(body.messages[1]?.content).toEqual([text('Document', MARK), text('Question')])
    expect(body.tools?.[0]?.cache_control).toEqual(SHORT)
  })

  test('a cache mark is omitted for a provider that does not support it, and named in answer and log', async () => {
    const { body } = await sent(plain, 'chat-completions', messagesBody, 'messages')
    expect(JSON.stringify(body)).not.toContain('cache_control')
    const line = plain.gateway.logLines.findLast((one) => one.includes('"event":"request_fields_left_out"'))
    expect(line).toContain('cache_control')
  })

  const usage = {
    ...{ prompt_tokens: 50, completion_tokens: 5, total_tokens: 55 },
    prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 40 },
  }
  test.each([
    ['five minutes', MARK, usage, 40 * 1_250],
    ['an hour, if the provider does not separate it', HOUR, usage, 40 * 2_000],
    [
      'both, if the provider separates them',
      HOUR,
      { ...usage, cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 10 } },
      30 * 1_250 + 10 * 2_000,
    ],
  ])('cache writes for %s are charged at that price', async (_name, mark, stated, written) => {
    const model = reading.modelWith('chat-completions', () => Response.json(chatCompletion('Sound', stated)))
    const body = { messages: [{ role: 'user', content: [text('Document', mark)] }] }
    const cost = await costOf(reading.gateway, reading.customer.accountId, () =>
      reading.ask({ format: 'chat-completions', model, body }),
    )
    expect(cost).toBe(10 * 1_000 + written + 5 * 2_000)
  })
})

const TEXT = 'word '.repeat(1_000)
const WRITTEN = 1_000
/** Per million tokens, of the catalogue's own model. */
const [INPUT_USD, OUTPUT_USD, BRIEF_USD, HOUR_USD] = [1, 2, 1.25, 2]
const TOTAL = { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: WRITTEN }
const splitOf = (brief: number, hour: number) => ({
  ...TOTAL,
  cache_creation: { ephemeral_5m_input_tokens: brief, ephemeral_1h_input_tokens: hour },
})
const bodyFor = (ttl: string) => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: TEXT, cache_control: { type: 'ephemeral', ttl } }] }],
})
const answerOf = (usage: object) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'x', stop_reason: 'end_turn', stop_sequence: null },
  content: [{ type: 'text', text: 'Sound' }],
  usage,
})

const CASES: [asked: string, said: string, usage: object, brief: number, hour: number][] = [
  ['1h', 'one total', TOTAL, 0, WRITTEN],
  ['5m', 'one total', TOTAL, WRITTEN, 0],
  ['1h', 'all for an hour', splitOf(0, WRITTEN), 0, WRITTEN],
  ['1h', 'all for five minutes', splitOf(WRITTEN, 0), WRITTEN, 0],
  ['1h', 'some for each lifetime', splitOf(400, 600), 400, 600],
  ['1h', 'a split without counts', splitOf(0, 0), 0, WRITTEN],
]

for (const client of ['messages', 'chat-completions'] satisfies FormatName[])
  test.each(CASES)(
    `${client}: cache writes for %s, reported as %s, have the price of their lifetime`,
    async (ttl, _, usage, brief, hour) => {
      const model = plain.modelWith('messages', () => Response.json(answerOf(usage)))
      const { response } = await plain.ask({ format: client, model, body: bodyFor(ttl) })
      expect(response.status).toBe(200)
      const usd = (10 * INPUT_USD + 5 * OUTPUT_USD + brief * BRIEF_USD + hour * HOUR_USD) / 1e6
      expect(Number(response.headers.get('x-svc-cost-usd'))).toBeCloseTo(usd, 9)
    },
  )
