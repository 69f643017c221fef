/** Sounds and pictures in conversations have their own prices, in every format that reports them, whole and streamed. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatChunk, chatCompletion, eventStream, usageChunk } from '@test/support/upstream'
import { flushed, signUpCustomer } from '@test/usage/customer'
import type { FormatName } from '@/chat/format-name'
import type { JsonObject } from '@/lib/json'

/** A fee of 0.001 USD, and USD per 1,000,000 tokens. */
const FEE = { billable: 'request', unit: 'request', usd: 0.001, costUsd: 0.0005 } as const
const line = (billable: string, usd: number) => ({ billable, unit: 'token', usd, costUsd: usd / 2 })
const PRICING = {
  ...{ inputPer1mTokens: 1, outputPer1mTokens: 2, costPer1mInputTokens: 0.5, costPer1mOutputTokens: 1 },
  lines: [line('input_audio', 40), line('input_image', 3), line('output_image', 80), FEE],
}
/** 10 of input are 1 of text, 6 of sound and 3 of pictures; 7 of output are 5 of text and 2 of pictures. */
const INPUT = { text: 1, audio: 6, image: 3 }
const OUTPUT = { text: 5, image: 2 }
const COST = 1 * 1_000 + 6 * 40_000 + 3 * 3_000 + 5 * 2_000 + 2 * 80_000 + 1_000_000
/** The same without sounds and pictures: all tokens cost the price of text. */
const PLAIN_COST = 10 * 1_000 + 7 * 2_000

const PROVIDERS = ['chat-completions', 'responses', 'generate-content'] as const satisfies FormatName[]
type Provider = (typeof PROVIDERS)[number]

let world: TestGateway
let calls = 0

beforeAll(async () => {
  world = await startGateway({
    respond({ path, body }) {
      calls++
      const provider = PROVIDERS.find((name) => path.includes(name))
      if (!provider) throw new Error(`no provider at ${path}`)
      return ANSWERS[provider](path.includes('stream') || body.stream === true)
    },
    catalog(file) {
      const [model] = file.models
      const address = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
      for (const name of PROVIDERS) {
        file.providers[name] = { format: name, baseUrl: `${address}/${name}`, keys: ['sk-canary'] }
        const of = { ...model, targets: [{ provider: name, model: 'm' }], capabilities: ['audio', 'images'] }
        file.models.push({ ...of, id: `svc/${name}`, pricing: PRICING })
        const { lines: _, ...plain } = PRICING
        file.models.push({ ...of, id: `svc/plain-${name}`, pricing: plain })
      }
    },
  })
})
afterAll(() => world.stop())

const CHAT_USAGE = {
  ...{ prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 },
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: INPUT.audio, image_tokens: INPUT.image },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, image_tokens: OUTPUT.image },
}
const ITEM = {
  ...{ id: 'msg_1', type: 'message', status: 'completed', role: 'assistant' },
  content: [{ type: 'output_text', text: 'Sound', annotations: [] }],
}
const ANSWERS: Record<Provider, (isStream: boolean) => Response> = {
  'chat-completions'(isStream) {
    if (!isStream) return Response.json({ ...chatCompletion('Sound'), usage: CHAT_USAGE })
    const chunks = [chatChunk({ role: 'assistant', content: 'Sound' }), chatChunk({}, 'stop')]
    return eventStream(...chunks, { ...usageChunk(), usage: CHAT_USAGE }, '[DONE]')
  },
  responses(isStream) {
    const usage = {
      ...{ input_tokens: 10, output_tokens: 7, total_tokens: 17 },
      input_tokens_details: { cached_tokens: 0, audio_tokens: INPUT.audio, image_tokens: INPUT.image },
      output_tokens_details: { reasoning_tokens: 0, image_tokens: OUTPUT.image },
    }
    const whole = {
      ...{ id: 'resp_1', object: 'response', created_at: 1_760_000_000, status: 'completed', error: null, model: 'x' },
      ...{ output: [ITEM], usage },
    }
    if (!isStream) return Response.json(whole)
    const delta = { item_id: ITEM.id, output_index: 0, content_index: 0, delta: 'Sound' }
    return eventStream(
      { type: 'response.created', response: { ...whole, status: 'in_progress', output: [], usage: null } },
      { type: 'response.output_item.added', output_index: 0, item: { ...ITEM, status: 'in_progress', content: [] } },
      { type: 'response.output_text.delta', ...delta },
      { type: 'response.output_item.done', output_index: 0, item: ITEM },
      { type: 'response.completed', response: whole },
    )
  },
  'generate-content'(isStream) {
    const of = (modality: string, tokenCount: number) => ({ modality, tokenCount })
    const usageMetadata = {
      ...{ promptTokenCount: 10, candidatesTokenCount: 7, totalTokenCount: 17 },
      promptTokensDetails: [of('TEXT', INPUT.text), of('AUDIO', INPUT.audio), of('IMAGE', INPUT.image)],
      candidatesTokensDetails: [of('TEXT', OUTPUT.text), of('IMAGE', OUTPUT.image)],
    }
    const parts = [{ text: 'Sound' }]
    const whole = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }], usageMetadata }
    return isStream ? eventStream(whole) : Response.json(whole)
  },
}

/** A second of silence as plain WAV. */
function silence(): string {
  const header = Buffer.from(
    '524946462400000057415645666d74201000000001000100803e0000007d0000020010006461746100000000',
    'hex',
  )
  return Buffer.concat([header, Buffer.alloc(32_000)]).toString('base64')
}

const SOUND = { inline_data: { mime_type: 'audio/wav', data: silence() } }
const PICTURE = 'data:image/png;base64,iVBORw0KGgo='

/** A request to the provider's model in its own format, with a picture and, where the format has it, a sound. */
function requestTo(provider: Provider, model: string, stream: boolean): [path: string, body: JsonObject] {
  if (provider === 'chat-completions') {
    const sound = { type: 'input_audio', input_audio: { data: silence(), format: 'wav' } }
    const content = [{ type: 'text', text: 'Hi' }, sound, { type: 'image_url', image_url: { url: PICTURE } }]
    return ['/v1/chat/completions', { model, messages: [{ role: 'user', content }], stream, max_tokens: 100 }]
  }
  if (provider === 'responses') {
    const sound = { type: 'input_file', filename: 'a.wav', file_data: `data:audio/wav;base64,${silence()}` }
    const content = [{ type: 'input_text', text: 'Hi' }, sound, { type: 'input_image', image_url: PICTURE }]
    return [
      '/v1/responses',
      { model, input: [{ role: 'user', content }], stream, store: false, max_output_tokens: 100 },
    ]
  }
  const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const picture = { inline_data: { mime_type: 'image/png', data: 'iVBORw0KGgo=' } }
  return [
    `/v1beta/models/${model}:${verb}`,
    {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }, SOUND, picture] }],
      generationConfig: { maxOutputTokens: 100 },
    },
  ]
}

async function ask(key: string, [path, body]: [path: string, body: JsonObject]) {
  const response = await fetch(world.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text(), id: response.headers.get('x-request-id') ?? '' }
}

const LANES = PROVIDERS.flatMap((provider) => [false, true].map((stream) => ({ provider, stream })))

describe.each(LANES)('media prices: $provider, stream: $stream', ({ provider, stream }) => {
  test.each([
    ['a model with lines charges sounds and pictures at their price, and its fee', `svc/${provider}`, COST],
    ['a model without lines charges them at the price of text', `svc/plain-${provider}`, PLAIN_COST],
  ])('media prices: %s', async (_, model, cost) => {
    const { key, accountId } = await world.customer('10')
    const { available: before } = await world.balance(accountId)
    const { status, text } = await ask(key, requestTo(provider, model, stream))
    expect([status, text]).toEqual([200, expect.stringContaining('Sound')])
    await until(async () => (await world.balance(accountId)).held === 0)
    expect(before - (await world.balance(accountId)).available).toBe(cost)
  })

  test('a client of another format gets the same counts of sounds and pictures, and pays the same', async () => {
    const { key, accountId } = await world.customer('10')
    const { available: before } = await world.balance(accountId)
    const other = provider === 'chat-completions' ? 'generate-content' : 'chat-completions'
    const { status, text } = await ask(key, requestTo(other, `svc/${provider}`, false))
    expect([status, text]).toEqual([200, expect.stringContaining('Sound')])
    expect(text).toContain(other === 'chat-completions' ? '"total_tokens":17' : '"totalTokenCount":17')
    expect(text).toContain(
      other === 'chat-completions' ? '"audio_tokens":6,"image_tokens":3' : '{"modality":"AUDIO","tokenCount":6}',
    )
    expect(before - (await world.balance(accountId)).available).toBe(COST)
  })
})

test('a text request costs text and fee only, whatever the provider reports; a balance below the hold is refused', async () => {
  const { key, accountId } = await world.customer('10')
  const { available: before } = await world.balance(accountId)
  const body = { model: 'svc/chat-completions', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 }
  expect((await ask(key, ['/v1/chat/completions', body])).status).toBe(200)
  const spent = before - (await world.balance(accountId)).available
  expect(spent).toBe(10 * 1_000 + 5 * 2_000 + 2 * 80_000 + 1_000_000)
  const poor = await world.customer('0.005')
  const made = calls
  const refused = await ask(poor.key, requestTo('chat-completions', 'svc/chat-completions', false))
  expect([refused.status, calls]).toEqual([402, made])
})

test('before and after the flush, the record has each unit with its price line and cost', async () => {
  const { person, accountId, key } = await signUpCustomer(world, '10')
  const { id } = await ask(key, requestTo('chat-completions', 'svc/chat-completions', false))
  const units = [
    { billable: 'input_audio', unit: 'token', count: 6 },
    { billable: 'input_image', unit: 'token', count: 3 },
    { billable: 'output_image', unit: 'token', count: 2 },
    { billable: 'request', unit: 'request', count: 1 },
  ]
  const generation = async () => {
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${world.url}/v1/generation?id=${id}`, { headers })
    return ((await response.json()) as { data: JsonObject }).data
  }
  const told = { units, tokens_prompt: 10, tokens_completion: 7, native_tokens_completion_images: 2 }
  expect(await generation()).toMatchObject(told)
  await flushed(world, accountId)
  expect(await generation()).toMatchObject(told)
  const response = await person.fetch(`/dashboard/api/a/:accountId/usage/requests/${id}`)
  expect(await response.json()).toMatchObject({
    ...{ priceNote: null, rounding: '0' },
    lines: [
      { class: 'input', unit: 'token', count: 1, unitPrice: '1', amount: '0.000001' },
      { class: 'output', unit: 'token', count: 5, unitPrice: '2', amount: '0.00001' },
      { class: 'input_audio', unit: 'token', count: 6, unitPrice: '40', amount: '0.00024' },
      { class: 'input_image', unit: 'token', count: 3, unitPrice: '3', amount: '0.000009' },
      { class: 'output_image', unit: 'token', count: 2, unitPrice: '80', amount: '0.00016' },
      { class: 'request', unit: 'request', count: 1, unitPrice: '0.001', amount: '0.001' },
    ],
  })
  const [row] = await world.gateway.database.sql`
    SELECT provider_cost_nano::bigint AS cost FROM usage_records WHERE request_id = ${id}`
  expect(row?.cost).toBe(COST / 2)
})

test('the model lists state the prices of lines, in OpenRouter’s fields too', async () => {
  const { pricing, architecture } = (await (await fetch(`${world.url}/v1/models/svc/chat-completions`)).json()) as {
    pricing: JsonObject
    architecture: JsonObject
  }
  const { costUsd: _, ...fee } = FEE
  expect(pricing).toMatchObject({
    lines: [
      { billable: 'input_audio', unit: 'token', usd: 40 },
      { billable: 'input_image', unit: 'token', usd: 3 },
      { billable: 'output_image', unit: 'token', usd: 80 },
      fee,
    ],
    ...{ audio: '0.00004', image_token: '0.000003', image_output: '0.00008', request: '0.001' },
  })
  expect(JSON.stringify(pricing)).not.toContain('costUsd')
  expect(architecture).toMatchObject({ output_modalities: ['text', 'image'] })
  const plain = await (await fetch(`${world.url}/v1/models/svc/plain-responses`)).text()
  expect(plain).not.toContain('"lines"')
  const { person } = await signUpCustomer(world, '1')
  const { models } = (await (await person.fetch('/dashboard/api/models')).json()) as { models: JsonObject[] }
  expect(models.find(({ id }) => id === 'svc/chat-completions')?.priceLines).toEqual([
    { billable: 'input_audio', unit: 'token', usd: '40' },
    { billable: 'input_image', unit: 'token', usd: '3' },
    { billable: 'output_image', unit: 'token', usd: '80' },
    { billable: 'request', unit: 'request', usd: '0.001' },
  ])
})

test('the cost in an answer is split into input and output by the price lines', async () => {
  const { key } = await world.customer('10')
  const [path, body] = requestTo('chat-completions', 'svc/chat-completions', false)
  const { text } = await ask(key, [path, { ...body, usage: { include: true } }])
  const { usage } = JSON.parse(text) as { usage: JsonObject }
  const input = (1 * 1_000 + 6 * 40_000 + 3 * 3_000 + 1_000_000) / 1e9
  expect(usage).toMatchObject({
    cost: COST / 1e9,
    cost_details: { upstream_inference_prompt_cost: input, upstream_inference_completions_cost: 0.00017 },
  })
})
