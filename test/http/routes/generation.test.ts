/** OpenRouter's endpoints about an answer: its cost, the reason of a failure, and the credit. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { modelAt, startTrio } from '@test/clients/trio'
import { ask, TEXT } from '@test/matrix/cases/words'
import { respondWith } from '@test/matrix/provider'
import type { Customer, TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { addCredit, flushed } from '@test/usage/customer'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { isJsonObject, type JsonObject, type JsonValue, parseJson, textOf } from '@/lib/json'

let gateway: TestGateway
let customer: Customer
let other: Customer
let isDown = false

beforeAll(async () => {
  gateway = await startTrio({
    respond({ path, body }) {
      if (isDown) return Response.json({ error: { message: 'down' } }, { status: 503 })
      return respondWith(TEXT, formatOf(path), body.stream === true || path.includes('stream'))
    },
  })
  customer = await gateway.customer('100')
  other = await gateway.customer('7')
})
afterAll(() => gateway.stop())

function formatOf(path: string): FormatName {
  if (path.includes('/chat/completions')) return 'chat-completions'
  if (path.includes('/messages')) return 'messages'
  return path.includes('/responses') ? 'responses' : 'generate-content'
}

type Told = { status: number; body: JsonObject }

async function get(path: string, key = customer.key): Promise<Told> {
  const response = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}` } })
  return { status: response.status, body: (await response.json()) as JsonObject }
}

const generation = (id: string, key?: string) => get(`/v1/generation?id=${encodeURIComponent(id)}`, key)

async function send(format: FormatName, provider: FormatName, stream: boolean, key = customer.key) {
  const model = modelAt(provider)
  const verb = stream ? ':streamGenerateContent?alt=sse' : ':generateContent'
  const isOfPath = format === 'generate-content'
  const path = isOfPath ? `/v1beta/models/${model}${verb}` : PATHS[format]
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-svc-usage-record': 'true' },
    body: JSON.stringify({ ...ask()[format], ...(!isOfPath && { model, stream }) }),
  })
  const text = await response.text()
  return { requestId: response.headers.get('x-request-id') ?? '', text }
}

const PATHS = { 'chat-completions': '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' }

/** The id that the answer itself has, in its last event that names one. */
function answerIdIn(text: string): string {
  const whole = parseJson(text)
  const events = isJsonObject(whole)
    ? [whole]
    : text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [parseJson(line.slice(6))] : []))
  return events.flatMap((event) => idsOf(event)).at(-1) ?? ''
}

function idsOf(event: JsonValue | undefined): string[] {
  if (!isJsonObject(event)) return []
  const places = [event.response, event.message, event].filter(isJsonObject)
  const ids = places.flatMap((place) => [textOf(place.id), textOf(place.responseId)])
  return ids.flatMap((id) => (id === undefined || /^(fc|msg_item|rs)_/.test(id) ? [] : [id]))
}

const PAIRS = FORMAT_NAMES.flatMap((client) =>
  FORMAT_NAMES.flatMap((provider) => [true, false].map((stream) => ({ client, provider, stream }))),
)

/** A new answer of this pair of formats: its ids, and what is known of it. */
async function answered({ client, provider, stream }: (typeof PAIRS)[number]) {
  const { requestId, text } = await send(client, provider, stream)
  const cost = Number(/"cost":([^,]+),/.exec(text)?.[1])
  const expected = {
    ...{ id: requestId, total_cost: cost, usage: cost, model: modelAt(provider), provider_name: provider },
    ...{ streamed: stream, rule: 'usage', finish_reason: 'stop', attempts: 1, status: 200, error: null },
    client_format: client,
    tokens: { uncached: 20, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 8, reasoning: 0 },
  }
  return { of: `${client} to ${provider}, stream ${stream}`, requestId, answerId: answerIdIn(text), expected }
}

test('in every pair of formats a generation is found by the id of its request or answer, at once and later', async () => {
  const answers: Awaited<ReturnType<typeof answered>>[] = []
  for (const pair of PAIRS) {
    const answer = await answered(pair)
    const { of, requestId, answerId, expected } = answer
    for (const id of [requestId, answerId])
      expect({ of, id, ...(await generation(id)) }).toMatchObject({ of, id, status: 200, body: { data: expected } })
    answers.push(answer)
  }
  await flushed(gateway, customer.accountId)
  for (const { of, requestId, answerId, expected } of answers) {
    expect({ of, ...(await generation(requestId)) }).toMatchObject({ of, status: 200, body: { data: expected } })
    const ids = [answerId, requestId, answerId]
    const keys = [customer.key, other.key, other.key]
    const statuses = await Promise.all(ids.map(async (id, index) => (await generation(id, keys[index])).status))
    expect([of, statuses]).toEqual([of, [200, 404, 404]])
  }
})

test('a generation has the same fields from the ledger and from Postgres', async () => {
  const { requestId } = await send('messages', 'chat-completions', false)
  const early = await generation(requestId)
  await flushed(gateway, customer.accountId)
  expect(await generation(requestId)).toEqual(early)
})

test('a failed request’s generation has the reason of the failure', async () => {
  isDown = true
  const { requestId } = await send('messages', 'chat-completions', false)
  isDown = false
  const told = await until(async () => {
    const found = await generation(requestId)
    return found.status === 200 && found
  }, 'the failure to be listed')
  expect(told.body.data).toMatchObject({
    ...{ id: requestId, total_cost: 0, status: 503, rule: null, client_format: 'messages', finish_reason: 'error' },
    error: { code: expect.any(String), message: expect.stringContaining('overloaded') },
  })
  expect((await generation(requestId, other.key)).status).toBe(404)
})

test.each([
  ['/v1/generation?id=req_unknown', 404],
  ['/v1/generation', 400],
  ['/v1/generation?id=', 400],
  [`/v1/generation?id=${'x'.repeat(129)}`, 400],
])('a generation with %s is a %p', async (path, status) => {
  const told = await get(path)
  expect([told.status, JSON.stringify(told.body)]).toEqual([status, expect.stringContaining('id')])
  expect((await get(path, 'svc-wrong')).status).toBe(401)
})

test('the credits endpoint has the total credit and the spent part', async () => {
  expect(await get('/v1/credits', other.key)).toEqual({
    status: 200,
    body: { data: { total_credits: 7, total_usage: 0 } },
  })
  const { text } = await send('chat-completions', 'messages', false, other.key)
  const cost = Number(/"cost":([^,]+),/.exec(text)?.[1])
  const { body } = await get('/v1/credits', other.key)
  expect(body).toEqual({ data: { total_credits: 7, total_usage: cost } })
  expect((await get('/v1/credits', 'svc-wrong')).status).toBe(401)
})

test('a developer finds their own generations, and no credit', async () => {
  const owner = await signUpPerson(gateway)
  const { accountId } = owner.viewer
  await addCredit(gateway, accountId, '5')
  const { userId } = (await signUpPerson(gateway)).viewer
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${accountId}, ${userId}, 'developer')`
  const [own, developers] = await Promise.all(
    [owner.viewer.userId, userId].map((createdBy) => gateway.apiKeys.create({ accountId, name: 'key', createdBy })),
  )
  if (own?.kind !== 'created' || developers?.kind !== 'created') throw new Error('the account exists')
  const ofOwner = await send('messages', 'messages', true, own.key)
  const ofDeveloper = await send('messages', 'messages', true, developers.key)
  for (const look of ['before', 'after'] as const) {
    expect([look, (await generation(ofOwner.requestId, developers.key)).status]).toEqual([look, 404])
    expect([look, (await generation(ofDeveloper.requestId, developers.key)).status]).toEqual([look, 200])
    expect([look, (await generation(ofDeveloper.requestId, own.key)).status]).toEqual([look, 200])
    await flushed(gateway, accountId)
  }
  expect((await get('/v1/credits', developers.key)).status).toBe(403)
  expect((await get('/v1/credits', own.key)).status).toBe(200)
})
