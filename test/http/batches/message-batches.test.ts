/** Message batches over HTTP: refusals, other accounts, and bodies that arrive in pieces. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { storeBatch } from '@test/people/batches/stored'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import type { JsonObject } from '@/lib/json'

const PATH = '/v1/messages/batches'
const PARAMS = { model: 'svc/alpha', max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] }
const MANY = 20_000

let gateway: TestGateway
let ada: Customer
let eve: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json({}, { status: 500 }) })
  ada = await gateway.customer('2')
  eve = await gateway.customer('2')
})
afterAll(() => gateway.stop())

type Told = { status: number; body: { error: JsonObject & { details?: JsonObject } } & JsonObject }

async function call({ key }: Customer, method: string, path: string, body?: RequestInit['body']): Promise<Told> {
  const headers = { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) }
  const response = await fetch(gateway.url + path, { method, headers, ...(body && { body }) })
  return { status: response.status, body: (await response.json()) as Told['body'] }
}

const request = (id: unknown, params: unknown = PARAMS) => ({ custom_id: id, params })
const refusalAt = (param: string) => ({
  status: 400,
  body: { type: 'error', error: { type: 'invalid_request_error', details: { param } } },
})

/** The account's batches, those included that nobody sees yet. */
async function countOf({ accountId }: Customer): Promise<number> {
  const [row] = await gateway.gateway.database.sql<{ n: number }[]>`
    SELECT count(*)::integer AS n FROM batches WHERE account_id = ${accountId}`
  return row?.n ?? 0
}

/** A body of these requests that is sent in pieces, without its length. */
function inPieces(requests: readonly object[]): ReadableStream<Uint8Array> {
  const text = JSON.stringify({ requests })
  const bytes = new TextEncoder().encode(text)
  let start = 0
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.subarray(start, start + 50_000))
      start += 50_000
      if (start >= bytes.length) controller.close()
    },
  })
}

describe('creating', () => {
  test.each<[string, unknown, string]>([
    ['no object', [request('a')], 'requests'],
    ['no list', { requests: 'a' }, 'requests'],
    ['an empty list', { requests: [] }, 'requests'],
    ['an entry that is no object', { requests: [request('a'), 7] }, 'requests.1'],
    ['an entry without custom_id', { requests: [{ params: PARAMS }] }, 'requests.0.custom_id'],
    ['an invalid custom_id', { requests: [request('a b')] }, 'requests.0.custom_id'],
    ['a custom_id twice', { requests: [request('a'), request('b'), request('a')] }, 'requests.2.custom_id'],
    ['an entry without params', { requests: [request('a', null)] }, 'requests.0.params'],
    ['a stream', { requests: [request('a', { ...PARAMS, stream: true })] }, 'requests.0.params.stream'],
    ['an unknown model', { requests: [request('a', { ...PARAMS, model: 'svc/none' })] }, 'requests.0.params.model'],
    ['a wrong type', { requests: [request('a', { ...PARAMS, max_tokens: 'x' })] }, 'requests.0.params.max_tokens'],
  ])('a body with %s is refused in the messages format, and nothing is stored', async (_, body, param) => {
    expect(await call(ada, 'POST', PATH, JSON.stringify(body))).toMatchObject(refusalAt(param))
    expect(await countOf(ada)).toBe(0)
  })

  test('if an entry of a batch is no JSON, the error names the entry', async () => {
    const text = JSON.stringify({ requests: [request('a'), request('b')] }).replace('"b"', 'b')
    expect(await call(ada, 'POST', PATH, text)).toMatchObject(refusalAt('requests.1'))
    const torn = JSON.stringify({ requests: [request('a')] }).slice(0, -3)
    expect(await call(ada, 'POST', PATH, torn)).toMatchObject(refusalAt('requests'))
    expect(await countOf(ada)).toBe(0)
  })

  test('a model that the key may not use is refused', async () => {
    const { key } = await gateway.customer('2', { allowedModels: ['svc/other'] })
    const told = await call({ ...ada, key }, 'POST', PATH, JSON.stringify({ requests: [request('a')] }))
    expect(told).toMatchObject(refusalAt('requests.0.params.model'))
  })

  test('another content type is a 415, and an account without credit a 402', async () => {
    const headers = { 'x-api-key': ada.key, 'content-type': 'text/plain' }
    const response = await fetch(gateway.url + PATH, { method: 'POST', headers, body: '{}' })
    expect([response.status, ((await response.json()) as JsonObject).type]).toEqual([415, 'error'])
    const poor = await gateway.customer('0')
    expect((await call(poor, 'POST', PATH, JSON.stringify({ requests: [request('a')] }))).status).toBe(402)
  })

  test('the error names the faulty one of many requests sent in pieces; without a fault all are stored', async () => {
    const mine = await gateway.customer('2')
    const requests = Array.from({ length: MANY }, (_, index) => request(`request-${index}`))
    const faulty = requests.with(4_710, request('request-4710', { ...PARAMS, model: 'svc/none' }))
    const refused = await call(mine, 'POST', PATH, inPieces(faulty))
    const errors = [{ line: 4_711, code: 'model_not_found', param: 'requests.4710.params.model' }]
    expect(refused).toMatchObject({ status: 400, body: { error: { details: { errors } } } })
    expect(await countOf(mine)).toBe(0)
    const { status, body } = await call(mine, 'POST', PATH, inPieces(requests))
    expect([status, body.processing_status]).toEqual([200, 'in_progress'])
    const counts = Object.values(body.request_counts as Record<string, number>)
    expect(counts.reduce((sum, count) => sum + count)).toBe(MANY)
    const canceled = await call(mine, 'POST', `${PATH}/${body.id}/cancel`)
    expect(canceled.body.processing_status).toMatch(/canceling|ended/)
  })
})

describe('a batch', () => {
  test('a batch of another account or endpoint is a 404 in the messages format', async () => {
    const id = await storeBatch(gateway, { ...ada, lines: [{ customId: 'one', state: 'expired' }] })
    const other = await storeBatch(gateway, { ...ada, endpoint: '/v1/chat/completions' })
    expect((await call(ada, 'GET', `${PATH}/${id}`)).status).toBe(200)
    for (const [customer, name] of [
      [eve, id],
      [ada, other],
      [ada, 'msgbatch_%00'],
    ] as const) {
      for (const [method, suffix] of [
        ['GET', ''],
        ['GET', '/results'],
        ['POST', '/cancel'],
        ['DELETE', ''],
      ] as const) {
        expect(await call(customer, method, `${PATH}/${name}${suffix}`)).toMatchObject({
          status: 404,
          body: { type: 'error', error: { type: 'not_found_error' } },
        })
      }
    }
    const { body } = await call(eve, 'GET', PATH)
    expect(body).toMatchObject({ data: [], has_more: false, first_id: null, last_id: null })
  })

  test('reading the results of a running batch is refused, and so is deleting the batch', async () => {
    const lines = [{ customId: 'one', state: 'waiting' }] as const
    const id = await storeBatch(gateway, { ...ada, status: 'in_progress', paused: 'no_credit', lines })
    expect((await call(ada, 'GET', `${PATH}/${id}`)).body).toMatchObject({
      processing_status: 'in_progress',
      results_url: null,
      svc: { cost_usd: 0.12, most_usd: 3.4, paused: { reason: 'no_credit' } },
    })
    for (const [method, suffix] of [
      ['GET', '/results'],
      ['DELETE', ''],
    ] as const) {
      expect(await call(ada, method, `${PATH}/${id}${suffix}`)).toMatchObject({
        status: 400,
        body: { error: { type: 'invalid_request_error' } },
      })
    }
  })

  test('the list of message batches takes a limit of 1 to 1,000', async () => {
    for (const limit of ['0', '1001', 'x']) expect((await call(ada, 'GET', `${PATH}?limit=${limit}`)).status).toBe(400)
    expect((await call(ada, 'GET', `${PATH}?limit=1000`)).status).toBe(200)
  })
})
