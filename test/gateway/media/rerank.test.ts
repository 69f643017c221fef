/** Reranked documents: reserved by an upper bound, charged by the provider's units or tokens, free if they fail. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { spentAtRest } from '@test/money-bugs/support'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { fc } from '@test/support/property'
import { until } from '@test/support/until'
import { rankingSize } from '@/catalog/ranking-size'
import { nano } from '@/lib/money'
import {
  answerCohere,
  answerJina,
  answerVoyage,
  NANO_PER_SEARCH_UNIT,
  NANO_PER_TOKEN,
  rankedOf,
  sellRerank,
} from './rankers'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: (call) => answerCohere(call), catalog: sellRerank })
})
afterAll(() => gateway.stop())
beforeEach(async () => {
  customer = await gateway.customer('1')
  gateway.upstream.calls.length = 0
})
afterEach(() => gateway.upstream.respond((call) => answerCohere(call)))

const DOCUMENTS = ['short', 'the longest of all', 'a longer one']
const QUERY = 'Which is long?'

type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string>; path?: string }

function rank(body: object = {}, { key }: { key: string } = customer, init: Init = {}): Promise<Response> {
  const { headers, path = '/v1/rerank', ...rest } = init
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'svc/rerank', query: QUERY, documents: DOCUMENTS, ...body }),
    ...rest,
  })
}

type Ranking = {
  id: string
  model?: string
  results: { index: number; relevance_score: number; document?: object }[]
  meta: { api_version: { version: string }; billed_units: Record<string, number> }
  usage?: object
}

async function rankingOf(response: Response): Promise<Ranking> {
  const text = await response.text()
  expect([response.status, text]).toEqual([200, text])
  return JSON.parse(text)
}

const spent = ({ accountId } = customer) => spentAtRest(gateway, accountId)

const indices = ({ results }: Ranking) => results.map(({ index }) => index)

describe('the answer of rerank', () => {
  test('/v1/rerank answers as Cohere’s first version, and /v2/rerank as its second version', async () => {
    const first = await rankingOf(await rank())
    expect(first).toEqual({
      id: 'cohere-1',
      model: 'svc/rerank',
      results: [
        { index: 1, relevance_score: 0.018 },
        { index: 2, relevance_score: 0.012 },
        { index: 0, relevance_score: 0.005 },
      ],
      meta: { api_version: { version: '1' }, billed_units: { search_units: 1 } },
    })
    const { model: _, meta, ...rest } = first
    const second = await rankingOf(await rank({}, customer, { path: '/v2/rerank' }))
    expect(second).toEqual({ ...rest, meta: { ...meta, api_version: { version: '2' } } })
  })

  test('/v1/rerank has usage as Jina states it, if the provider states tokens', async () => {
    gateway.upstream.respond((call) => answerJina(call))
    const { usage, meta } = await rankingOf(await rank({ model: 'svc/rerank-tokens' }))
    expect(usage).toEqual({ total_tokens: 40, prompt_tokens: 40 })
    expect(meta.billed_units).toEqual({ input_tokens: 40 })
  })

  test('top_n cuts the rerank results, and return_documents adds each document as it was sent', async () => {
    const documents = ['short', { text: 'the longest of all', page: 3 }, { text: 'a longer one' }]
    const { results } = await rankingOf(await rank({ documents, top_n: 2, return_documents: true }))
    expect(results.map(({ document }) => document)).toEqual([documents[1], documents[2]] as object[])
    const { results: all } = await rankingOf(await rank({ top_n: 99, return_documents: true }))
    expect(all.map(({ document }) => document)).toEqual([1, 2, 0].map((index) => ({ text: DOCUMENTS[index] })))
    expect(indices(await rankingOf(await rank({ top_n: 1 }, customer, { path: '/v2/rerank' })))).toEqual([1])
  })

  test('rerank results of a provider that does not sort them are sorted', async () => {
    gateway.upstream.respond((call) => Response.json({ results: rankedOf(call).reverse() }))
    expect(indices(await rankingOf(await rank()))).toEqual([1, 2, 0])
  })

  test.each([
    ['Cohere', answerCohere],
    ['Jina', answerJina],
    ['Voyage AI', answerVoyage],
  ] as const)('rerank answers of %s are read', async (_, answer) => {
    gateway.upstream.respond((call) => answer(call))
    expect(indices(await rankingOf(await rank()))).toEqual([1, 2, 0])
  })
})

describe('the request to the rerank provider', () => {
  test('the provider gets its own model name, all texts and listed fields, and no others', async () => {
    const fields = { max_tokens_per_doc: 100, truncation: true }
    const documents = [{ title: 'A', body: { b: 1 }, rest: 'no' }, 'text']
    const asked = { documents, rank_fields: ['body', 'title'], top_n: 1, return_documents: true, svc: {}, other: 1 }
    const answer = await rank({ ...asked, ...fields })
    const [call] = gateway.upstream.calls
    expect(call?.path).toBe('/v1/rerank')
    const texts = ['body: {"b":1}\ntitle: A', 'text']
    expect(call?.body).toEqual({ model: 'provider1-ranker', query: QUERY, documents: texts, ...fields })
    expect(call?.headers.get('authorization')).toBe('Bearer sk-provider1-secret-canary')
    expect(answer.headers.get('x-svc-left-out')).toBe('other')
  })

  test.each([
    ['no documents', { documents: [] }, 'documents'],
    ['an empty query', { query: '' }, 'query'],
    ['top_n below 1', { top_n: 0 }, 'top_n'],
    ['a document that is a number', { documents: [1] }, 'documents[0]'],
    ['an object without a text', { documents: ['a', { title: 'x' }] }, 'documents[1]'],
    ['an object without a field to rank by', { documents: [{ text: 'x' }], rank_fields: ['y'] }, 'documents[0]'],
    ['a fallback', { fallback: ['svc/rerank-two'] }, 'fallback'],
  ])('a rerank request with %s is a 400 that names the field', async (_, body, field) => {
    const refused = await rank(body)
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(field)])
    expect([gateway.upstream.calls.length, await spent()]).toEqual([0, 0])
  })

  test('/v2/rerank accepts only texts as documents', async () => {
    const refused = await rank({ documents: [{ text: 'a' }] }, customer, { path: '/v2/rerank' })
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('documents')])
  })

  test('a rerank request to a model of another kind, or for a rerank model at another endpoint, is a 400', async () => {
    expect((await rank({ model: 'svc/alpha' })).status).toBe(400)
    const messages = [{ role: 'user', content: 'Hi' }]
    const refused = await rank({ model: 'svc/rerank', messages }, customer, { path: '/v1/chat/completions' })
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('/v1/rerank')])
  })
})

describe('the charge of rerank', () => {
  test('rerank costs the provider’s search units, and the answer states the cost', async () => {
    const documents = Array.from({ length: 250 }, () => 'text')
    gateway.upstream.respond((call) => answerCohere(call, 3))
    const answer = await rank({ documents })
    expect(answer.headers.get('x-svc-cost-usd')).toBe('0.006')
    expect((await rankingOf(answer)).meta.billed_units).toEqual({ search_units: 3 })
    expect(await spent()).toBe(3 * NANO_PER_SEARCH_UNIT)
  })

  test('rerank costs the provider’s tokens if the model has a price for tokens', async () => {
    gateway.upstream.respond((call) => answerJina(call, 25))
    await rankingOf(await rank({ model: 'svc/rerank-tokens' }))
    expect(await spent()).toBe(25 * NANO_PER_TOKEN)
  })

  test('rerank never costs more than its hold, whatever the provider states', async () => {
    gateway.upstream.respond((call) => answerCohere(call, 1_000))
    await rankingOf(await rank())
    expect(await spent()).toBe(NANO_PER_SEARCH_UNIT)
  })

  test('rerank costs our own count if the provider does not state the priced units', async () => {
    const documents = Array.from({ length: 101 }, () => 'text')
    gateway.upstream.respond((call) => answerJina(call))
    expect((await rankingOf(await rank({ documents }))).meta.billed_units).toEqual({ search_units: 2 })
    expect(await spent()).toBe(2 * NANO_PER_SEARCH_UNIT)
  })

  test('if the credit does not cover the highest cost of rerank, no provider is called', async () => {
    const poor = await gateway.customer('0.0019')
    expect((await rank({}, poor)).status).toBe(402)
    expect(gateway.upstream.calls).toHaveLength(0)
    const one = await gateway.customer('0.002')
    expect((await rank({}, one)).status).toBe(200)
    expect(await spent(one)).toBe(NANO_PER_SEARCH_UNIT)
  })

  test('of 50 concurrent requests with credit for 20, each is charged or refused, and the balance ends at 0', async () => {
    const account = await gateway.customer('0.04')
    const answers = await Promise.all(Array.from({ length: 50 }, () => rank({}, account)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect(statuses.filter((status) => status === 402)).toHaveLength(30)
    expect(await spent(account)).toBe(20 * NANO_PER_SEARCH_UNIT)
    expect((await gateway.balance(account.accountId)).available).toBe(nano(0))
  })

  test('for random requests, the upper bound of units is at least the likely number, and grows with the texts', () => {
    const texts = fc.array(fc.string({ maxLength: 3_000, unit: 'binary' }), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(
        fc.string({ maxLength: 700, unit: 'binary' }),
        texts,
        fc.string({ unit: 'binary' }),
        (query, documents, more) => {
          const { searchUnits, queryTokens } = rankingSize(query, documents)
          expect(searchUnits.likely).toBeWithin(1, searchUnits.most + 1)
          expect(queryTokens.most).toBeGreaterThanOrEqual(queryTokens.likely)
          const grown = rankingSize(query, [...documents, more]).searchUnits
          expect(grown.most).toBeGreaterThanOrEqual(searchUnits.most)
          const longer = rankingSize(
            query,
            documents.map((text) => text + more),
          ).searchUnits
          expect(longer.most).toBeGreaterThanOrEqual(searchUnits.most)
        },
      ),
    )
  })
})

describe('rerank requests that fail', () => {
  test('if the first rerank target fails, the next one answers, and only that one is charged', async () => {
    gateway.upstream.respond((call) =>
      call.body.model === 'spare-ranker' ? answerCohere(call) : new Response(null, { status: 503 }),
    )
    const answer = await rank({ model: 'svc/rerank-two' })
    expect([answer.status, answer.headers.get('x-svc-provider')]).toEqual([200, 'spare'])
    expect(await spent()).toBe(NANO_PER_SEARCH_UNIT)
  })

  test.each([
    ['too few results', (call: { body: Record<string, unknown> }) => ({ results: rankedOf(call as never).slice(1) })],
    ['a document twice', () => ({ results: [0, 0, 1].map((index) => ({ index, relevance_score: 1 })) })],
    ['an index that no document has', () => ({ results: [0, 1, 3].map((index) => ({ index, relevance_score: 1 })) })],
    ['a score that is no number', () => ({ results: [0, 1, 2].map((index) => ({ index, relevance_score: '1' })) })],
    ['no results', () => ({ error: 'none' })],
    ['no object', () => []],
  ])('a rerank answer with %s counts as failed, and is free', async (_, answer) => {
    gateway.upstream.respond((call) => Response.json(answer(call)))
    expect((await rank()).status).toBe(502)
    expect(await spent()).toBe(0)
  })

  test('a refusal of the provider is the caller’s error, and free', async () => {
    gateway.upstream.respond(() => Response.json({ message: 'too many tokens' }, { status: 400 }))
    expect((await rank()).status).toBe(400)
    expect(await spent()).toBe(0)
  })

  test('a client that disconnects before the answer pays nothing, ten times an hour; then one search unit', async () => {
    gateway.upstream.respond(() => new Promise<Response>(() => undefined))
    for (let times = 1; times <= 11; times++) {
      const leaving = new AbortController()
      const asked = rank({}, customer, { signal: leaving.signal }).catch(() => undefined)
      await until(() => gateway.upstream.calls.length === times, 'the call')
      leaving.abort()
      await asked
      const cost = times > 10 ? NANO_PER_SEARCH_UNIT : 0
      await until(async () => (await gateway.balance(customer.accountId)).seq === times, 'the record')
      expect(await spent()).toBe(cost)
    }
  })

  test('two rerank requests with one idempotency key are charged once', async () => {
    const named = { headers: { 'idempotency-key': 'one' } }
    const first = await rankingOf(await rank({}, customer, named))
    const again = await rank({}, customer, named)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await rankingOf(again)).toEqual(first)
    expect(await spent()).toBe(NANO_PER_SEARCH_UNIT)
  })
})
