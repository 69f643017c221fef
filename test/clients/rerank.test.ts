/** Reranking through the real libraries: Cohere's client in both versions, the AI SDK, and plain requests in Jina's form. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createCohere } from '@ai-sdk/cohere'
import { answerCohere, answerJina, NANO_PER_SEARCH_UNIT, sellRerank } from '@test/gateway/media/rankers'
import { settledBalance } from '@test/http/idempotency/repeated'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { rerank } from 'ai'
import { CohereClient, CohereClientV2, CohereError } from 'cohere-ai'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: (call) => answerCohere(call), catalog: sellRerank })
})
afterAll(() => gateway.stop())
beforeEach(async () => {
  gateway.upstream.calls.length = 0
  customer = await gateway.customer('1')
})

const model = 'svc/rerank'
const query = 'Which is long?'
const documents = ['short', 'the longest of all', 'a longer one']

test('cohere-ai, version 1: ranks texts and objects, and returns documents', async () => {
  const client = new CohereClient({ token: customer.key, environment: gateway.url, maxRetries: 0 })
  const ranked = await client.rerank({ model, query, documents, topN: 2, returnDocuments: true })
  expect(ranked.results).toMatchObject([
    { index: 1, relevanceScore: 0.018, document: { text: documents[1] } },
    { index: 2, relevanceScore: 0.012, document: { text: documents[2] } },
  ])
  expect(ranked.meta?.billedUnits?.searchUnits).toBe(1)
  const objects = documents.map((text) => ({ text }))
  const { results } = await client.rerank({ model, query, documents: objects })
  expect(results.map(({ index }) => index)).toEqual([1, 2, 0])
  expect((await settledBalance(gateway, customer)).spent).toBe(2 * NANO_PER_SEARCH_UNIT)
})

test('cohere-ai, version 2: ranks texts', async () => {
  const client = new CohereClientV2({ token: customer.key, environment: gateway.url, maxRetries: 0 })
  const ranked = await client.rerank({ model, query, documents, topN: 1, maxTokensPerDoc: 100 })
  expect(ranked.results).toEqual([{ index: 1, relevanceScore: 0.018 }])
  expect(ranked.meta?.billedUnits?.searchUnits).toBe(1)
  expect(gateway.upstream.calls[0]?.body.max_tokens_per_doc).toBe(100)
})

test('cohere-ai gets errors with their status', async () => {
  const client = new CohereClientV2({ token: customer.key, environment: gateway.url, maxRetries: 0 })
  const error = await client.rerank({ model: 'svc/none', query, documents }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(CohereError)
  expect((error as CohereError).statusCode).toBe(404)
})

test('the AI SDK ranks texts and objects', async () => {
  const cohere = createCohere({ apiKey: customer.key, baseURL: `${gateway.url}/v2` })
  const { ranking, rerankedDocuments } = await rerank({ model: cohere.reranking(model), query, documents, topN: 2 })
  expect(ranking.map(({ originalIndex }) => originalIndex)).toEqual([1, 2])
  expect(rerankedDocuments).toEqual([documents[1], documents[2]] as string[])
  const objects = documents.map((text, page) => ({ page, text }))
  const { rerankedDocuments: best } = await rerank({ model: cohere.reranking(model), query, documents: objects })
  expect(best[0]).toEqual(objects[1] as (typeof objects)[number])
})

test('a plain request of Jina gets results and usage', async () => {
  gateway.upstream.respond((call) => answerJina(call))
  const answer = await fetch(`${gateway.url}/v1/rerank`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/rerank-tokens', query, documents, top_n: 1, return_documents: true }),
  })
  expect(await answer.json()).toMatchObject({
    model: 'svc/rerank-tokens',
    usage: { total_tokens: 40 },
    results: [{ index: 1, relevance_score: 0.018, document: { text: documents[1] } }],
  })
  gateway.upstream.respond((call) => answerCohere(call))
})
