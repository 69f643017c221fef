/** Embeddings of Bedrock through a whole gateway: each model family gets its own request form, and its count or ours is charged. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { faultsOf, SAMPLE } from '@test/catalog/sample-catalog'
import { startGateway, type TestGateway } from '@test/support/gateway'
import OpenAI from 'openai'
import type { JsonObject } from '@/lib/json'

const MODELS = {
  titan: 'amazon.titan-embed-text-v2:0',
  cohere: 'eu.cohere.embed-v4:0',
  nova: 'amazon.nova-2-multimodal-embeddings-v1:0',
}
const vectorOf = (text: string) => [text.length, 0.5]

let world: TestGateway
const calls: { path: string; body: JsonObject }[] = []

function answer(path: string, body: JsonObject): Response {
  if (path.includes('titan')) {
    return Response.json({ embedding: vectorOf(String(body.inputText)), inputTextTokenCount: 5 })
  }
  if (path.includes('cohere')) {
    return Response.json({
      embeddings: { float: (body.texts as string[]).map(vectorOf) },
      response_type: 'embeddings_by_type',
    })
  }
  const { text } = body.singleEmbeddingParams as { text: { value: string } }
  return Response.json({ embeddings: [{ embeddingType: 'TEXT', embedding: vectorOf(text.value) }], inputTokenCount: 5 })
}

beforeAll(async () => {
  world = await startGateway({
    respond({ path, body }) {
      calls.push({ path, body: body as JsonObject })
      return answer(path, body as JsonObject)
    },
    catalog(file) {
      const address = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
      file.providers.embed = {
        format: 'chat-completions',
        dialect: 'bedrock-embed',
        baseUrl: address,
        keys: ['the-key'],
      }
      for (const [name, model] of Object.entries(MODELS)) {
        file.models.push({
          ...{ id: `svc/${name}`, kind: 'embedding', name, created: 1, ownedBy: 'aws', contextLength: 8192 },
          ...{ pricing: { inputPer1mTokens: 1 }, targets: [{ provider: 'embed', model }] },
        })
      }
    },
  })
})
afterAll(() => world.stop())
beforeEach(() => void calls.splice(0))

async function embed(name: string, input: string[], more: { dimensions?: number; encoding_format?: 'float' } = {}) {
  const { key, accountId } = await world.customer('1')
  const client = new OpenAI({ apiKey: key, baseURL: `${world.url}/v1`, maxRetries: 0 })
  const { data } = await client.embeddings.create({ model: `svc/${name}`, input, ...more })
  const charged = 1_000_000_000 - (await world.balance(accountId)).available
  return { vectors: data.map(({ embedding }) => [...embedding]), charged }
}

test.each(Object.keys(MODELS))(
  'vectors of %s come in the order of the texts, in numbers and in base64',
  async (name) => {
    for (const more of [{}, { encoding_format: 'float' as const }]) {
      const { vectors, charged } = await embed(name, ['a', 'bcd'], more)
      expect(vectors).toEqual([vectorOf('a'), vectorOf('bcd')])
      expect(charged).toBeGreaterThan(0)
    }
  },
)

test('Titan and Nova get one text per call and are charged by their counts; Cohere gets all texts at once', async () => {
  const counts = await Promise.all(
    Object.keys(MODELS).map(async (name) => [name, (await embed(name, ['a', 'b'])).charged] as const),
  )
  expect(Object.fromEntries(counts)).toMatchObject({ titan: 10_000, nova: 10_000 })
  const asked = (word: string) => calls.filter(({ path }) => path.includes(word)).map(({ body }) => body)
  expect(asked('titan')).toEqual([{ inputText: 'a' }, { inputText: 'b' }])
  expect(asked('cohere')).toEqual([{ texts: ['a', 'b'], input_type: 'search_document', embedding_types: ['float'] }])
  expect(asked('nova')).toHaveLength(2)
})

test('InvokeModel gets the vector size in each model family’s own field', async () => {
  for (const name of Object.keys(MODELS)) await embed(name, ['a'], { dimensions: 256 })
  expect(calls.map(({ path }) => path)).toEqual(
    Object.values(MODELS).map((model) => `/model/${encodeURIComponent(model)}/invoke`),
  )
  expect(calls.map(({ body }) => body)).toMatchObject([
    { dimensions: 256 },
    { output_dimension: 256 },
    { singleEmbeddingParams: { embeddingDimension: 256 } },
  ])
})

test('a chat model cannot be a target of embeddings', () => {
  const embed = { format: 'chat-completions', dialect: 'bedrock-embed', baseUrl: 'http://127.0.0.1:1', keys: ['k'] }
  const [model] = SAMPLE.models
  const models = [{ ...model, fallback: [], targets: [{ provider: 'embed', model: MODELS.titan }] }]
  expect(faultsOf(JSON.stringify({ service: 'svc', providers: { embed }, models }))).toEqual([
    'models[0].targets[0].provider: embed embeds, and answers no conversation',
  ])
})
