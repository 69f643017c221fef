/** Invalid embeddings requests are refused before any call; and where embeddings appear in lists and metrics. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { answerEither, sellEmbeddings } from './providers'

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

function post(path: string, body: unknown, key = customer.key): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

describe('a refused embeddings request', () => {
  const CASES: [string, unknown, string | null][] = [
    ['has no input', { model: 'svc/embed' }, 'input'],
    ['has an empty input', { model: 'svc/embed', input: '' }, 'input'],
    ['has no inputs', { model: 'svc/embed', input: [] }, 'input'],
    ['has an empty text among others', { model: 'svc/embed', input: ['a', ''] }, 'input[1]'],
    ['has empty tokens', { model: 'svc/embed', input: [[]] }, 'input[0]'],
    ['nests its tokens deeper', { model: 'svc/embed', input: [[[1]]] }, 'input[0][0]'],
    ['mixes texts and tokens', { model: 'svc/embed', input: ['a', [1]] }, 'input[1]'],
    ['mixes tokens and texts', { model: 'svc/embed', input: [1, 'a'] }, 'input[1]'],
    ['has half a token', { model: 'svc/embed', input: [1.5] }, 'input[0]'],
    ['has a token below zero', { model: 'svc/embed', input: [[1, -1]] }, 'input[0][1]'],
    ['has null for a text', { model: 'svc/embed', input: [null] }, 'input[0]'],
    ['has an object for a text', { model: 'svc/embed', input: { text: 'a' } }, 'input'],
    ['says NaN', '{"model":"svc/embed","input":[NaN]}', null],
    ['has more inputs than it may', { model: 'svc/embed', input: Array.from({ length: 2049 }, () => 'a') }, 'input'],
    ['has a text that is surely too long', { model: 'svc/embed', input: 'word '.repeat(20_000) }, 'input'],
    ['has too many tokens', { model: 'svc/embed', input: Array.from({ length: 8193 }, () => 1) }, 'input'],
    [
      'has too many tokens in all',
      { model: 'svc/embed', input: Array.from({ length: 38 }, () => Array.from({ length: 8000 }, () => 1)) },
      'input',
    ],
    ['wants no dimensions', { model: 'svc/embed', input: 'a', dimensions: 0 }, 'dimensions'],
    ['wants another encoding', { model: 'svc/embed', input: 'a', encoding_format: 'hex' }, 'encoding_format'],
    ['sends tokens to who reads texts', { model: 'svc/embed-gemini', input: [1, 2] }, 'input'],
    ['names a model that answers conversations', { model: 'svc/alpha', input: 'a' }, 'model'],
    ['names a tier', { model: 'auto-smart', input: 'a' }, 'model'],
  ]

  test.each(CASES)('embeddings are refused: %s', async (_, body, param) => {
    const answer = await post('/v1/embeddings', body)
    expect(answer.status).toBe(400)
    expect(((await answer.json()) as { error: { param: string | null } }).error.param).toBe(param)
    expect(gateway.upstream.calls).toHaveLength(0)
  })

  test('an embeddings request with exactly the maximum of tokens is accepted', async () => {
    const input = Array.from({ length: 37 }, () => Array.from({ length: 8100 }, () => 100_000))
    expect((await post('/v1/embeddings', { model: 'svc/embed', input })).status).toBe(200)
  })

  test('token ids are sent to the target that accepts token ids', async () => {
    const answer = await post('/v1/embeddings', { model: 'svc/embed-either', input: [1, 2] })
    expect(answer.headers.get('x-svc-provider')).toBe('provider1')
  })

  test('an embeddings request for an unknown model, without a key, or for another account’s item is refused by name', async () => {
    expect((await post('/v1/embeddings', { model: 'svc/nothing', input: 'a' })).status).toBe(404)
    expect((await post('/v1/embeddings', { model: 'svc/embed', input: 'a' }, 'svc-wrong')).status).toBe(401)
    const answer = await fetch(`${gateway.url}/v1/embeddings`, { method: 'POST', body: '{}' })
    expect(answer.status).toBe(401)
  })
})

test('a chat request to an embedding model is refused, with the right endpoint in the error', async () => {
  const messages = [{ role: 'user', content: 'hello' }]
  const chat = await post('/v1/chat/completions', { model: 'svc/embed', messages })
  expect(chat.status).toBe(400)
  expect(await chat.json()).toMatchObject({
    error: { param: 'model', code: 'wrong_endpoint', message: expect.stringContaining('/v1/embeddings') },
  })
  expect((await post('/v1/messages', { model: 'svc/embed', messages, max_tokens: 5 })).status).toBe(400)
  const contents = [{ parts: [{ text: 'hello' }] }]
  expect((await post('/v1beta/models/svc/embed:generateContent', { contents })).status).toBe(400)
  const fallback = await post('/v1/chat/completions', { model: 'svc/alpha', messages, fallback: ['svc/embed'] })
  expect(await fallback.json()).toMatchObject({ error: { param: 'fallback[0]' } })
})

test('every spelling of the embeddings path works, and its errors have the path’s format', async () => {
  for (const path of ['/v1/embeddings', '/v1/embeddings/', '/embeddings', '/v1/v1/embeddings']) {
    expect((await post(path, { model: 'svc/embed', input: 'a' })).status).toBe(200)
  }
  const answer = await post('/v1/models/svc/embed:embedContents', { content: { parts: [{ text: 'a' }] } })
  expect(answer.status).toBe(404)
})

test('the lists of models mark embedding models', async () => {
  const listed = (await (await fetch(`${gateway.url}/v1/models`)).json()) as { data: { id: string; kind: string }[] }
  const kinds = new Map(listed.data.map(({ id, kind }) => [id, kind]))
  expect([kinds.get('svc/embed'), kinds.get('svc/alpha'), kinds.get('auto-smart')]).toEqual([
    ...['embedding', 'chat', 'chat'],
  ])
  const own = await (await fetch(`${gateway.url}/v1beta/models/svc/embed`)).json()
  expect(own).toMatchObject({ supportedGenerationMethods: ['embedContent', 'batchEmbedContents'] })
})

test('embeddings requests are counted in the metrics', async () => {
  await post('/v1/embeddings', { model: 'svc/embed', input: 'a' })
  const text = await (await fetch(`${gateway.url}/metrics`)).text()
  expect(text).toMatch(/svc_[a-z_]*requests[a-z_]*\{[^}]*model="svc\/embed"/)
})
