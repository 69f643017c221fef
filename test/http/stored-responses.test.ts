/** Stored answers over HTTP: reading, continuing and deleting them by `/v1/responses`, only within their account. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { said } from '@test/stored-responses/world'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatChunk, chatCompletion, chatStream, eventStream, type UpstreamCall } from '@test/support/upstream'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'

let gateway: TestGateway
let ada: Customer
let eve: Customer

beforeAll(async () => {
  gateway = await startGateway({
    respond,
  })
  ada = await gateway.customer('2')
  eve = await gateway.customer('2')
})
afterAll(() => gateway.stop())

function respond({ body }: UpstreamCall, index: number): Response {
  const words = `Answer ${index}`
  return body.stream ? eventStream(...chatStream([words])) : Response.json(chatCompletion(words))
}

type Told = { status: number; body: JsonObject; headers: Headers; text: string }

async function call(customer: Customer, method: string, path: string, body?: JsonObject): Promise<Told> {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${customer.key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = parseJson(text)
  return { status: response.status, body: isJsonObject(json) ? json : {}, headers: response.headers, text }
}

async function create(customer: Customer, body: JsonObject): Promise<JsonObject> {
  const told = await call(customer, 'POST', '/v1/responses', { model: 'svc/alpha', ...body })
  expect({ status: told.status, text: told.text }).toMatchObject({ status: 200 })
  return body.stream ? lastResponse(told.text) : told.body
}

function lastResponse(stream: string): JsonObject {
  const events = stream.split('\n').flatMap((line) => (line.startsWith('data: ') ? [parseJson(line.slice(6))] : []))
  const last = events.findLast((event) => isJsonObject(event) && isJsonObject(event.response))
  return isJsonObject(last) && isJsonObject(last.response) ? last.response : {}
}

/** What the provider was sent last. */
const lastMessages = () =>
  ((gateway.upstream.calls.at(-1)?.body.messages ?? []) as JsonObject[]).map(({ role, content }) => [role, content])

describe('an answer', () => {
  test.each([false, true])('a stored answer is returned as it was sent (stream: %p)', async (stream) => {
    const told = await create(ada, { input: 'Hello', stream, metadata: { order: '7' } })
    expect(told).toMatchObject({ object: 'response', status: 'completed', store: true, previous_response_id: null })
    const found = await call(ada, 'GET', `/v1/responses/${told.id}?include[]=reasoning.encrypted_content`)
    expect(found.status).toBe(200)
    expect(found.body).toEqual(told)
    expect(found.headers.get('cache-control')).toBe('no-store')
  })

  test.each([false, true])(
    'a request may continue a stored answer, and pays for the earlier turns as input (stream: %p)',
    async (stream) => {
      const first = await create(ada, { input: 'One', instructions: 'Be brief.', stream })
      const answered = `Answer ${gateway.upstream.calls.length - 1}`
      const second = await create(ada, { input: 'Two', previous_response_id: first.id ?? null, stream })
      expect(second.previous_response_id).toBe(first.id ?? null)
      expect(lastMessages()).toEqual([
        ['user', 'One'],
        ['assistant', answered],
        ['user', 'Two'],
      ])
      const count = (body: JsonObject) =>
        call(ada, 'POST', '/v1/responses/input_tokens', { model: 'svc/alpha', ...body })
      const alone = await count({ input: 'Two' })
      const whole = await count({ input: 'Two', previous_response_id: first.id ?? null })
      expect(Number(whole.body.input_tokens)).toBeGreaterThan(Number(alone.body.input_tokens))
      const routed = await call(ada, 'POST', '/v1/route', {
        model: 'svc/alpha',
        input: 'x',
        previous_response_id: first.id ?? null,
      })
      expect(routed.status).toBe(200)
    },
  )

  test('an answer to a request with `store: false` says so, and is not stored', async () => {
    for (const stream of [false, true]) {
      const told = await create(ada, { input: 'Hello', store: false, stream })
      expect(told.store).toBe(false)
      expect((await call(ada, 'GET', `/v1/responses/${told.id}`)).status).toBe(404)
    }
  })

  test('a later request may name items of a stored answer; a deleted reasoning item is omitted and reported', async () => {
    const first = await create(ada, { input: 'One' })
    const answered = `Answer ${gateway.upstream.calls.length - 1}`
    const [message] = first.output as JsonObject[]
    const input: JsonValue[] = [
      { role: 'user', content: 'One' },
      { type: 'item_reference', id: 'rs_gone' },
      { type: 'item_reference', id: message?.id ?? null },
      { role: 'user', content: 'Two' },
    ]
    const told = await call(ada, 'POST', '/v1/responses', { model: 'svc/alpha', input })
    expect(told.status).toBe(200)
    expect(told.headers.get('x-svc-left-out')).toBe('input.item_reference')
    expect(lastMessages()).toEqual([
      ['user', 'One'],
      ['assistant', answered],
      ['user', 'Two'],
    ])
  })

  test('a deleted answer is unknown at once, also to requests that continue it', async () => {
    const told = await create(ada, { input: 'Hello' })
    const path = `/v1/responses/${told.id}`
    expect((await call(ada, 'DELETE', path)).body).toEqual({ id: told.id ?? null, object: 'response', deleted: true })
    for (const method of ['GET', 'DELETE']) {
      expect((await call(ada, method, path)).body).toEqual({
        error: {
          message: `Response with id '${told.id}' not found.`,
          ...{ type: 'invalid_request_error', param: null, code: null },
        },
      })
    }
    const body = { model: 'svc/alpha', input: 'x', previous_response_id: told.id ?? null }
    const refused = await call(ada, 'POST', '/v1/responses', body)
    expect(refused.status).toBe(400)
    expect(refused.body).toEqual({
      error: {
        message: `Previous response with id '${told.id}' not found.`,
        ...{ type: 'invalid_request_error', param: 'previous_response_id', code: 'previous_response_not_found' },
      },
    })
  })

  test('another account cannot see, delete or continue a stored answer', async () => {
    const told = await create(ada, { input: 'Hello' })
    const path = `/v1/responses/${told.id}`
    for (const [method, suffix] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/input_items'],
      ['POST', '/cancel'],
    ] as const) {
      expect((await call(eve, method, path + suffix)).status).toBe(404)
    }
    const [message] = told.output as JsonObject[]
    const attempts: [number, JsonObject][] = [
      [400, { input: 'x', previous_response_id: told.id ?? null }],
      [404, { input: [{ type: 'item_reference', id: message?.id ?? null }] }],
    ]
    for (const [status, body] of attempts) {
      expect((await call(eve, 'POST', '/v1/responses', { model: 'svc/alpha', ...body })).status).toBe(status)
    }
    expect((await call(ada, 'GET', path)).status).toBe(200)
  })

  test('a stored answer can neither be cancelled nor streamed again', async () => {
    const told = await create(ada, { input: 'Hello' })
    expect((await call(ada, 'POST', `/v1/responses/${told.id}/cancel`)).status).toBe(400)
    expect((await call(ada, 'GET', `/v1/responses/${told.id}?stream=true`)).body).toMatchObject({
      error: { param: 'stream' },
    })
  })
})

describe('failed and abandoned answers', () => {
  test('failed and abandoned answers are not stored', async () => {
    const before = (await gateway.gateway.deps.storedResponses.standing(eve.accountId)).kept
    gateway.upstream.respond(() => eventStream(chatChunk({ content: 'Hal' })))
    const broken = await call(eve, 'POST', '/v1/responses', { model: 'svc/alpha', input: 'x', stream: true })
    expect(broken.text).toContain('response.failed')
    const id = String(lastResponse(broken.text).id)
    expect((await call(eve, 'GET', `/v1/responses/${id}`)).status).toBe(404)
    expect((await gateway.gateway.deps.storedResponses.standing(eve.accountId)).kept).toBe(before)
    gateway.upstream.respond(respond)
  })
})

describe('the list of input items', () => {
  async function list(id: JsonValue | undefined, query: string) {
    const { body } = await call(ada, 'GET', `/v1/responses/${id}/input_items?${query}`)
    return { body, words: said(body.data) }
  }

  test('the list of input items has the continued conversation and the request’s own input, in pages of either order', async () => {
    const first = await create(ada, { input: 'One' })
    const answered = `Answer ${gateway.upstream.calls.length - 1}`
    const second = await create(ada, {
      input: [{ role: 'user', content: 'Two' }],
      previous_response_id: first.id ?? null,
    })
    const all = ['One', answered, 'Two']
    expect((await list(second.id, 'order=asc')).words).toEqual(all)
    expect((await list(second.id, '')).words).toEqual(all.toReversed())
    const page = await list(second.id, 'order=asc&limit=2')
    expect(page.words).toEqual(all.slice(0, 2))
    const data = page.body.data as JsonObject[]
    expect(page.body).toMatchObject({ object: 'list', has_more: true, first_id: data[0]?.id, last_id: data[1]?.id })
    expect(data.map(({ id }) => String(id).slice(0, 4))).toEqual(['msg_', 'msg_'])
    const rest = await list(second.id, `order=asc&limit=2&after=${page.body.last_id}`)
    expect(rest.words).toEqual(['Two'])
    expect(rest.body.has_more).toBe(false)
    expect((await list(second.id, `order=asc&after=${rest.body.last_id}`)).body).toMatchObject({
      ...{ data: [], first_id: null, last_id: null, has_more: false },
    })
  })

  test.each(['limit=0', 'limit=101', 'limit=x', 'order=up', 'after=msg_of_nobody'])(
    'the list of input items refuses %s',
    async (query) => {
      const { id } = await create(ada, { input: 'One' })
      const { body } = await list(id, query)
      expect(body).toMatchObject({ error: { type: 'invalid_request_error', param: query.split('=')[0] } })
    },
  )
})

test('reading a stored answer is free, and needs a valid key', async () => {
  const { id } = await create(ada, { input: 'Hello' })
  const before = await gateway.balance(ada.accountId)
  for (const base of ['/v1/responses', '/v1/v1/responses', '/responses']) {
    expect((await call(ada, 'GET', `${base}/${id}`)).status).toBe(200)
  }
  expect(await gateway.balance(ada.accountId)).toEqual(before)
  for (const key of ['', 'svc-nobodys']) {
    const stranger = await call({ ...ada, key }, 'GET', `/v1/responses/${id}`)
    expect(stranger.status).toBe(401)
    expect(stranger.body).toMatchObject({ error: { type: 'invalid_request_error' } })
  }
})
