/** One model at three clouds with different credentials: signed reasoning, disconnected clients, and secrets. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import Anthropic from '@anthropic-ai/sdk'
import { until } from '@test/support/until'
import { liveStream, type ScriptedUpstream, startUpstream, type UpstreamCall } from '@test/support/upstream'
import { startTracedGateway, type TracedGateway } from '@test/telemetry/traced-gateway'
import { assert } from '@/lib/assert'

const CANARY = 'canary0123456789'
/** 20 tokens read and 7 written, in nano-USD. */
const PRICE = 34_000
const SIGNED = 'signed-by-bedrock'
const places = ['bedrock', 'vertex', 'azure'] as const
type Place = (typeof places)[number]

const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
  ...{ content: [{ type: 'text', text: 'Hello' }], usage: { input_tokens: 20, output_tokens: 7 } },
}
const ok = () => Response.json(MESSAGE)

let world: TracedGateway
let control: ScriptedUpstream
const calls: Record<Place, UpstreamCall[]> = { bedrock: [], vertex: [], azure: [] }
const answers: Record<Place, (call: UpstreamCall) => Response> = { bedrock: ok, vertex: ok, azure: ok }

/** What each cloud gives out for its kind of proof. */
function give({ path }: UpstreamCall): Response {
  if (!path.startsWith('/container')) return Response.json({ access_token: `token-${CANARY}`, expires_in: 3599 })
  const Expiration = new Date(Date.now() + 3_600_000).toISOString()
  return Response.json({
    ...{ AccessKeyId: 'ASIA0', SecretAccessKey: `secret-${CANARY}`, Token: `session-${CANARY}`, Expiration },
  })
}

beforeAll(async () => {
  control = startUpstream(give)
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keyFile = {
    ...{ type: 'service_account', client_email: 'a@p.example', token_uri: `${control.url}/token` },
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
  world = await startTracedGateway({
    respond(call) {
      const place = places.find((name) => call.path.startsWith(`/${name}/`))
      assert(place, `nobody is called at ${call.path}`)
      calls[place].push(call)
      return answers[place](call)
    },
    catalog(file) {
      const [model] = file.models
      const address = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
      const at = (place: Place) => ({ baseUrl: `${address}/${place}` })
      file.providers.bedrock = {
        ...{ format: 'messages', dialect: 'bedrock-invoke', ...at('bedrock') },
        auth: {
          type: 'aws',
          region: 'eu-west-1',
          container: `${control.url}/container`,
          containerToken: `pod-${CANARY}`,
        },
      }
      file.providers.vertex = {
        ...{ preset: 'vertex-anthropic', project: 'p', location: 'eu', ...at('vertex') },
        auth: { type: 'google', credentials: JSON.stringify(keyFile) },
      }
      file.providers.azure = {
        ...{ preset: 'foundry', ...at('azure') },
        auth: { type: 'entra', tenant: 't', clientId: 'c', clientSecret: `client-${CANARY}`, authority: control.url },
      }
      for (const name of ['one', 'two', 'three', 'four']) {
        const targets = places.map((provider) => ({ provider, model: `claude-${name}` }))
        file.models.push({ ...model, id: `svc/${name}`, capabilities: ['tools', 'reasoning'], targets })
      }
    },
  })
})
afterAll(async () => {
  await world.stop()
  control.stop()
})
beforeEach(() => {
  for (const place of places) {
    calls[place] = []
    answers[place] = ok
  }
})

/** A customer, and what they were charged. */
async function asking() {
  const { gateway } = world
  const { key, accountId } = await gateway.customer('1')
  const client = new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 })
  const settled = () => until(async () => (await gateway.balance(accountId)).held === 0)
  return { key, client, settled, charged: async () => 1_000_000_000 - (await gateway.balance(accountId)).available }
}

const missing = () =>
  Response.json(
    { message: 'no such model' },
    { status: 404, headers: { 'x-amzn-errortype': 'ResourceNotFoundException' } },
  )
const HISTORY = {
  ...{ max_tokens: 2_000, thinking: { type: 'enabled' as const, budget_tokens: 1_024 } },
  messages: [
    { role: 'user' as const, content: 'Look.' },
    {
      role: 'assistant' as const,
      content: [
        { type: 'thinking' as const, thinking: 'Let me see.', signature: SIGNED },
        { type: 'text' as const, text: 'A cat.' },
      ],
    },
    { role: 'user' as const, content: 'And now?' },
  ],
}
const isSigned = ({ text }: UpstreamCall) => text.includes(SIGNED)

test('E25: reasoning signed by Bedrock is sent unchanged to Bedrock, and removed once other clouds refuse it', async () => {
  const refuses = (call: UpstreamCall) =>
    isSigned(call)
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
      : Response.json({ error: { code: 404, status: 'NOT_FOUND', message: 'x' } }, { status: 404 })
  const within = await asking()
  await within.client.messages.create({ model: 'svc/one', ...HISTORY })
  expect(calls.bedrock.map(isSigned)).toEqual([true])

  answers.bedrock = missing
  answers.vertex = refuses
  answers.azure = (call) => (isSigned(call) ? refuses(call) : ok())
  const across = await asking()
  const answer = await across.client.messages.create({ model: 'svc/two', ...HISTORY })
  expect(answer.content).toMatchObject([{ text: 'Hello' }])
  expect(places.map((place) => calls[place].length)).toEqual([2, 2, 2])
  expect([calls.vertex.map(isSigned), calls.azure.map(isSigned)]).toEqual([
    [true, false],
    [true, false],
  ])
  expect(await across.charged()).toBe(PRICE)
})

test('E25: a client that disconnects from Vertex pays the provider’s usage, because the answer is read to its end', async () => {
  answers.bedrock = missing
  const { response, write, close } = liveStream()
  const event = (data: { type: string; [field: string]: unknown }) =>
    write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)
  answers.vertex = () => response
  const usage = { input_tokens: 20, output_tokens: 1 }
  event({ type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null, usage } })
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } })
  const { key, charged, settled } = await asking()
  const leaving = new AbortController()
  const answer = await fetch(`${world.gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/three', stream: true, ...HISTORY }),
    signal: leaving.signal,
  })
  await answer.body?.getReader().read()
  leaving.abort()
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } })
  event({ type: 'content_block_stop', index: 0 })
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } })
  event({ type: 'message_stop' })
  close()
  await settled()
  expect(await charged()).toBe(PRICE)
  expect(calls.vertex[0]?.isAborted).toBe(false)
})

test('E1: no credential is in log, spans or metrics, even if a cloud quotes it', async () => {
  world.forget()
  const denied = (call: UpstreamCall) =>
    Response.json({ error: { message: call.headers.get('authorization') } }, { status: 403 })
  answers.bedrock = denied
  answers.vertex = denied
  const { client } = await asking()
  await client.messages.create({ model: 'svc/four', ...HISTORY })
  const shown = calls.bedrock.concat(calls.vertex, calls.azure).map(({ headers }) => headers.get('authorization'))
  expect(shown.length).toBeGreaterThanOrEqual(3)
  expect(shown.slice(-1)[0]).toBe(`Bearer token-${CANARY}`)
  const { all } = await world.spansOf()
  expect(all.length).toBeGreaterThan(2)
  const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text()
  const everything = [JSON.stringify(world.receiver.seen), metrics, ...world.gateway.logLines].join('\n')
  expect(everything).toContain('svc_provider_credentials_total')
  expect(everything).not.toContain(CANARY)
})
