/** Rules of account, member and key about data handling: for every call to a provider, on every gateway, and in the usage record. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { answerEither, sellEmbeddings } from '@test/gateway/embed/providers'
import { questionIn } from '@test/gateway/told-in-pieces'
import { connect } from '@test/ledger/harness'
import { keyState } from '@test/ledger/memory-history'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion, type UpstreamCall } from '@test/support/upstream'
import { flushed, type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import { createLedgerHistory } from '@/accounts/history'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { rebuildAll } from '@/ledger/check/rebuild'

let gateway: TestGateway
let twin: TestGateway
let customer: SignedInCustomer
/** Providers that answer 500, and those that don't answer. */
const down = new Set<string>()
const silent = new Set<string>()

/** Each provider has the model by a name that says whose it is. */
const providerOf = ({ body }: UpstreamCall) => String(body.model).split('-')[0] as string

function respond(call: UpstreamCall): Response | Promise<Response> {
  if (silent.has(providerOf(call))) return new Promise<Response>(() => undefined)
  if (down.has(providerOf(call))) return Response.json({ error: { message: 'down' } }, { status: 500 })
  if (call.path.includes('mbed')) return answerEither(call)
  return Response.json(chatCompletion('Hello', undefined, String(call.body.model)))
}

beforeAll(async () => {
  gateway = await startGateway({
    respond,
    catalog(file) {
      sellEmbeddings(file)
      Object.assign(file.providers.provider1 ?? {}, { retention: 30, trains: true, region: 'us-east-1' })
      Object.assign(file.providers.spare ?? {}, { retention: 'none', trains: false, region: 'eu-central-1' })
      file.providers.careful = { ...file.providers.spare, keys: ['careful-secret-canary'] }
      for (const provider of Object.values(file.providers))
        provider.timeouts = { ...(provider.timeouts as object), hedgeMs: 300 }
      const [alpha, ...others] = file.models
      const named = (name: string, providers: string[], more = {}) => ({
        ...{ ...alpha, id: `svc/${name}` },
        targets: providers.map((provider) => ({ provider, model: `${provider}-${name}` })),
        ...more,
      })
      file.models = [
        named('alpha', ['provider1', 'spare'], { fallback: ['svc/gamma'] }),
        named('three', ['spare', 'provider1', 'careful']),
        named('gamma', ['provider1']),
        ...others,
      ]
      file.tiers = [{ ...file.tiers[0], candidates: ['svc/gamma', 'svc/alpha'] }]
    },
  })
  twin = await gateway.twin()
})
beforeEach(async () => {
  down.clear()
  silent.clear()
  customer = await signUpCustomer(gateway, '10')
  gateway.upstream.calls.length = 0
})
afterAll(() => gateway.stop())

const asked = () => [...new Set(gateway.upstream.calls.map(providerOf))].sort()
const ruleKey = (rules: object) => gateway.apiKeys.change(customer.keyId, rules)
const ruleAccount = (rules: object) => customer.person.json('PUT', '/dashboard/api/a/:accountId/key-policy', rules)

/** A rule that only `spare` and `careful` obey, and the words of its refusal. */
const RULES = [
  [{ zeroRetention: true }, 'keep no content'],
  [{ noTraining: true }, 'train no models on content'],
  [{ regions: ['ch', 'eu'] }, 'process content in ch or eu'],
] as const satisfies [rule: object, words: string][]

async function post(at: TestGateway, path: string, body: object) {
  const response = await fetch(at.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { status, headers } = response
  return {
    status,
    provider: headers.get('x-svc-provider'),
    id: headers.get('x-request-id'),
    text: await response.text(),
  }
}

function ask(at: TestGateway, format: FormatName, model: string, more: object = {}) {
  const { path, body } = questionIn(format, model, { stream: false, limit: 50 })
  return post(at, path, { ...body, ...more })
}

const chat = (model: string, more: object = {}) => ask(gateway, 'chat-completions', model, more)

// Each format with one of the rules: the targets are chosen before anything of a format is written.
test.each(
  FORMAT_NAMES.flatMap((format, index) =>
    RULES.slice(index % 3, (index % 3) + 1).map(([rule]) => [format, rule] as const),
  ),
)('%s: only providers that obey the rule %j are called, even if they fail', async (format, rule) => {
  await ruleKey(rule)
  for (const at of [gateway, twin])
    for (const model of ['svc/alpha', 'auto-smart'])
      expect(await ask(at, format, model)).toMatchObject({ status: 200, provider: 'spare' })
  expect(await ask(gateway, format, 'svc/gamma', { fallback: ['svc/alpha'] })).toMatchObject({ provider: 'spare' })
  down.add('spare')
  expect((await ask(gateway, format, 'svc/alpha')).status).toBe(502)
  expect(asked()).toEqual(['spare'])
})

test.each(RULES)(
  'if no provider obeys the rule %j, the answer is a 404 with the rule and its owner',
  async (rule, words) => {
    await ruleKey(rule)
    const ofKey = await chat('svc/gamma')
    expect(JSON.parse(ofKey.text)).toMatchObject({ error: { code: 'data_policy', param: 'model' } })
    expect([ofKey.status, ofKey.text]).toEqual([404, expect.stringContaining(`${words} (a rule of this API key)`)])
    await ruleKey({ zeroRetention: false, noTraining: false, regions: null })
    expect((await ruleAccount(rule)).status).toBe(200)
    const ofAccount = await chat('svc/gamma')
    expect(ofAccount.text).toContain(`${words} (a rule for all keys of this account)`)
    const play = { model: 'svc/gamma', messages: [{ role: 'user', content: 'Hi' }] }
    const played = await customer.person.json('POST', '/dashboard/api/a/:accountId/playground/chat', play)
    expect(played).toMatchObject({ status: 404, body: { error: { code: 'data_policy' } } })
    expect(asked()).toEqual([])
  },
)

describe('under a rule', () => {
  const [[rule]] = RULES

  test('only providers that obey the rule are used as a hedge', async () => {
    await ruleKey(rule)
    silent.add('spare')
    expect(await chat('svc/three')).toMatchObject({ status: 200, provider: 'careful' })
    expect(asked()).toEqual(['careful', 'spare'])
  })

  test('embeddings come from a provider that obeys the rule, or are refused', async () => {
    await ruleKey(rule)
    const embed = (model: string) => post(twin, '/v1/embeddings', { model, input: 'text' })
    expect(await embed('svc/embed-two')).toMatchObject({ status: 200, provider: 'spare' })
    expect(JSON.parse((await embed('svc/embed')).text)).toMatchObject({ error: { code: 'data_policy' } })
    expect(asked()).toEqual(['spare'])
  })

  test('the plan of a request lists targets that obey the rule, and is refused like the request', async () => {
    await ruleKey(rule)
    const plan = (model: string) => post(twin, '/v1/route', { model, messages: [{ role: 'user', content: 'Hi' }] })
    expect(JSON.parse((await plan('svc/alpha')).text)).toMatchObject({
      targets: [{ model: 'svc/alpha', provider: 'spare' }],
      preferences: { data: [{ from: 'key' }], ruled_out_targets: [{ model: 'svc/alpha', provider: 'provider1' }] },
    })
    expect((await plan('svc/gamma')).status).toBe(404)
  })
})

describe('rules of several owners', () => {
  test('a request, a key and a member can add rules, but never remove one', async () => {
    await ruleAccount({ zeroRetention: true, regions: ['eu'] })
    const wider = { provider: { data_collection: 'allow', zdr: false } }
    expect(await chat('svc/alpha', wider)).toMatchObject({ status: 200, provider: 'spare' })
    expect((await chat('svc/gamma', wider)).status).toBe(404)
    expect((await chat('svc/alpha', { svc: { regions: ['us'] } })).text).toContain(
      'process content in us (svc.regions). GET',
    )
    await ruleKey({ regions: ['us'] })
    expect((await chat('svc/alpha')).text).toContain('process content in us (a rule of this API key)')
    await ruleKey({ regions: ['eu-central'], zeroRetention: false })
    expect(await chat('svc/alpha')).toMatchObject({ status: 200, provider: 'spare' })
    expect(asked()).toEqual(['spare'])
  })

  test('a changed rule applies from the next request on every gateway, in both directions', async () => {
    for (const [regions, provider] of [
      [['eu'], 'spare'],
      [['us'], 'provider1'],
      [null, 'provider1'],
    ] as const) {
      await ruleKey({ regions })
      for (const at of [twin, gateway]) expect(await ask(at, 'messages', 'svc/alpha')).toMatchObject({ provider })
    }
  })

  test('GET /v1/key shows all rules with their owners', async () => {
    await ruleAccount({ zeroRetention: true })
    await ruleKey({ regions: ['eu'] })
    const headers = { authorization: `Bearer ${customer.key}` }
    expect(await (await fetch(`${twin.url}/v1/key`, { headers })).json()).toMatchObject({
      data_rules: [
        { kind: 'zero-retention', from: 'account' },
        { kind: 'regions', regions: ['eu'], from: 'key' },
      ],
    })
  })

  test('after a rebuild, the store has the data rules again', async () => {
    const { database, deps } = gateway.gateway
    const redis = await connect()
    await ruleKey({ noTraining: true })
    const rules = async () => (await deps.ledger.readKey(customer))?.dataRules
    expect(await rules()).toEqual([{ kind: 'no-training', from: 'key' }])
    await deps.ledger.setKeyState(keyState(customer))
    expect(await rules()).toBeUndefined()
    await rebuildAll({ redis, history: createLedgerHistory(database), logger: deps.logger })
    redis.disconnect()
    expect(await rules()).toEqual([{ kind: 'no-training', from: 'key' }])
    expect((await chat('svc/gamma')).status).toBe(404)
  })

  test('under a data rule against retention, no answer is stored for equal requests', async () => {
    const headers = { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json', 'x-svc-cache': '60' }
    const body = JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] })
    const cached = async () => {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
      await response.text()
      return response.headers.get('x-svc-cache')
    }
    for (const rule of [ruleKey, ruleAccount]) {
      await rule({ zeroRetention: true })
      expect([await cached(), await cached()]).toEqual(['bypass', 'bypass'])
      await rule({ zeroRetention: false })
    }
    await ruleKey({ noTraining: true })
    expect([await cached(), await cached()]).toEqual(['miss', 'hit'])
  })

  test('token counts call no provider, so data rules do not refuse them', async () => {
    await ruleKey({ zeroRetention: true })
    const body = { model: 'svc/gamma', messages: [{ role: 'user', content: 'Hi' }] }
    expect((await post(gateway, '/v1/messages/count_tokens', body)).status).toBe(200)
    expect(asked()).toEqual([])
  })
})

describe('the record of a request', () => {
  const RULED = ['zero-retention (account)', 'regions eu|ch (key)', 'no-training (provider.data_collection)']
  const TERMS = 'retention none, trains false, region eu-central-1'

  async function generation(id: string | null) {
    const headers = { authorization: `Bearer ${customer.key}` }
    const response = await fetch(`${gateway.url}/v1/generation?id=${id}`, { headers })
    const { data } = (await response.json()) as { data: { data_rules: string[]; data_terms: string | null } }
    return { rules: data.data_rules, terms: data.data_terms }
  }

  test('the record has the applied rules and the provider’s terms, in every view of records', async () => {
    await ruleAccount({ zeroRetention: true })
    await ruleKey({ regions: ['eu', 'ch'] })
    const { id } = await chat('svc/alpha', { provider: { data_collection: 'deny' } })
    expect(await generation(id)).toEqual({ rules: RULED, terms: TERMS })
    await flushed(gateway, customer.accountId)
    expect(await generation(id)).toEqual({ rules: RULED, terms: TERMS })
    const detail = await customer.person.json('GET', `/dashboard/api/a/:accountId/usage/requests/${id}`)
    expect(detail.body).toMatchObject({ dataRules: RULED, dataTerms: TERMS })
    expect((detail.body as { facts: unknown[] }).facts).toContainEqual({
      ...{ label: 'Stated about content', kind: 'text', value: TERMS },
    })
    const csv = await (await customer.person.fetch('/dashboard/api/a/:accountId/usage/export')).text()
    expect(csv.split('\n')[0]).toContain('data_rules,data_terms')
    for (const text of [...RULED, TERMS]) expect(csv).toContain(text)
  })

  test('the record of a request without rules has neither rules nor terms', async () => {
    const { id } = await chat('svc/alpha')
    expect(await generation(id)).toEqual({ rules: [], terms: null })
    await flushed(gateway, customer.accountId)
    expect(await generation(id)).toEqual({ rules: [], terms: null })
    const rows = await gateway.gateway.database.sql`SELECT data_rules, data_terms FROM usage_records
      WHERE account_id = ${customer.accountId}`
    expect([...rows]).toEqual([{ data_rules: null, data_terms: null }])
  })
})
