/** Bedrock through a whole gateway: InvokeModel first, Converse second, for callers of all four formats. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import OpenAI from 'openai'
import { claudeFrames, converseFrames, exceptionFrame, framed, invokeFrame, USAGE } from './bedrock-frames'

const SECRET = 'aws-secret-canary-0123456789'
const KEY = 'bedrock-api-key-canary-0123456789'
const SESSION = 'session-canary-0123456789'
/** 20 tokens read and 7 written, in nano-USD. */
const PRICE = 34_000

let world: TestGateway
const calls = { invoke: [] as string[], converse: [] as string[] }
let invoke: (isStream: boolean) => Response
let converse: (isStream: boolean) => Response

const CLAUDE = {
  ...{
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-upstream',
    content: [{ type: 'text', text: 'Hi' }],
  },
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 20, output_tokens: 7 } },
}
const CONVERSED = {
  output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
  ...{ stopReason: 'end_turn', usage: USAGE },
}

beforeAll(async () => {
  world = await startGateway({
    respond({ path }) {
      const isStream = path.includes('stream')
      const name = path.startsWith('/invoke') ? 'invoke' : 'converse'
      calls[name].push(path)
      return name === 'invoke' ? invoke(isStream) : converse(isStream)
    },
    catalog(file) {
      const [model] = file.models
      const address = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
      const auth = {
        type: 'aws',
        region: 'eu-west-1',
        accessKeyId: 'AKIDCANARY',
        secretAccessKey: SECRET,
        sessionToken: SESSION,
      }
      const format = 'messages' as const
      file.providers.invoke = { format, dialect: 'bedrock-invoke', baseUrl: `${address}/invoke`, auth }
      file.providers.converse = { format, dialect: 'bedrock-converse', baseUrl: `${address}/converse`, keys: [KEY] }
      file.providers.stalling = { ...file.providers.converse, timeouts: { idleMs: 500 } }
      file.models.push({ ...model, id: 'svc/stalling', targets: [{ provider: 'stalling', model: 'm' }] })
      for (const [name, family] of Object.entries({ unnamed: undefined, profiled: 'anthropic.claude' })) {
        const targets = [{ provider: 'converse', model: PROFILE, ...(family && { family }) }]
        const capabilities = ['tools', 'reasoning']
        file.models.push({ ...model, id: `svc/${name}`, capabilities, targets })
      }
      for (const [index] of Array.from({ length: 40 }).entries()) {
        const targets = ['invoke', 'converse'].map((provider) => ({
          provider,
          model: `eu.anthropic.claude-${index}:0`,
        }))
        file.models.push({ ...model, id: `svc/claude-${index}`, targets })
        file.models.push({ ...model, id: `svc/any-${index}`, targets: targets.slice(1) })
      }
    },
  })
})
afterAll(() => world.stop())
beforeEach(() => {
  Object.assign(calls, { invoke: [], converse: [] })
  invoke = (isStream) => (isStream ? framed(...claudeFrames('Hel', 'lo')) : Response.json(CLAUDE))
  converse = (isStream) => (isStream ? framed(...converseFrames('Hel', 'lo')) : Response.json(CONVERSED))
})

/** An ARN that does not mention what it stands for. */
const PROFILE = 'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3'

let next = 0
/** A customer of a model of their own: the outcome of the targets of one test is no other's business. */
async function customer() {
  const { key, accountId } = await world.customer('1')
  const number = next++
  const charged = async () => 1_000_000_000 - (await world.balance(accountId)).available
  const settled = () => until(async () => (await world.balance(accountId)).held === 0)
  return { key, charged, settled, claude: `svc/claude-${number}`, any: `svc/any-${number}` }
}

const FORMATS = {
  'chat-completions': (model: string, stream: boolean) => ({
    path: '/v1/chat/completions',
    body: {
      model,
      stream,
      stream_options: stream ? { include_usage: true } : undefined,
      messages: [{ role: 'user', content: 'Hi' }],
    },
  }),
  messages: (model: string, stream: boolean) => ({
    path: '/v1/messages',
    body: { model, stream, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
  }),
  'generate-content': (model: string, stream: boolean) => ({
    path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  }),
  responses: (model: string, stream: boolean) => ({ path: '/v1/responses', body: { model, stream, input: 'Hi' } }),
}
const NAMES = Object.keys(FORMATS) as (keyof typeof FORMATS)[]

async function ask(key: string, format: keyof typeof FORMATS, model: string, stream: boolean) {
  const { path, body } = FORMATS[format](model, stream)
  const response = await fetch(world.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

describe.each(NAMES)('a caller of %s', (format) => {
  test('E16: a caller gets the text of both Bedrock interfaces, whole and streamed, and pays the usage', async () => {
    const { key, claude, any, charged, settled } = await customer()
    for (const model of [claude, any]) {
      expect((await ask(key, format, model, false)).text).toContain('"Hi"')
      const { text } = await ask(key, format, model, true)
      expect(text).toContain('"Hel"')
      expect(text).toContain('"lo"')
      // E15: what Bedrock measured is nobody's business, nor is its name of the model.
      expect(text).not.toMatch(/Metrics|upstream|anthropic\.claude/)
    }
    await settled()
    expect(await charged()).toBe(4 * PRICE)
    expect([calls.invoke.length, calls.converse.length]).toEqual([2, 2])
  })

  test('E14: an exception before content leads to the next target; after content it is an error in the caller’s format, and the part is charged', async () => {
    const { key, claude, any, charged, settled } = await customer()
    invoke = () => framed(exceptionFrame('throttlingException', 'Too many'))
    expect((await ask(key, format, claude, true)).text).toContain('"lo"')
    expect([calls.invoke.length, calls.converse.length]).toEqual([1, 1])
    await settled()
    expect(await charged()).toBe(PRICE)
    converse = () =>
      framed(...converseFrames('Hel', 'lo').slice(0, 3), exceptionFrame('modelStreamErrorException', 'Broke'))
    const { text } = await ask(key, format, any, true)
    expect(text).toContain('"Hel"')
    expect(text).toMatch(/error/i)
    expect(text).not.toContain('message_stop')
    await settled()
    const paid = (await charged()) - PRICE
    expect(paid).toBeGreaterThan(0)
    expect(paid).toBeLessThan(PRICE)
  })

  test('E13: a corrupted or cut message of Bedrock ends the answer with an error', async () => {
    const { key, any, settled } = await customer()
    const frames = converseFrames('Hel', 'lo')
    const changed = Buffer.concat(frames)
    changed[changed.length - 200] = (changed.at(-200) ?? 0) ^ 4
    for (const bytes of [changed, Buffer.concat(frames).subarray(0, -40)]) {
      converse = () => new Response(Uint8Array.from(bytes), { headers: framed().headers })
      const { text } = await ask(key, format, any, true)
      expect(text).toContain('"Hel"')
      expect(text).toMatch(/error/i)
      await settled()
    }
  })
})

test('E13: a message that is announced but never arrives ends at the idle limit, and the delivered part is charged', async () => {
  const { key, charged, settled } = await customer()
  const begun = Buffer.concat(converseFrames('Hel').slice(0, 2))
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(20 * 1024 * 1024, 0)
  prelude.writeUInt32BE(Bun.hash.crc32(prelude.subarray(0, 8)), 8)
  const silent = new ReadableStream<Uint8Array>({ start: (opened) => opened.enqueue(Buffer.concat([begun, prelude])) })
  converse = () => new Response(silent, { headers: framed().headers })
  const { text } = await ask(key, 'messages', 'svc/stalling', true)
  expect(text).toContain('"Hel"')
  expect(text).toContain('event: error')
  await settled()
  expect(await charged()).toBeGreaterThan(0)
})

const metrics = (outputTokenCount: number) =>
  invokeFrame({ type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 20, outputTokenCount } })

test('E15: if Bedrock’s metrics differ from the answer’s usage, the usage is charged, and the difference logged once', async () => {
  const { key, claude, charged, settled } = await customer()
  invoke = () => framed(...claudeFrames('Hel', 'lo').slice(0, -1), metrics(9))
  expect((await ask(key, 'messages', claude, true)).text).not.toContain('Metrics')
  await settled()
  expect(await charged()).toBe(PRICE)
  const told = world.logLines.filter((line) => line.includes('provider_counts_differ'))
  expect(told.map((line) => JSON.parse(line))).toMatchObject([
    { provider: 'invoke', told: { output_tokens: 7 }, measured: { input_tokens: 20, output_tokens: 9 } },
  ])
})

test('E15: if the answer has no usage, Bedrock’s metrics are charged and reported', async () => {
  const { key, claude, charged, settled } = await customer()
  const silent = invokeFrame({ type: 'message_delta', delta: { stop_reason: 'max_tokens', stop_sequence: null } })
  invoke = () => framed(...claudeFrames('Hel', 'lo').slice(0, -2), silent, metrics(7))
  const { text } = await ask(key, 'messages', claude, true)
  expect(text).toContain('"output_tokens":7')
  expect(text).toContain('"max_tokens"')
  await settled()
  expect(await charged()).toBe(PRICE)
})

test('the vendors’ clients read streams of InvokeModel and Converse to their end', async () => {
  const { key, claude, any } = await customer()
  for (const model of [claude, any]) {
    const anthropic = new Anthropic({ apiKey: key, baseURL: world.url, maxRetries: 0 })
    const request = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] }
    const final = await anthropic.messages.stream(request).finalMessage()
    expect(final).toMatchObject({ model, stop_reason: 'end_turn', content: [{ text: 'Hello' }] })
    expect(final.usage).toMatchObject({ output_tokens: 7 })
    const openai = new OpenAI({ apiKey: key, baseURL: `${world.url}/v1`, maxRetries: 0 })
    const completion = await openai.chat.completions
      .stream({ model, messages: request.messages, stream_options: { include_usage: true } })
      .finalChatCompletion()
    expect(completion.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 7 })
  }
})

test('E25: if a region is throttled, the same request goes to the next region and is charged once', async () => {
  const { key, claude, charged, settled } = await customer()
  invoke = () =>
    Response.json({ message: 'Too many' }, { status: 429, headers: { 'x-amzn-errortype': 'ThrottlingException' } })
  expect((await ask(key, 'messages', claude, false)).text).toContain('"Hi"')
  await settled()
  expect(await charged()).toBe(PRICE)
  expect([calls.invoke.length, calls.converse.length]).toEqual([1, 1])
})

test.each(['claude', 'any'] as const)(
  'E25: a client that disconnects from %s pays the usage, because the answer is read to its end',
  async (which) => {
    const { key, charged, settled, ...models } = await customer()
    const frames = which === 'claude' ? claudeFrames('Hel', 'lo') : converseFrames('Hel', 'lo')
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined
    const live = new ReadableStream<Uint8Array>({
      start(opened) {
        controller = opened
        for (const bytes of frames.slice(0, 3)) opened.enqueue(bytes)
      },
    })
    invoke = () => new Response(live, { headers: framed().headers })
    converse = invoke
    const leaving = new AbortController()
    const response = await fetch(`${world.url}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(FORMATS.messages(models[which], true).body),
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    leaving.abort()
    for (const bytes of frames.slice(3)) controller?.enqueue(bytes)
    controller?.close()
    await settled()
    expect(await charged()).toBe(PRICE)
  },
)

test('E22: if Bedrock refuses our credentials, the caller pays nothing and sees no secret', async () => {
  const { key, claude, charged, settled } = await customer()
  const refused = (kind: string, secrets: string) => () =>
    Response.json({ message: `no ${secrets}` }, { status: 403, headers: { 'x-amzn-errortype': `${kind}:http://x` } })
  invoke = refused('AccessDeniedException', `${SECRET} ${SESSION}`)
  converse = refused('AccessDeniedException', KEY)
  const { status, text } = await ask(key, 'messages', claude, false)
  expect(status).toBeGreaterThanOrEqual(500)
  await settled()
  expect(await charged()).toBe(0)
  expect((text + world.logLines.join('\n')).includes('canary-0123456789')).toBe(false)
})

test('fields that Bedrock does not support are named in the answer’s header', async () => {
  const { key, any } = await customer()
  const response = await fetch(`${world.url}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...FORMATS.messages(any, false).body, metadata: { user_id: 'u' } }),
  })
  expect(response.headers.get('x-svc-left-out')).toContain('metadata')
})

test.each([
  ['chat-completions', { reasoning_effort: 'high', user: 'u' }, 'reasoning_effort, user'],
  ['responses', { reasoning: { effort: 'high' }, safety_identifier: 'u' }, 'reasoning, safety_identifier'],
  [
    'generate-content',
    { generationConfig: { thinkingConfig: { thinkingBudget: 2000 } } },
    'generationConfig.thinkingConfig',
  ],
  ['messages', { thinking: { type: 'enabled', budget_tokens: 2000 }, max_tokens: 4000, top_k: 3 }, 'thinking, top_k'],
] as const)(
  'fields that a dialect omits are named as %s spells them; Claude behind a profile gets them',
  async (format, more, words) => {
    const { key } = await customer()
    const send = async (model: string) => {
      const { path, body } = FORMATS[format](model, false)
      const response = await fetch(world.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, ...more }),
      })
      expect(response.status).toBe(200)
      return response.headers.get('x-svc-left-out')?.split(', ').toSorted() ?? []
    }
    const expected = words.split(', ').toSorted()
    expect(await send('svc/unnamed')).toEqual(expected)
    const atClaude = await send('svc/profiled')
    expect(atClaude).toEqual(expected.filter((word) => /^(?:user|safety_identifier)$/.test(word)))
  },
)
