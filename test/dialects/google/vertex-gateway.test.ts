/**
 * Claude and Gemini on Vertex AI through a whole gateway: several regions of one model, another cloud as fallback,
 * and signed reasoning.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { type ScriptedUpstream, startUpstream, type UpstreamCall } from '@test/support/upstream'
import { assert } from '@/lib/assert'

/** 20 tokens read and 7 written, in nano-USD of the price; of the regions' and the vendor's cost by their factor. */
const PRICE = 34_000
const SIGNED = 'RXUs-signed-by-vertex'
const TOKEN = 'ya29.canary'

let world: TestGateway
let tokens: ScriptedUpstream
const places = ['global', 'region', 'vendor'] as const
type Place = (typeof places)[number]
/** What each place was sent since the test began, and what it answers. */
const calls: Record<Place, UpstreamCall[]> = { global: [], region: [], vendor: [] }
const answers: Record<Place, (call: UpstreamCall) => Response> = { global: ok, region: ok, vendor: ok }

const USAGE = { input_tokens: 20, output_tokens: 7 }
const MESSAGE = {
  ...{ id: 'msg_vrtx_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5-20250929' },
  ...{ content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn', stop_sequence: null, usage: USAGE },
}

function ok({ path }: UpstreamCall): Response {
  if (path.includes('GenerateContent') || path.includes('generateContent')) return gemini(path.includes('stream'))
  if (!path.includes('streamRawPredict')) return Response.json(MESSAGE)
  const events = [
    { type: 'vertex_event', usage: USAGE },
    { type: 'message_start', message: { ...MESSAGE, content: [], usage: { ...USAGE, output_tokens: 1 } } },
    { type: 'ping' },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ]
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

function gemini(isStream: boolean): Response {
  const chunk = {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 7, totalTokenCount: 27, trafficType: 'ON_DEMAND' },
    modelVersion: 'gemini-3-flash',
  }
  if (!isStream) return Response.json(chunk)
  return new Response(`data: ${JSON.stringify(chunk)}\r\n\r\n`, { headers: { 'content-type': 'text/event-stream' } })
}

const exhausted = () =>
  Response.json(
    { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Resource exhausted, please try again later.' } },
    { status: 429 },
  )

/** A location that doesn't have the model, which does not mention any other one. */
const missing = () => Response.json({ error: { code: 404, status: 'NOT_FOUND', message: 'x' } }, { status: 404 })

beforeAll(async () => {
  const headers = { 'metadata-flavor': 'Google' }
  tokens = startUpstream(() => Response.json({ access_token: TOKEN, expires_in: 3599 }, { headers }))
  world = await startGateway({
    respond(call) {
      const place = places.find((name) => call.path.startsWith(`/${name}/`))
      assert(place, `nobody is called at ${call.path}`)
      calls[place].push(call)
      return answers[place](call)
    },
    catalog(file) {
      const [model] = file.models
      const address = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
      const auth = { type: 'google', metadataHost: new URL(tokens.url).host }
      for (const [name, location] of [
        ['global', 'global'],
        ['region', 'europe-west4'],
      ]) {
        const at = { auth, project: 'the-project', location, baseUrl: `${address}/${name}` }
        file.providers[`claude-${name}`] = { preset: 'vertex-anthropic', ...at }
        file.providers[`gemini-${name}`] = { preset: 'vertex', ...at }
      }
      file.providers.vendor = { format: 'messages', baseUrl: `${address}/vendor`, keys: ['vendor-key'] }
      const cost = (factor: number) => ({ costPer1mInputTokens: factor, costPer1mOutputTokens: 2 * factor })
      // The outcome of the targets of one test is no other's business.
      for (const name of Array.from({ length: 6 }, (_, index) => `claude-${index}`)) {
        const targets = [
          { provider: 'claude-global', model: `${name}@20250929`, cost: cost(0.5) },
          { provider: 'claude-region', model: `${name}@20250929`, cost: cost(0.55) },
          { provider: 'vendor', model: `${name}-20250929`, cost: cost(0.6) },
        ]
        file.models.push({ ...model, id: `svc/${name}`, capabilities: ['tools', 'reasoning'], targets })
      }
      for (const name of ['gemini-0', 'gemini-1']) {
        const targets = ['gemini-global', 'gemini-region'].map((provider) => ({ provider, model: name }))
        file.models.push({ ...model, id: `svc/${name}`, capabilities: ['tools', 'reasoning'], targets })
      }
    },
  })
})
afterAll(async () => {
  await world.stop()
  tokens.stop()
})
beforeEach(() => {
  for (const place of places) {
    calls[place] = []
    answers[place] = ok
  }
})

/** A customer, the library that asks for it, what it was charged, and what that cost us. */
async function asking() {
  const { key, accountId } = await world.customer('1')
  const client = new Anthropic({ apiKey: key, baseURL: world.url, maxRetries: 0 })
  const charged = async () => 1_000_000_000 - (await world.balance(accountId)).available
  const cost = async () => {
    const { sql } = world.gateway.database
    const [row] = await until(async () => {
      const rows = await sql<{ cost: number }[]>`
        SELECT provider_cost_nano AS cost FROM usage_records WHERE account_id = ${accountId}`
      return rows.length > 0 && rows
    })
    return Number(row?.cost)
  }
  return { key, client, charged, cost }
}

const REQUEST = { max_tokens: 50, messages: [{ role: 'user' as const, content: 'Hi' }] }
const counts = () => places.map((place) => calls[place].length)

test('E20: a stream of Claude reaches the vendor’s library completely, and its usage is charged once', async () => {
  const { client, charged } = await asking()
  const final = await client.messages.stream({ model: 'svc/claude-0', ...REQUEST }).finalMessage()
  expect(final).toMatchObject({ content: [{ type: 'text', text: 'Hello' }], model: 'svc/claude-0' })
  expect(final.usage).toMatchObject(USAGE)
  expect(await charged()).toBe(PRICE)
  const [call] = calls.global
  expect(call?.path).toBe(
    '/global/v1/projects/the-project/locations/global/publishers/anthropic/models/claude-0@20250929:streamRawPredict',
  )
  expect(call?.body).toMatchObject({ anthropic_version: 'vertex-2023-10-16', stream: true })
  expect(call?.body).not.toHaveProperty('model')
  expect(call?.headers.get('authorization')).toBe(`Bearer ${TOKEN}`)
})

test('E20: a caller’s betas are sent in the header, without a version header', async () => {
  const { client } = await asking()
  const headers = { 'anthropic-beta': 'interleaved-thinking-2025-05-14', 'anthropic-version': '2026-10-21' }
  await client.messages.create({ model: 'svc/claude-0', ...REQUEST }, { headers })
  expect(calls.global[0]?.headers.get('anthropic-beta')).toBe('interleaved-thinking-2025-05-14')
  expect(calls.global[0]?.headers.has('anthropic-version')).toBe(false)
})

/** What Vertex AI is known to take; it names what it refuses. */
const TAKEN = /^(?:interleaved-thinking|context-management|tool-search-tool)-/

function strict(call: UpstreamCall): Response {
  const betas = call.headers.get('anthropic-beta')?.split(',') ?? []
  const refused = betas.find((name) => !TAKEN.test(name))
  if (refused === undefined) return ok(call)
  const message = `Unexpected value(s) \`${refused}\` for the \`anthropic-beta\` header.`
  return Response.json({ type: 'error', error: { type: 'invalid_request_error', message } }, { status: 400 })
}

test('the betas of Claude Code are sent, renamed, or omitted and named in one call', async () => {
  answers.global = strict
  const { client } = await asking()
  const betas = [
    ...['claude-code-20250219', 'interleaved-thinking-2025-05-14', 'context-management-2025-06-27'],
    ...['mid-conversation-tool-changes-2026-07-01', 'thinking-token-count-2026-05-13'],
    ...['advanced-tool-use-2025-11-20', 'effort-2025-11-24'],
  ]
  const edits = { context_management: { edits: [{ type: 'clear_thinking_20251015' as const, keep: 'all' as const }] } }
  const { data, response } = await client.beta.messages
    .create({ model: 'svc/claude-0', ...REQUEST, ...edits, betas })
    .withResponse()
  expect(data.content).toMatchObject([{ text: 'Hello' }])
  expect(counts()).toEqual([1, 0, 0])
  expect(calls.global[0]?.headers.get('anthropic-beta')).toBe(
    'interleaved-thinking-2025-05-14,context-management-2025-06-27,tool-search-tool-2025-10-19',
  )
  expect(calls.global[0]?.body).toMatchObject(edits)
  expect(response.headers.get('x-svc-left-out')).toBe(
    [
      'claude-code-20250219',
      'mid-conversation-tool-changes-2026-07-01',
      'thinking-token-count-2026-05-13',
      'effort-2025-11-24',
    ]
      .map((name) => `anthropic-beta.${name}`)
      .join(', '),
  )
})

test('a beta that a cloud refuses by name is omitted with its fields in a second call, which is free', async () => {
  answers.global = strict
  const { client, charged } = await asking()
  const betas = ['interleaved-thinking-2025-05-14', 'context-1m-2025-08-07']
  const { response } = await client.beta.messages.create({ model: 'svc/claude-0', ...REQUEST, betas }).withResponse()
  expect(counts()).toEqual([2, 0, 0])
  expect(calls.global[1]?.headers.get('anthropic-beta')).toBe('interleaved-thinking-2025-05-14')
  expect(response.headers.get('x-svc-left-out')).toBe('anthropic-beta.context-1m-2025-08-07')
  expect(await charged()).toBe(PRICE)
  expect(world.logLines.join('\n')).toContain('betas_refused')
})

test('E24, E25: if a location’s quota is used up, the next location answers: the same price, its own provider cost', async () => {
  answers.global = exhausted
  const first = await asking()
  await first.client.messages.create({ model: 'svc/claude-1', ...REQUEST })
  expect(counts()).toEqual([1, 1, 0])
  expect(await first.charged()).toBe(PRICE)
  expect(await first.cost()).toBe(PRICE * 0.55)
  answers.global = ok
  const second = await asking()
  await second.client.messages.create({ model: 'svc/claude-2', ...REQUEST })
  expect(await second.charged()).toBe(PRICE)
  expect(await second.cost()).toBe(PRICE * 0.5)
})

test('E25: if no location has the model, the vendor’s own service answers', async () => {
  answers.global = missing
  answers.region = missing
  const { client, charged, cost } = await asking()
  const final = await client.messages.stream({ model: 'svc/claude-3', ...REQUEST }).finalMessage()
  expect(final.content).toMatchObject([{ text: 'Hello' }])
  expect(counts()).toEqual([1, 1, 1])
  expect(calls.vendor[0]?.path).toBe('/vendor/v1/messages')
  expect(calls.vendor[0]?.headers.get('x-api-key')).toBe('vendor-key')
  expect(calls.vendor[0]?.headers.has('authorization')).toBe(false)
  expect(await charged()).toBe(PRICE)
  expect(await cost()).toBe(PRICE * 0.6)
})

const THOUGHT = { type: 'thinking' as const, thinking: 'Let me see.', signature: SIGNED }
const HISTORY = {
  ...{ max_tokens: 2_000, thinking: { type: 'enabled' as const, budget_tokens: 1_024 } },
  tools: [{ name: 'look', input_schema: { type: 'object' as const } }],
  messages: [
    { role: 'user' as const, content: 'Look.' },
    {
      role: 'assistant' as const,
      content: [THOUGHT, { type: 'tool_use' as const, id: 'toolu_1', name: 'look', input: {} }],
    },
    { role: 'user' as const, content: [{ type: 'tool_result' as const, tool_use_id: 'toolu_1', content: 'a cat' }] },
  ],
}
const hasThought = (call: UpstreamCall | undefined) => call?.text.includes(SIGNED)

test('E25: signed reasoning is kept within a cloud, and removed free of charge if another cloud refuses it', async () => {
  answers.global = missing
  const within = await asking()
  await within.client.messages.create({ model: 'svc/claude-4', ...HISTORY })
  expect(counts()).toEqual([1, 1, 0])
  expect([hasThought(calls.global[0]), hasThought(calls.region[0])]).toEqual([true, true])

  calls.global = []
  calls.region = []
  answers.region = missing
  answers.vendor = (call) =>
    hasThought(call)
      ? Response.json(
          {
            type: 'error',
            error: {
              type: 'invalid_request_error',
              message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
            },
          },
          { status: 400 },
        )
      : ok(call)
  const across = await asking()
  const answer = await across.client.messages.create({ model: 'svc/claude-5', ...HISTORY })
  expect(answer.content).toMatchObject([{ text: 'Hello' }])
  expect(counts()).toEqual([1, 1, 2])
  expect(calls.vendor.map(hasThought)).toEqual([true, false])
  // A tool loop that has lost its thought may not go on thinking.
  expect(calls.vendor[1]?.body).toMatchObject({ thinking: { type: 'disabled' } })
  expect(await across.charged()).toBe(PRICE)
})

test('E19, E24: Gemini streams with charged usage, from the next location if one lacks the model', async () => {
  answers.global = missing
  const { key, charged } = await asking()
  const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: world.url } })
  let text = ''
  for await (const chunk of await client.models.generateContentStream({ model: 'svc/gemini-0', contents: 'Hi' })) {
    text += chunk.text ?? ''
  }
  expect(text).toBe('Hello')
  expect(counts()).toEqual([1, 1, 0])
  expect(calls.region[0]?.path).toBe(
    '/region/v1/projects/the-project/locations/europe-west4/publishers/google/models/gemini-0:streamGenerateContent?alt=sse',
  )
  expect(await charged()).toBe(PRICE)
})

test('E25: if another account’s Gemini reasoning is refused, it is removed, and its call skips the signature check', async () => {
  answers.global = (call) =>
    call.text.includes('c2lnbmVk')
      ? Response.json(
          { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'Thought signature is not valid.' } },
          { status: 400 },
        )
      : ok(call)
  const { key, charged } = await asking()
  const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: world.url } })
  const contents = [
    { role: 'user', parts: [{ text: 'Look.' }] },
    {
      role: 'model',
      parts: [
        { text: 'Well.', thoughtSignature: 'c2lnbmVk' },
        { functionCall: { name: 'look', args: {} }, thoughtSignature: 'c2lnbmVk' },
      ],
    },
    { role: 'user', parts: [{ functionResponse: { name: 'look', response: { seen: 'a cat' } } }] },
  ]
  const answer = await client.models.generateContent({ model: 'svc/gemini-1', contents })
  expect(answer.text).toBe('Hello')
  expect(counts()).toEqual([2, 0, 0])
  const [, again] = calls.global
  assert(again, 'it was asked again')
  const [, step] = again.body.contents as { parts: object[] }[]
  expect(step?.parts).toEqual([
    { text: 'Well.' },
    { functionCall: { name: 'look', args: {} }, thoughtSignature: 'skip_thought_signature_validator' },
  ])
  expect(await charged()).toBe(PRICE)
})

test('E21: no token is logged, and the metadata server is called once', async () => {
  expect(world.logLines.join('\n')).not.toContain(TOKEN)
  expect(tokens.calls).toHaveLength(1)
})
