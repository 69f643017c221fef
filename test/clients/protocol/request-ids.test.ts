/** The request id where each library looks for it: in answers, streams and errors. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { startTrio } from '@test/clients/trio'
import { TEXT } from '@test/matrix/cases/words'
import { respondWith } from '@test/matrix/provider'
import type { TestGateway } from '@test/support/gateway'
import Anthropic0 from 'anthropic-0'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'

const ID = /^req_[0-9a-f]{32}$/

let gateway: TestGateway
let key: string
beforeAll(async () => {
  gateway = await startTrio()
  gateway.upstream.respond(({ body }) => respondWith(TEXT, 'messages', body.stream === true))
  key = (await gateway.customer('100')).key
})
afterAll(() => gateway.stop())

/** Where libraries put it, whether their types say so or not. */
function idOf(answer: object): string {
  return '_request_id' in answer ? String(answer._request_id) : 'none'
}

const HI = [{ role: 'user' as const, content: 'Hi' }]
const MODEL = 'svc/messages'
const UNKNOWN = 'svc/unknown'

describe.each([
  ['@anthropic-ai/sdk 1', Anthropic],
  ['@anthropic-ai/sdk 0', Anthropic0 as unknown as typeof Anthropic],
])('the request id in the library of %s', (_, Client) => {
  const client = () => new Client({ apiKey: key, baseURL: gateway.url, maxRetries: 0 })
  const body = { model: MODEL, max_tokens: 100, messages: HI }

  test('the client finds the request id in an answer', async () => {
    const { data, response, request_id } = await client().messages.create(body).withResponse()
    expect(idOf(data)).toMatch(ID)
    expect(request_id).toBe(idOf(data))
    expect(response.headers.get('x-request-id')).toBe(idOf(data))
  })

  test('the client finds the request id in a token count', async () => {
    expect(idOf(await client().messages.countTokens({ model: MODEL, messages: HI }))).toMatch(ID)
  })

  test('the client finds the request id in a stream', async () => {
    const stream = client().messages.stream(body)
    await stream.finalMessage()
    expect(stream.request_id).toMatch(ID)
  })

  test('the client finds the request id in an error', async () => {
    const error = await client()
      .messages.create({ ...body, model: UNKNOWN })
      .catch((thrown: { requestID?: string }) => thrown)
    expect('requestID' in error && error.requestID).toMatch(ID)
  })
})

describe.each([
  ['openai 7', OpenAI],
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
])('the request id in the %s library', (_, Client) => {
  const client = () => new Client({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })

  test('the client finds the request id in answers', async () => {
    const chat = await client().chat.completions.create({ model: MODEL, messages: HI })
    expect(chat._request_id).toMatch(ID)
    expect((await client().responses.create({ model: MODEL, input: 'Hi' }))._request_id).toMatch(ID)
  })

  test('the client finds the request id in streams', async () => {
    const chat = await client().chat.completions.create({ model: MODEL, messages: HI, stream: true }).withResponse()
    expect(chat.request_id).toMatch(ID)
    for await (const _chunk of chat.data);
    const response = await client().responses.create({ model: MODEL, input: 'Hi', stream: true }).withResponse()
    expect(response.request_id).toMatch(ID)
    for await (const _event of response.data);
  })

  test('the client finds the request id in errors', async () => {
    const calls = [
      () => client().chat.completions.create({ model: UNKNOWN, messages: HI }),
      () => client().responses.create({ model: UNKNOWN, input: 'Hi' }),
    ]
    for (const call of calls) {
      const error = await call().catch((thrown: { requestID?: string }) => thrown)
      expect('requestID' in error && error.requestID).toMatch(ID)
    }
  })
})
