/** Azure through a whole gateway: one model at two resources, the first one authenticated as an Entra ID application. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import {
  chatChunk,
  chatCompletion,
  eventStream,
  type ScriptedUpstream,
  startUpstream,
  usageChunk,
  usageOf,
} from '@test/support/upstream'
import OpenAI from 'openai'

const SECRET = 'client~secret-canary'
const KEY = 'azure-key-canary'
const USAGE = usageOf(20, 7)
/** 20 tokens read and 7 written, in nano-USD. */
const PRICE = 34_000

let world: TestGateway
let tokens: ScriptedUpstream
/** Calls of each resource since the test began. */
const calls = { first: 0, second: 0 }
let first: (authorization: string) => Response

const answered = () => Response.json(chatCompletion('Hi', USAGE))

beforeAll(async () => {
  tokens = startUpstream((_, index) => Response.json({ access_token: `eyJ.token-canary.${index}`, expires_in: 3599 }))
  world = await startGateway({
    respond({ path, headers }) {
      if (path.startsWith('/first')) {
        calls.first++
        return first(headers.get('authorization') ?? '')
      }
      calls.second++
      return headers.get('api-key') === KEY ? answered() : new Response(null, { status: 401 })
    },
    catalog(file) {
      const [model] = file.models
      const address = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
      const auth = { type: 'entra', tenant: 't', clientId: 'c', clientSecret: SECRET, authority: tokens.url }
      file.providers.first = { preset: 'azure', baseUrl: `${address}/first/openai/v1`, auth }
      file.providers.second = { preset: 'azure', baseUrl: `${address}/second/openai/v1`, keys: [KEY] }
      const names = Array.from({ length: 8 }, (_, index) => `svc/gpt-${index}`)
      for (const id of names) {
        const targets = ['first', 'second'].map((provider) => ({ provider, model: `${id.slice(4)}-deployment` }))
        file.models.push({ ...model, id, targets })
      }
    },
  })
})
afterAll(async () => {
  await world.stop()
  tokens.stop()
})
beforeEach(() => {
  Object.assign(calls, { first: 0, second: 0 })
  first = answered
})

const REQUEST = { messages: [{ role: 'user' as const, content: 'Hi' }] }

/** A customer and the library that asks for it. The outcome of the target of one test is no other's business: each has a model. */
async function asking() {
  const { key, accountId } = await world.customer('1')
  const client = new OpenAI({ apiKey: key, baseURL: `${world.url}/v1`, maxRetries: 0 })
  const charged = async () => 1_000_000_000 - (await world.balance(accountId)).available
  return { client, charged, accountId }
}

test('E6: the first Entra token is fetched at the start', async () => {
  await until(() => tokens.calls.length > 0)
  const metrics = async () => await (await fetch(`${world.url}/metrics`)).text()
  await until(async () =>
    (await metrics()).includes('svc_provider_credentials_total{provider="first",outcome="obtained"} 1'),
  )
  expect(await metrics()).toMatch(/^svc_provider_credential_expires_timestamp_seconds\{provider="first"\} [1-9]/m)
  const { client } = await asking()
  await client.chat.completions.create({ model: 'svc/gpt-7', ...REQUEST })
  expect(tokens.calls).toHaveLength(1)
})

test('E4: Azure’s filter results before and after the answer are removed, and usage is charged once', async () => {
  const filters = { content_filter_results: { hate: { filtered: false, severity: 'safe' } } }
  const late = { index: 0, finish_reason: null, content_filter_offsets: { check_offset: 1 }, ...filters }
  const [piece] = chatChunk({ content: 'Hello' }).choices
  first = () =>
    eventStream(
      {
        id: '',
        object: '',
        created: 0,
        model: '',
        choices: [],
        prompt_filter_results: [{ prompt_index: 0, ...filters }],
      },
      { ...chatChunk({ role: 'assistant', content: '' }) },
      { ...chatChunk({}), choices: [{ ...piece, ...filters }] },
      chatChunk({}, 'stop'),
      { ...chatChunk({}), choices: [late] },
      usageChunk(USAGE),
      '[DONE]',
    )
  const { client, charged } = await asking()
  const stream = client.chat.completions.stream({
    ...{ model: 'svc/gpt-0', ...REQUEST, stream_options: { include_usage: true } },
  })
  const chunks: OpenAI.ChatCompletionChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  const final = await stream.finalChatCompletion()
  expect(final.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Hello' } })
  expect(final.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 7 })
  expect(chunks.every(({ model }) => model === 'svc/gpt-0')).toBe(true)
  expect(chunks.filter(({ usage }) => usage)).toHaveLength(1)
  expect(await charged()).toBe(PRICE)
})

describe('E5: an error of Azure', () => {
  test('E5: a refusal by Azure’s filter goes to the caller, and no credit stays held', async () => {
    first = () =>
      Response.json(
        {
          error: {
            ...{ code: 'content_filter', param: 'prompt', status: 400, message: 'The response was filtered' },
            innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: { hate: { filtered: true } } },
          },
        },
        { status: 400 },
      )
    const { client, charged, accountId } = await asking()
    const error = await client.chat.completions.create({ model: 'svc/gpt-1', ...REQUEST }).catch((thrown) => thrown)
    expect(error).toMatchObject({ status: 400, code: 'content_filter' })
    expect(calls).toEqual({ first: 1, second: 0 })
    expect(await charged()).toBe(0)
    expect(Number((await world.balance(accountId)).held)).toBe(0)
  })

  test.each([
    ['svc/gpt-2', 429, { code: '429', message: 'Rate limit is exceeded. Try again in 7 seconds.' }],
    ['svc/gpt-3', 404, { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' }],
  ])('E5: if one resource refuses %s with status %d, the other resource answers', async (model, status, error) => {
    first = () => Response.json({ error }, { status })
    const { client, charged } = await asking()
    const answer = await client.chat.completions.create({ model, ...REQUEST })
    expect(answer.choices[0]?.message.content).toBe('Hi')
    expect(calls.second).toBe(1)
    expect(await charged()).toBe(PRICE)
  })
})

describe('E6: a token', () => {
  test('E6: a token that Azure refuses as too old is replaced once, and the call is repeated', async () => {
    const shown: string[] = []
    first = (authorization) => {
      shown.push(authorization)
      return shown.length === 1 ? Response.json({ error: { code: '401' } }, { status: 401 }) : answered()
    }
    const { client, charged } = await asking()
    await client.chat.completions.create({ model: 'svc/gpt-4', ...REQUEST })
    expect(new Set(shown).size).toBe(2)
    expect(calls).toEqual({ first: 2, second: 0 })
    expect(await charged()).toBe(PRICE)
  })

  test('E6: if no token can be fetched, the other resource answers, and no caller gets a 401', async () => {
    // The first call forgets the living token, for which no other is given.
    first = () => new Response(null, { status: 401 })
    tokens.respond(() => Response.json({ error: 'temporarily_unavailable' }, { status: 503 }))
    const { client, charged } = await asking()
    for (const model of ['svc/gpt-5', 'svc/gpt-6']) {
      expect((await client.chat.completions.create({ model, ...REQUEST })).choices[0]?.message.content).toBe('Hi')
    }
    expect(calls).toEqual({ first: 1, second: 2 })
    expect(await charged()).toBe(2 * PRICE)
    expect(world.logLines.join('')).toContain(
      'the Entra token endpoint answered 503 temporarily_unavailable without a token',
    )
  })
})

test('E1: secret, token and key are in no log and no metric', async () => {
  const metrics = await (await fetch(`${world.url}/metrics`)).text()
  for (const canary of [SECRET, 'token-canary', KEY]) {
    expect(world.logLines.join('\n')).not.toContain(canary)
    expect(metrics).not.toContain(canary)
  }
  expect(metrics).toMatch(/^svc_provider_credentials_total\{provider="first",outcome="failed"\} [1-9]/m)
  expect(metrics).toContain('svc_provider_credential_expires_timestamp_seconds{provider="first"} 0')
})
