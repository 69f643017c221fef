/**
 * Every caller gets vectors in the requested encoding, from a provider of either format; requests that cannot be
 * translated are refused.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { answerEither, compatibleAnswer, packed, sellEmbeddings, vectorOf } from './providers'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({
    respond: answerEither,
    catalog(file) {
      sellEmbeddings(file)
      const spare = file.providers.spare ?? {}
      spare.quirks = ['no-base64-embeddings']
      spare.passFields = ['input_type']
      const [model] = file.models.filter(({ id }) => id === 'svc/embed')
      file.models.push({ ...model, id: 'svc/embed-plain', targets: [{ provider: 'spare', model: 'plain' }] })
    },
  })
  customer = await gateway.customer('5')
})
afterAll(() => gateway.stop())
beforeEach(() => {
  gateway.upstream.calls.length = 0
})
afterEach(() => gateway.upstream.respond(answerEither))

function post(path: string, body: unknown, key = customer.key): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

type Embeddings = { data: { index: number; embedding: number[] | string }[] }

async function vectorsFor(body: object): Promise<Embeddings['data'][number]['embedding'][]> {
  const answer = await post('/v1/embeddings', body)
  expect(answer.status).toBe(200)
  return ((await answer.json()) as Embeddings).data.map(({ embedding }) => embedding)
}

const sentBody = () => gateway.upstream.calls[0]?.body ?? {}

describe('the requested encoding of vectors', () => {
  const whole = vectorOf('text')
  const single = [...new Float32Array(whole)]

  test.each([
    ['svc/embed', 'base64' as const, packed(whole)],
    ['svc/embed', 'float' as const, whole],
    ['svc/embed', undefined, whole],
    ['svc/embed-gemini', 'base64' as const, packed(whole)],
    ['svc/embed-gemini', 'float' as const, whole],
    // A provider that knows no base64 is never asked for it.
    ['svc/embed-plain', 'base64' as const, packed(whole)],
  ])('vectors arrive from %s with %s', async (model, encoding_format, expected) => {
    expect(await vectorsFor({ model, input: 'text', ...(encoding_format && { encoding_format }) })).toEqual([expected])
  })

  test.each(['float', 'base64'] as const)(
    'the caller gets the requested encoding although the provider always answers in %s',
    async (encoding) => {
      gateway.upstream.respond((call) => compatibleAnswer(call, { encoding }))
      const ask = (encoding_format: string) => vectorsFor({ model: 'svc/embed', input: ['text'], encoding_format })
      expect(await ask('base64')).toEqual([packed(whole)])
      expect(await ask('float')).toEqual([encoding === 'float' ? whole : single])
      const lone = await post('/v1beta/models/svc/embed:embedContent', { content: 'text' })
      expect(await lone.json()).toMatchObject({ embedding: { values: encoding === 'float' ? whole : single } })
    },
  )

  test('hundreds of vectors are requested in base64, and sent as numbers in parts', async () => {
    const input = Array.from({ length: 2048 }, (_, n) => `text ${n}`)
    gateway.upstream.respond((call) => {
      const data = (call.body.input as string[]).map((text, index) => {
        const vector = Array.from({ length: 256 }, (_, place) => text.length + place / 4)
        return { object: 'embedding', index, embedding: packed(vector) }
      })
      return Response.json({ object: 'list', data, usage: { prompt_tokens: 9, total_tokens: 9 } })
    })
    const vectors = await vectorsFor({ model: 'svc/embed', input })
    expect(sentBody().encoding_format).toBe('base64')
    expect(vectors).toHaveLength(2048)
    for (const [index, vector] of vectors.entries()) {
      expect(vector).toHaveLength(256)
      expect((vector as number[])[1]).toBe((input[index]?.length ?? 0) + 0.25)
    }
  })

  test('vectors are in the order of the inputs, even if the provider answers in another order', async () => {
    gateway.upstream.respond((call) => {
      const data = (call.body.input as string[]).map((text, index) => ({ index, embedding: vectorOf(text) })).reverse()
      return Response.json({ data, usage: { prompt_tokens: 2, total_tokens: 2 } })
    })
    const body = {
      contents: undefined,
      requests: ['a', 'bb', 'ccc'].map((text) => ({ content: { parts: [{ text }] } })),
    }
    const answer = await post('/v1beta/models/svc/embed:batchEmbedContents', body)
    const { embeddings } = (await answer.json()) as { embeddings: { values: number[] }[] }
    expect(embeddings.map(({ values }) => values[0])).toEqual([1, 2, 3])
  })

  test.each([
    ['float', undefined, 0],
    ['base64', undefined, 0],
    ['float', 2, 0],
    // Numbers that begin elsewhere say the order as well.
    ['float', undefined, 1],
  ] as const)(
    'vectors in %s are sorted even if the provider has the caller’s format (%p, %p)',
    async (encoding, space, from) => {
      gateway.upstream.respond((call) => {
        const data = (call.body.input as string[]).map((text, place) => {
          const vector = vectorOf(text)
          return {
            object: 'embedding',
            index: place + from,
            embedding: encoding === 'base64' ? packed(vector) : vector,
          }
        })
        const [first, ...others] = data
        const shuffled = { data: [...others.reverse(), first], usage: { prompt_tokens: 2, total_tokens: 2 } }
        return new Response(JSON.stringify(shuffled, null, space))
      })
      const input = ['a', 'bb', 'ccc', 'dddd']
      const answer = await post('/v1/embeddings', { model: 'svc/embed', input, encoding_format: encoding })
      const { data } = (await answer.json()) as Embeddings
      const expected = input.map((text) => (encoding === 'base64' ? packed(vectorOf(text)) : vectorOf(text)))
      expect(data.map(({ embedding }) => embedding)).toEqual(expected)
      expect(data.map(({ index }) => index)).toEqual([0, 1, 2, 3])
    },
  )

  test('vectors of the provider’s own format are relayed byte by byte', async () => {
    const written = '{"object":"embedding", "index":0,"embedding":[0.10, 1e-3 ,-0.330000001] }'
    gateway.upstream.respond(
      () => new Response(`{"model":"m","data":[${written}],"usage":{"prompt_tokens":3,"total_tokens":3}}`),
    )
    const answer = await post('/v1/embeddings', { model: 'svc/embed', input: 'text', encoding_format: 'float' })
    expect(await answer.text()).toBe(
      `{"object":"list","data":[${written}],"model":"svc/embed","usage":{"prompt_tokens":3,"total_tokens":3}}`,
    )
  })
})

describe('the provider’s request', () => {
  test('a provider of the caller’s format gets all listed fields and no others', async () => {
    const body = { model: 'svc/embed', input: ['a'], dimensions: 3, user: 'u1', input_type: 'query', svc: {} }
    const answer = await post('/v1/embeddings', body)
    expect(sentBody()).toEqual({
      ...{ model: 'provider1-embedder', input: ['a'], dimensions: 3, user: 'u1', encoding_format: 'float' },
    })
    expect(answer.headers.get('x-svc-left-out')).toBe('input_type')
  })

  test('the embeddings provider gets fields that the catalogue passes on', async () => {
    const answer = await post('/v1/embeddings', { model: 'svc/embed-plain', input: 'a', input_type: 'query' })
    expect(sentBody()).toMatchObject({ input_type: 'query', input: 'a' })
    expect(answer.headers.get('x-svc-left-out')).toBeNull()
  })

  test('a provider of another format gets texts and dimensions; omitted fields are named', async () => {
    const body = { model: 'svc/embed-gemini', input: ['a', 'b'], dimensions: 3, user: 'u1' }
    const answer = await post('/v1/embeddings', body)
    const request = (text: string) => ({
      content: { parts: [{ text }] },
      outputDimensionality: 3,
      model: 'models/provider3-embedder',
    })
    expect(sentBody()).toEqual({ requests: [request('a'), request('b')] })
    expect(answer.headers.get('x-svc-left-out')).toBe('user')
  })

  test('the task type is only sent from a generate-content caller to a generate-content provider', async () => {
    const content = { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] }
    const one = { content, task_type: 'RETRIEVAL_DOCUMENT', title: 't', output_dimensionality: 3 }
    await post('/v1beta/models/svc%2Fembed-gemini:embedContent', one)
    const own = { content, taskType: 'RETRIEVAL_DOCUMENT', title: 't', outputDimensionality: 3 }
    expect(sentBody()).toEqual({ requests: [{ ...own, model: 'models/provider3-embedder' }] })
    gateway.upstream.calls.length = 0
    const answer = await post('/v1beta/models/svc%2Fembed:embedContent', one)
    expect(sentBody()).toEqual({
      model: 'provider1-embedder',
      input: ['a\nb'],
      dimensions: 3,
      encoding_format: 'float',
    })
    expect(answer.headers.get('x-svc-left-out')).toBe('taskType, title')
  })

  test('a provider gets our own key, and never the caller’s key or name', async () => {
    await post('/v1/embeddings', { model: 'svc/embed', input: 'a' })
    const [call] = gateway.upstream.calls
    expect(call?.path).toBe('/v1/embeddings')
    expect(call?.headers.get('authorization')).toBe('Bearer sk-provider1-secret-canary')
    expect(JSON.stringify([...(call?.headers ?? [])])).not.toContain(customer.key)
  })

  test('the provider preferences of an embeddings request are respected', async () => {
    const body = { model: 'svc/embed-two', input: 'a', svc: { providers: { only: ['spare'] } } }
    expect((await post('/v1/embeddings', body)).headers.get('x-svc-provider')).toBe('spare')
    const none = await post('/v1/embeddings', { ...body, svc: { providers: { only: ['provider3'] } } })
    expect(none.status).toBe(400)
    expect((await post('/v1/embeddings', { ...body, svc: { max_price: { input: 0.5 } } })).status).toBe(400)
  })
})

describe('callers of generate-content', () => {
  const content = { parts: [{ text: 'text' }] }

  test.each(['svc/embed', 'svc/embed-gemini'])(
    'a generate-content caller gets one vector or a list of %s, with usage',
    async (model) => {
      const lone = await post(`/v1/models/${model}:embedContent`, { model: `models/${model}`, content })
      const count = expect.any(Number)
      const usageMetadata = { promptTokenCount: count, totalTokenCount: count }
      expect(await lone.json()).toEqual({ embedding: { values: vectorOf('text') }, usageMetadata })
      const batch = await post(`/v1beta/models/${model}:batchEmbedContents`, { requests: [{ content }, { content }] })
      const values = { values: vectorOf('text') }
      expect(await batch.json()).toEqual({ embeddings: [values, values], usageMetadata })
      expect(batch.headers.get('x-svc-cost-usd')).not.toBeNull()
    },
  )

  test('a generate-content caller gets a complete answer even if the provider adds other fields', async () => {
    const usageMetadata = { promptTokenCount: 3, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 3 }] }
    gateway.upstream.respond(() => Response.json({ embeddings: [{ values: [0.5] }], usageMetadata }))
    const answer = await post('/v1beta/models/svc/embed-gemini:batchEmbedContents', { requests: [{ content }] })
    expect(await answer.json()).toEqual({
      embeddings: [{ values: [0.5] }],
      usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 },
    })
  })

  test.each([
    ['no content', {}, 'content'],
    ['no text', { content: { parts: [] } }, 'content.parts'],
    ['an empty text', { content: { parts: [{ text: '' }] } }, 'content.parts[0].text'],
    ['an image', { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AA' } }] } }, 'content.parts[0]'],
    ['another model', { content, model: 'models/other' }, 'model'],
    ['no dimensions', { content, outputDimensionality: 0 }, 'outputDimensionality'],
    ['two spellings of one field', { content, taskType: 'A', task_type: 'B' }, 'taskType'],
  ])('a generate-content request is refused: %s', async (_, body, field) => {
    const answer = await post('/v1beta/models/svc/embed-gemini:embedContent', body)
    expect(answer.status).toBe(400)
    const { error } = (await answer.json()) as { error: { message: string; status: string } }
    expect(error.status).toBe('INVALID_ARGUMENT')
    expect(error.message).toContain(field)
  })

  test.each([
    ['no requests', []],
    ['more than a hundred', Array.from({ length: 101 }, () => ({ content }))],
    ['requests of two lengths', [{ content }, { content, outputDimensionality: 3 }]],
    ['an entry that is no request', ['text']],
  ])('a generate-content request is refused: %s', async (_, requests) => {
    const answer = await post('/v1beta/models/svc/embed-gemini:batchEmbedContents', { requests })
    expect(answer.status).toBe(400)
    expect(gateway.upstream.calls).toHaveLength(0)
  })
})
