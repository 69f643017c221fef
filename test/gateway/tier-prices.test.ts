/** Service tiers with a price: sent to targets that support them, reserved at the dearest, charged at the tier that the answer names. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eventFrame, framed } from '@test/dialects/aws/bedrock-frames'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatChunk, chatCompletion, eventStream, usageChunk } from '@test/support/upstream'
import { flushed, signUpCustomer } from '@test/usage/customer'
import type { FormatName } from '@/chat/format-name'
import type { JsonObject } from '@/lib/json'
import { nano } from '@/lib/money'
import { questionIn } from './told-in-pieces'

/** What the answers of this file cost in each tier, in nano-USD: 10 tokens read and 5 written. */
const COST = { standard: 20_000, flex: 10_000, priority: 40_000 } as const
type Tier = keyof typeof COST
const list = (input: number) => ({ inputPer1mTokens: input, outputPer1mTokens: input * 2 })

const PROVIDERS = ['chat-completions', 'responses', 'generate-content', 'messages', 'converse'] as const
type Provider = (typeof PROVIDERS)[number]
const CLIENTS = ['chat-completions', 'responses', 'generate-content', 'messages'] as const

/** The words by which each format asks for the standard tier, and by which each kind of provider names it. */
const STANDARD_ASKED: Record<FormatName, string> = {
  ...{ 'chat-completions': 'default', responses: 'default', 'generate-content': 'standard', messages: 'standard_only' },
}
const STANDARD_NAMED: Record<Provider, string> = {
  ...{ 'chat-completions': 'default', responses: 'default', 'generate-content': 'STANDARD' },
  ...{ messages: 'standard', converse: 'default' },
}

let world: TestGateway
const last = new Map<string, JsonObject>()

beforeAll(async () => {
  world = await startGateway({
    respond({ path, body }) {
      // The catalogue's own model, which has no price of tiers, is asked at `/v1/chat/completions`.
      const [, lane = '', word = ''] = path.split('/')
      const provider = word === 'chat' ? 'chat-completions' : word
      last.set(lane, body as JsonObject)
      const isStream = path.includes('stream') || path.includes('Stream') || body.stream === true
      return answers[provider as Provider](named.get(lane), isStream)
    },
    catalog(file) {
      const [model] = file.models
      const address = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
      for (const [lane, provider] of LANES.map(({ lane, provider }) => [lane, provider] as const)) {
        const isConverse = provider === 'converse'
        file.providers[lane] = {
          format: isConverse ? 'messages' : provider,
          ...(isConverse && { dialect: 'bedrock-converse' }),
          baseUrl: `${address}/${lane}/${provider}`,
          keys: ['sk-canary'],
        }
        const pricing = { ...list(1), serviceTiers: { flex: list(0.5), priority: list(2) } }
        file.models.push({ ...model, id: `svc/${lane}`, pricing, targets: [{ provider: lane, model: 'm' }] })
      }
    },
  })
})
afterAll(() => world.stop())

/** The tier that the provider of each lane names next. */
const named = new Map<string, string | undefined>()
const LANES = PROVIDERS.flatMap((provider) =>
  CLIENTS.flatMap((client) =>
    [false, true].map((stream) => ({
      lane: `${provider}-${client}-${stream ? 'stream' : 'whole'}`,
      provider,
      client,
      stream,
    })),
  ),
)

const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'x', content: [{ type: 'text', text: 'Sound' }] },
  ...{ stop_reason: 'end_turn', stop_sequence: null },
}
const ITEM = {
  ...{ id: 'msg_1', type: 'message', status: 'completed', role: 'assistant' },
  content: [{ type: 'output_text', text: 'Sound', annotations: [] }],
}
const answers: Record<Provider, (tier: string | undefined, isStream: boolean) => Response> = {
  'chat-completions'(tier, isStream) {
    const said = { service_tier: tier ?? null }
    if (!isStream) return Response.json({ ...chatCompletion('Sound'), ...said })
    // The first chunk repeats what was asked for.
    const chunks = [
      { ...chatChunk({ role: 'assistant', content: 'Sound' }), service_tier: 'auto' },
      chatChunk({}, 'stop'),
    ]
    return eventStream(...chunks, { ...usageChunk(), ...said }, '[DONE]')
  },
  responses(tier, isStream) {
    const whole = {
      ...{ id: 'resp_1', object: 'response', created_at: 1_760_000_000, status: 'completed', error: null, model: 'x' },
      ...{
        output: [ITEM],
        usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
        service_tier: tier ?? null,
      },
    }
    if (!isStream) return Response.json(whole)
    const begun = { ...whole, status: 'in_progress', output: [], usage: null, service_tier: 'auto' }
    const delta = { item_id: ITEM.id, output_index: 0, content_index: 0, delta: 'Sound' }
    return eventStream(
      { type: 'response.created', response: begun },
      { type: 'response.output_item.added', output_index: 0, item: { ...ITEM, status: 'in_progress', content: [] } },
      { type: 'response.output_text.delta', ...delta },
      { type: 'response.output_item.done', output_index: 0, item: ITEM },
      { type: 'response.completed', response: whole },
    )
  },
  'generate-content'(tier, isStream) {
    const usageMetadata = {
      ...{ promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      ...(tier !== undefined && { serviceTier: tier }),
    }
    const parts = [{ text: 'Sound' }]
    const whole = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }], usageMetadata }
    return isStream ? eventStream(whole) : Response.json(whole)
  },
  messages(tier, isStream) {
    const usage = { input_tokens: 10, output_tokens: 5, ...(tier !== undefined && { service_tier: tier }) }
    if (!isStream) return Response.json({ ...MESSAGE, usage })
    return eventStream(
      { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null, usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Sound' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    )
  },
  converse(tier, isStream) {
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
    const said = tier === undefined ? {} : { serviceTier: { type: tier } }
    if (!isStream)
      return Response.json({
        output: { message: { role: 'assistant', content: [{ text: 'Sound' }] } },
        ...{ stopReason: 'end_turn', usage, ...said },
      })
    return framed(
      eventFrame('messageStart', { role: 'assistant' }),
      eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Sound' } }),
      eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
      eventFrame('messageStop', { stopReason: 'end_turn' }),
      eventFrame('metadata', { usage, ...said }),
    )
  },
}

type Lane = (typeof LANES)[number]

/** Asks once. Returns the status, the answer's text, and its request id. */
async function ask({ lane, client, stream }: Lane, key: string, tier: string | undefined, more: JsonObject = {}) {
  const model = `svc/${lane}`
  const field = client === 'generate-content' ? 'serviceTier' : 'service_tier'
  const said = tier === undefined ? {} : { [field]: tier }
  const { path, body } = questionIn(client, model, { stream, limit: 100 })
  const response = await fetch(world.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...said, ...more }),
  })
  return { status: response.status, text: await response.text(), id: response.headers.get('x-request-id') ?? '' }
}

/** The rule, said once more: the tiers that may answer are held for, and an answer costs its tier, but never more than those. */
function expectedCost(asked: Tier | undefined, answered: string | undefined): number {
  const covered: Tier[] = asked === undefined ? ['standard', 'flex', 'priority'] : [asked, 'standard']
  const most = Math.max(...covered.map((tier) => COST[tier]))
  if (answered === undefined) return COST[asked ?? 'standard']
  return answered in COST ? Math.min(COST[answered as Tier], most) : most
}

function isFlagged(requestId: string): boolean {
  return world.logLines.some((line) => line.includes('unknown_usage_classes') && line.includes(requestId))
}

/** What the body that went upstream asks for. */
function sentTier(lane: string): unknown {
  const { service_tier, serviceTier, performanceConfig } = last.get(lane) ?? {}
  return service_tier ?? serviceTier ?? performanceConfig
}

const ANSWERED = [undefined, 'standard', 'flex', 'priority', 'scale'] as const

describe.each(LANES)('service tiers: $lane', (lane) => {
  const takesTiers = lane.provider !== 'messages'
  const canAsk = lane.client !== 'messages'
  const ASKED: (Tier | 'auto' | undefined)[] = [
    undefined,
    'auto',
    'standard',
    ...(canAsk && takesTiers ? (['flex', 'priority'] as const) : []),
  ]

  test('an answer is charged at the tier that it names, otherwise at the requested tier', async () => {
    const { key, accountId } = await world.customer('1')
    const available = async () => (await world.balance(accountId)).available
    let before = await available()
    // Each lane begins elsewhere, so that the lanes of a provider meet every pair of the two lists.
    for (const index of ANSWERED.keys()) {
      const word = ASKED[index % ASKED.length]
      const answered = ANSWERED[(index + LANES.indexOf(lane)) % ANSWERED.length]
      named.set(lane.lane, answered === 'standard' ? STANDARD_NAMED[lane.provider] : answered)
      const said = word === 'standard' ? STANDARD_ASKED[lane.client] : word
      const { status, text, id } = await ask(lane, key, said)
      expect([status, text]).toEqual([200, expect.stringContaining('Sound')])
      await until(async () => (await world.balance(accountId)).held === 0)
      const after = await available()
      const asked = word === 'auto' ? undefined : word
      const about = `asked ${word}, answered ${answered}`
      expect([about, before - after]).toEqual([about, expectedCost(asked, answered)])
      expect([about, isFlagged(id)]).toEqual([about, answered === 'scale'])
      if (asked === 'flex' || asked === 'priority')
        expect(sentTier(lane.lane)).toEqual(lane.provider === 'converse' ? { type: asked } : asked)
      before = after
    }
  })

  test('a tier without a price, or that the provider’s format has no field for, is refused', async () => {
    const { key, accountId } = await world.customer('1')
    last.delete(lane.lane)
    for (const tier of ['scale', ...(canAsk && takesTiers ? [] : ['flex', 'priority'])]) {
      const { status, text } = await ask(lane, key, tier)
      expect([tier, status, text]).toEqual([tier, 400, expect.stringContaining('service_tier')])
    }
    expect(last.has(lane.lane)).toBe(false)
    expect(await world.balance(accountId)).toMatchObject({ available: 1_000_000_000, held: 0 })
  })
})

test('at a model without prices of tiers, auto costs the standard price, whichever tier the answer names', async () => {
  const { key, accountId } = await world.customer('1')
  const lane: Lane = { lane: 'alpha', provider: 'chat-completions', client: 'chat-completions', stream: false }
  const tiers = ['default', 'flex', 'priority', 'scale']
  for (const tier of tiers) {
    named.set('v1', tier)
    expect((await ask(lane, key, 'auto')).status).toBe(200)
  }
  expect((await world.balance(accountId)).spent).toBe(nano(tiers.length * COST.standard))
})

test('usage.cost_details have the prices of the tier that the answer names', async () => {
  const { key } = await world.customer('1')
  for (const lane of LANES.filter(({ provider, client }) => provider === client && client === 'chat-completions')) {
    named.set(lane.lane, 'flex')
    const { text } = await ask(lane, key, 'auto', { usage: { include: true } })
    expect(text).toContain('"cost":0.00001,')
    expect(text).toContain('"upstream_inference_prompt_cost":0.000005,"upstream_inference_completions_cost":0.000005')
  }
})

test('the record names the charged tier before and after the flush, and has its price lines', async () => {
  const { person, accountId, key } = await signUpCustomer(world, '1')
  const lane = LANES.find(({ client, provider }) => client === 'responses' && provider === client)
  if (!lane) return expect.unreachable('there is such a lane')
  /** By what the answer names: the tier that was charged, and the price of a million tokens of input. */
  const charged = [
    ['standard', null, '1'],
    ['flex', 'flex', '0.5'],
    ['priority', 'priority', '2'],
    ['scale', 'priority', '2'],
  ] as const
  for (const [answered, tier, price] of charged) {
    named.set(lane.lane, answered)
    const { id } = await ask(lane, key, 'auto')
    const generation = async () => {
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetch(`${world.url}/v1/generation?id=${id}`, { headers })
      return ((await response.json()) as { data: { service_tier: string | null } }).data.service_tier
    }
    expect([answered, await generation()]).toEqual([answered, tier])
    await flushed(world, accountId)
    expect([answered, await generation()]).toEqual([answered, tier])
    const response = await person.fetch(`/dashboard/api/a/:accountId/usage/requests/${id}`)
    expect(await response.json()).toMatchObject({
      ...{ serviceTier: tier, priceNote: null, rounding: '0' },
      lines: [{ class: 'input', count: 10, unitPrice: price }, { class: 'output' }],
    })
  }
})
