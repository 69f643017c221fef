/** Fields that a translation omits are named, without the caller's values. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FORMATS, type FormatName, type ScriptedModels, soundAnswer, startScriptedModels } from './scripted-models'

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

test.each([...FORMATS])('fields on no list of %s are omitted, and named in header and log', async (format) => {
  let received: unknown
  const model = world.modelWith(format, ({ body }) => {
    received = body
    return soundAnswer(format, false)
  })
  const { response } = await world.ask({ format, model, body: { x_unheard_of: 'secret words', 'new\nline': 1 } })
  expect(response.status).toBe(200)
  expect(response.headers.get('x-svc-left-out')).toMatch(/^(x_unheard_of|xUnheardOf), new\?line$/)
  expect(JSON.stringify(received)).not.toContain('secret words')
  const line = world.gateway.logLines.findLast((text) => text.includes('"event":"request_fields_left_out"'))
  expect(line).toMatch(/x_?[uU]nheard/)
  expect(line).not.toContain('secret words')
})

test.each([...FORMATS])(
  'if a provider of %s does not get a message’s name, the header lists the field, for every role',
  async (format) => {
    const isOwn = format === 'chat-completions'
    const said = (role: string) => ({ role, content: 'Hi', name: 'Ann' })
    for (const role of ['system', 'developer', 'user', 'assistant']) {
      const model = world.modelWith(format, () => soundAnswer(format, false))
      const messages = [said(role), { role: 'user', content: 'Hi' }]
      const { response } = await world.ask({ format: 'chat-completions', model, body: { messages } })
      expect([role, response.status]).toEqual([role, 200])
      expect([role, response.headers.get('x-svc-left-out')]).toEqual([role, isOwn ? null : 'messages.name'])
    }
  },
)

test.each([...FORMATS])(
  'a conversation stored at the vendor is refused for a provider of %s, with a code that tool runners know',
  async (format) => {
    const model = world.modelWith(format, () => soundAnswer(format, false))
    const thread = { type: 'continue', previous_message_id: 'msg_1' }
    const { response, text } = await world.ask({ format: 'messages', model, body: { thread } })
    expect(response.status).toBe(400)
    expect(JSON.parse(text).error).toMatchObject({
      type: 'invalid_request_error',
      details: { error_code: 'thread_unsupported_request', param: 'thread' },
    })
  },
)

test('operators can pass on a provider’s fields by name', async () => {
  const { modelWith, ask, gateway } = await startScriptedModels({ passFields: ['thread', 'x_unheard_of'] })
  let received: unknown
  const model = modelWith('messages', ({ body }) => {
    received = body
    return soundAnswer('messages', false)
  })
  const fields = { thread: { type: 'create' }, x_unheard_of: 1 }
  const { response } = await ask({ format: 'messages', model, body: { ...fields, x_other: 2 } })
  await gateway.stop()
  expect(response.headers.get('x-svc-left-out')).toBe('x_other')
  expect(received).toMatchObject(fields)
  expect(received).not.toHaveProperty('x_other')
})

describe.each([['chat-completions'], ['generate-content']] as const)('the field `store` of %s', (format) => {
  const sentWith = async (body: Record<string, unknown>) => {
    let received: Record<string, unknown> = {}
    const model = world.modelWith(format, (call) => {
      received = call.body
      return soundAnswer(format, false)
    })
    const { response } = await world.ask({ format, model, body })
    expect(response.status).toBe(200)
    return { received, leftOut: response.headers.get('x-svc-left-out') }
  }

  test('`store` reaches no provider', async () => {
    const { received, leftOut } = await sentWith({ store: true })
    expect(received).not.toHaveProperty('store')
    expect(leftOut).toBe('store')
  })

  test('`store: false` is passed on', async () => {
    const { received, leftOut } = await sentWith({ store: false })
    expect([received.store, leftOut]).toEqual([false, null])
  })
})

test('metadata of a stored answer is omitted with `store`', async () => {
  let received: Record<string, unknown> = {}
  const model = world.modelWith('chat-completions', (call) => {
    received = call.body
    return soundAnswer('chat-completions', false)
  })
  const metadata = { a: 'b' }
  const { response } = await world.ask({ format: 'chat-completions', model, body: { metadata, store: true } })
  expect(received).not.toHaveProperty('metadata')
  expect(response.headers.get('x-svc-left-out')).toBe('store, metadata')
  await world.ask({ format: 'chat-completions', model, body: { metadata } })
  expect(received.metadata).toEqual(metadata)
})

const CONSTRAINED = { logit_bias: { '50256': -100 }, guided_json: { type: 'object' } }

describe('fields that constrain the answer', () => {
  test('a field that constrains the answer is a 400 that names the lost fields', async () => {
    const model = world.modelWith('messages', () => expect.unreachable())
    const { response, text } = await world.ask({ format: 'chat-completions', model, body: CONSTRAINED })
    expect(response.status).toBe(400)
    const { error } = JSON.parse(text)
    expect(error).toMatchObject({ param: 'logit_bias', code: 'no_capable_model' })
    expect(error.message).toContain('cannot carry logit_bias, guided_json (svc.lossy answers without)')
  })

  test('a field that constrains the answer is omitted if the caller accepts the loss, in body or header', async () => {
    const model = world.modelWith('messages', () => soundAnswer('messages', false))
    const ask = (body: Record<string, unknown>, headers: Record<string, string>) =>
      world.ask({ format: 'chat-completions', model, body: { ...CONSTRAINED, ...body }, headers })
    for (const { response } of [
      await ask({ svc: { lossy: true } }, {}),
      await ask({}, { 'x-svc-lossy': 'true' }),
      await ask({ svc: { lossy: false } }, { 'x-svc-lossy': 'true' }),
    ]) {
      expect(response.status).toBe(200)
      expect(response.headers.get('x-svc-left-out')).toBe('logit_bias, guided_json')
    }
    for (const { response } of [
      await ask({ svc: { lossy: false } }, {}),
      await ask({}, { 'x-svc-lossy': 'false' }),
      await ask({}, { 'x-svc-lossy': '' }),
    ]) {
      expect(response.status).toBe(400)
    }
    const { response, text } = await ask({}, { 'x-svc-lossy': 'yes' })
    expect([response.status, text]).toEqual([400, expect.stringContaining('x-svc-lossy must be true or false')])
  })

  test('a request with a constraining field goes to a fallback model that supports it', async () => {
    const foreign = world.modelWith('messages', () => expect.unreachable())
    const own = world.modelWith('chat-completions', () => soundAnswer('chat-completions', false))
    const { response } = await world.ask({
      format: 'chat-completions',
      model: foreign,
      fallback: [own],
      body: CONSTRAINED,
    })
    expect([response.status, response.headers.get('x-svc-model')]).toEqual([200, own])
    expect(response.headers.get('x-svc-left-out')).toBeNull()
  })

  test('a constraining field that is empty or off has no effect', async () => {
    const model = world.modelWith('messages', () => soundAnswer('messages', false))
    const body = { logit_bias: {}, logprobs: false, top_logprobs: 0, guided_json: null }
    const { response } = await world.ask({ format: 'chat-completions', model, body })
    expect([response.status, response.headers.get('x-svc-left-out')]).toEqual([200, null])
  })
})

const LOGPROBS: Record<string, Record<string, unknown>> = {
  'chat-completions': { logprobs: true },
  'generate-content': { generationConfig: { responseLogprobs: true } },
  responses: { include: ['message.output_text.logprobs'] },
}
const TELLERS = FORMATS.filter((format) => format !== 'messages')
const PAIRS = TELLERS.flatMap((client) => TELLERS.map((provider): [FormatName, FormatName] => [client, provider]))

describe('log probabilities', () => {
  test.each(PAIRS)('a whole answer has log probabilities: provider of %s, caller of %s', async (provider, format) => {
    const model = world.modelWith(provider, () => answerWithLogprobs(provider))
    const { response, text } = await world.ask({ format, model, body: LOGPROBS[format] ?? {} })
    expect([response.status, response.headers.get('x-svc-left-out')]).toEqual([200, null])
    expect(text).toMatch(/"(logprob|logProbability)":\s*-0\.25/)
  })

  const across = PAIRS.filter(([client, provider]) => client !== provider)
  test.each(across)(
    'log probabilities in a stream from %s to %s are a 400, or named as omitted if a loss is accepted',
    async (provider, format) => {
      const model = world.modelWith(provider, () => soundAnswer(provider, true))
      const ask = (headers: Record<string, string>) =>
        world.ask({ format, model, stream: true, headers, body: LOGPROBS[format] ?? {} })
      const refused = await ask({})
      expect([refused.response.status, refused.text]).toEqual([
        400,
        expect.stringContaining('in a stream cannot carry'),
      ])
      const { response } = await ask({ 'x-svc-lossy': 'true' })
      expect(response.status).toBe(200)
      expect(response.headers.get('x-svc-left-out')).toMatch(/^(logprobs|generationConfig.responseLogprobs|include)$/)
    },
  )
})

function answerWithLogprobs(format: FormatName): Response {
  const token = { token: 'Sound', logprob: -0.25, bytes: null, top_logprobs: [] }
  switch (format) {
    case 'chat-completions': {
      const message = { role: 'assistant', content: 'Sound' }
      const choice = { index: 0, message, finish_reason: 'stop', logprobs: { content: [token], refusal: null } }
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
      return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'x', choices: [choice], usage })
    }
    case 'generate-content': {
      const logprobsResult = { chosenCandidates: [{ token: 'Sound', logProbability: -0.25 }], topCandidates: [] }
      const content = { role: 'model', parts: [{ text: 'Sound' }] }
      const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 }
      return Response.json({ candidates: [{ content, index: 0, finishReason: 'STOP', logprobsResult }], usageMetadata })
    }
    default: {
      const part = { type: 'output_text', text: 'Sound', annotations: [], logprobs: [token] }
      const item = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [part] }
      const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
      const head = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'x' }
      return Response.json({ ...head, error: null, incomplete_details: null, output: [item], usage })
    }
  }
}

test('fields that a quirk omits are named too', async () => {
  const quirks = ['no-sampling', 'no-reasoning-effort', 'no-thinking', 'no-reasoning', 'no-verbosity']
  const { modelWith, ask, gateway } = await startScriptedModels({}, { quirks })
  const asked: [FormatName, FormatName, Record<string, unknown>, string][] = [
    ['messages', 'chat-completions', { temperature: 0.5, top_p: 0.5 }, 'temperature, top_p'],
    ['chat-completions', 'messages', { temperature: 0.5, reasoning_effort: 'low' }, 'reasoning_effort, temperature'],
    ['chat-completions', 'generate-content', { reasoning_effort: 'low' }, 'reasoning_effort'],
    ['chat-completions', 'responses', { verbosity: 'low', top_p: 0.5 }, 'top_p, verbosity'],
  ]
  for (const [format, provider, body, named] of asked) {
    const model = modelWith(provider, () => soundAnswer(provider, false))
    const { response } = await ask({ format, model, body })
    expect([provider, response.status, response.headers.get('x-svc-left-out')]).toEqual([provider, 200, named])
  }
  await gateway.stop()
})
