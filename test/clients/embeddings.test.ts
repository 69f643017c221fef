/** Embeddings through the real libraries: each gets its provider's numbers in every encoding. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { GoogleGenAI } from '@google/genai'
import { answerEither, sellEmbeddings, vectorOf } from '@test/gateway/embed/providers'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { type EmbeddingModel, embed, embedMany } from 'ai'
import { GoogleGenAI as GoogleGenAI2 } from 'genai-2'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: answerEither, catalog: sellEmbeddings })
  customer = await gateway.customer('5')
})
afterAll(() => gateway.stop())
beforeEach(() => {
  gateway.upstream.calls.length = 0
})

/** As 32-bit floats, which is what most clients get. */
const single = (numbers: readonly number[]) => [...new Float32Array(numbers)]
/** One of a provider that speaks the format of most clients, and one of another. */
const MODELS = ['svc/embed', 'svc/embed-gemini']
const TEXTS = ['one', 'two words', 'three']
const EXPECTED = TEXTS.map((text) => single(vectorOf(text)))

const openaiClients = [
  ['openai 7', OpenAI],
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
] as const
const cases = <Client>(clients: readonly (readonly [string, Client])[]) =>
  clients.flatMap(([name, client]) => MODELS.map((model) => [name, model, client] as const))

test.each(cases(openaiClients))('%s gets vectors from %s, with and without an encoding', async (_, model, Client) => {
  const client = new Client({ apiKey: customer.key, baseURL: `${gateway.url}/v1` })
  const usual = await client.embeddings.create({ model, input: TEXTS })
  expect(usual.data.map(({ embedding }) => single(embedding))).toEqual(EXPECTED)
  expect(usual.data.map(({ index }) => index)).toEqual([0, 1, 2])
  expect(usual.model).toBe(model)
  expect(usual.usage.prompt_tokens).toBeGreaterThan(0)
  const plain = await client.embeddings.create({ model, input: 'one', encoding_format: 'float', dimensions: 3 })
  expect(plain.data[0]?.embedding).toEqual(vectorOf('one'))
})

test.each(openaiClients)('%s sends tokens and gets vectors', async (_, Client) => {
  const client = new Client({ apiKey: customer.key, baseURL: `${gateway.url}/v1` })
  const { data } = await client.embeddings.create({ model: 'svc/embed', input: [[3, 4], [5]] })
  expect(data.map(({ embedding }) => single(embedding))).toEqual([single(vectorOf([3])), single(vectorOf([5]))])
})

test.each(openaiClients)('%s gets an error that explains the mistake in its request', async (_, Client) => {
  const client = new Client({ apiKey: customer.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const wrong: unknown = await client.embeddings.create({ model: 'svc/alpha', input: 'one' }).catch((error) => error)
  expect(wrong).toMatchObject({ status: 400, param: 'model', code: 'wrong_endpoint' })
})

const googleClients = [
  ['@google/genai 3', GoogleGenAI],
  ['@google/genai 2', GoogleGenAI2 as unknown as typeof GoogleGenAI],
] as const

test.each(cases(googleClients))('%s gets vectors from %s', async (_, model, Client) => {
  const client = new Client({ apiKey: customer.key, httpOptions: { baseUrl: gateway.url } })
  const many = await client.models.embedContent({
    model,
    contents: TEXTS,
    config: { taskType: 'RETRIEVAL_DOCUMENT', outputDimensionality: 3 },
  })
  expect(many.embeddings?.map(({ values }) => single(values ?? []))).toEqual(EXPECTED)
  const one = await client.models.embedContent({ model, contents: 'one' })
  expect(one.embeddings?.map(({ values }) => single(values ?? []))).toEqual([single(vectorOf('one'))])
})

const aiModels: [string, (model: string) => EmbeddingModel][] = [
  ['openai', (id) => createOpenAI({ apiKey: customer.key, baseURL: `${gateway.url}/v1` }).embedding(id)],
  ['google', (id) => createGoogle({ apiKey: customer.key, baseURL: `${gateway.url}/v1beta` }).embedding(id)],
]

test.each(cases(aiModels))('the AI SDK, %s, gets vectors of %s', async (_, id, modelOf) => {
  const { embeddings } = await embedMany({ model: modelOf(id), values: TEXTS })
  expect(embeddings.map(single)).toEqual(EXPECTED)
  const { embedding } = await embed({ model: modelOf(id), value: 'one' })
  expect(single(embedding)).toEqual(single(vectorOf('one')))
})

test.each(cases(aiModels.slice(0, 1)))(
  'the AI SDK, %s, gets vectors of %s in request order, although the provider changed the order',
  async (_, id, modelOf) => {
    gateway.upstream.respond(async (call) => {
      const answer = (await answerEither(call).json()) as { data?: object[] }
      return Response.json({ ...answer, ...(answer.data && { data: answer.data.toReversed() }) })
    })
    const { embeddings } = await embedMany({ model: modelOf(id), values: TEXTS })
    gateway.upstream.respond(answerEither)
    expect(embeddings.map(single)).toEqual(EXPECTED)
  },
)

test('the AI SDK splits a list of texts above the provider’s maximum', async () => {
  const values = Array.from({ length: 250 }, (_, length) => 'x'.repeat(length + 1))
  const { embeddings } = await embedMany({ model: aiModels[1]?.[1]('svc/embed-gemini') ?? '', values })
  expect(embeddings.map(([length]) => length)).toEqual(values.map(({ length }) => length))
})
