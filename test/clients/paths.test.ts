/** Every path that real clients request, also with usual changes of the base address, and errors in the format of the path. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TEXT } from '@test/matrix/cases/words'
import { respondWith } from '@test/matrix/provider'
import type { TestGateway } from '@test/support/gateway'
import { startTrio } from './trio'

let gateway: TestGateway
let key: string

const CHAT = { model: 'svc/messages', messages: [{ role: 'user', content: 'Hi' }] }
const MESSAGE = { ...CHAT, max_tokens: 100 }
const GEMINI = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
beforeAll(async () => {
  gateway = await startTrio()
  gateway.upstream.respond(({ body }) => respondWith(TEXT, 'messages', body.stream === true))
  key = (await gateway.customer('100')).key
})
afterAll(() => gateway.stop())

function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

describe('chat-completions', () => {
  test.each([
    '/v1/chat/completions',
    '/v1/chat/completions/',
    '//v1/chat/completions',
    '/v1/v1/chat/completions',
    '/chat/completions',
    '/v1/chat/completions?api-version=2024-10-21&unheard=of',
  ])('POST %s is answered in the chat-completions format', async (path) => {
    const response = await post(path, CHAT)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ object: 'chat.completion', model: 'svc/messages' })
  })
})

describe('messages', () => {
  test.each([
    '/v1/messages',
    '/v1/messages/',
    '/v1/messages?beta=true',
    '/v1/messages/?beta=true',
    '//v1/messages',
    '/v1/v1/messages?beta=true',
    '/messages',
  ])('POST %s is answered in the messages format', async (path) => {
    const response = await post(path, MESSAGE)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ type: 'message', model: 'svc/messages' })
  })

  test.each([
    '/v1/messages/count_tokens',
    '/v1/messages/count_tokens/',
    '/v1/messages/count_tokens?beta=true',
    '/v1/v1/messages/count_tokens',
    '/messages/count_tokens',
  ])('POST %s counts tokens of messages', async (path) => {
    const response = await post(path, { ...CHAT, tools: [] })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ input_tokens: expect.any(Number) })
  })

  test.each([
    ['anthropic-beta', 'claude-code-20250219,interleaved-thinking-2025-05-14'],
    ['anthropic-version', '2023-06-01'],
    ['anthropic-version', '2026-10-21'],
    ['anthropic-version', '1999-01-01'],
  ])('the messages header %s: %s reaches the provider unchanged', async (name, value) => {
    const response = await post('/v1/messages', MESSAGE, { [name]: value })
    expect(response.status).toBe(200)
    expect(gateway.upstream.calls.at(-1)?.headers.get(name)).toBe(value)
  })

  test.each([
    ['provider2-version', '2026-10-21'],
    ['anthropic-dangerous-direct-browser-access', 'true'],
    ['anthropic-workspace-id', 'wrkspc_1'],
    ['anthropic-user-profile-id', 'uprof_1'],
    ['x-app', 'cli'],
  ])('the messages header %s: %s has no effect, and is not sent on', async (name, value) => {
    const response = await post('/v1/messages', MESSAGE, { [name]: value })
    expect(response.status).toBe(200)
    const sent = gateway.upstream.calls.at(-1)?.headers
    expect(sent?.get(name)).toBeNull()
    expect(sent?.get('anthropic-beta')).toBeNull()
    expect(sent?.get('anthropic-version')).toBe('2023-06-01')
  })
})

describe('generate-content', () => {
  const prefixes = [
    '/v1beta/models/svc/messages',
    '/v1/models/svc/messages',
    '/v1beta/models/svc%2Fmessages',
    '/v1/models/svc%2fmessages',
    '/v1beta/svc/messages',
    '/v1/svc/messages',
    '/v1beta/svc%2Fmessages',
    '/v1beta/v1/models/svc/messages',
    '/v1beta/v1beta/models/svc/messages',
    '/v1/v1beta/models/svc/messages',
    '/v1/v1/models/svc/messages',
    '/models/svc/messages',
    '//v1beta/models/svc/messages',
    '/v1beta//models/svc/messages',
    '/v1alpha/models/svc/messages',
    '/v1beta1/publishers/svc/models/messages',
  ]
  const spellings = prefixes.flatMap((prefix) => [`${prefix}:generateContent`, `${prefix}%3AgenerateContent/`])

  test.each(spellings)('POST %s is answered in the generate-content format', async (path) => {
    const response = await post(path, GEMINI)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      candidates: [{ finishReason: 'STOP' }],
      modelVersion: 'svc/messages',
    })
  })

  test.each(prefixes)('POST %s:streamGenerateContent streams events or an array', async (prefix) => {
    const events = await post(`${prefix}:streamGenerateContent?unheard=of&alt=sse`, GEMINI)
    expect(events.headers.get('content-type')).toStartWith('text/event-stream')
    expect(await events.text()).toMatch(/^data: \{[^\n]*\}\r\n\r\n/)
    for (const query of ['', '?alt=json']) {
      const array = await post(`${prefix}:streamGenerateContent${query}`, GEMINI)
      expect(array.headers.get('content-type')).toStartWith('application/json')
      const list = (await array.json()) as object[]
      expect(list.length).toBeGreaterThan(1)
      expect(list.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }] })
    }
  })

  test.each(prefixes)('POST %s:countTokens counts tokens', async (prefix) => {
    const wrapped = { generateContentRequest: { model: 'models/svc/messages', ...GEMINI } }
    for (const body of [GEMINI, wrapped]) {
      const response = await post(`${prefix}:countTokens`, body)
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({ totalTokens: expect.any(Number) })
    }
  })

  test('generate-content accepts snake_case, plain texts and missing roles', async () => {
    const body = {
      contents: 'Hi',
      system_instruction: 'Be brief.',
      generation_config: { max_output_tokens: 50, stop_sequences: ['END'] },
      tools: [{ function_declarations: [{ name: 'now', parameters_json_schema: { type: 'object' } }] }],
    }
    expect((await post('/v1beta/models/svc/messages:generateContent', body)).status).toBe(200)
    expect(gateway.upstream.calls.at(-1)?.body).toMatchObject({
      system: 'Be brief.',
      max_tokens: 50,
      stop_sequences: ['END'],
      tools: [{ name: 'now' }],
    })
  })
})

describe('models', () => {
  test.each(['/v1/models', '/v1/models/', '/v1/models?limit=1000', '/v1/v1/models', '/models'])(
    'GET %s lists models with the fields of all formats',
    async (path) => {
      const list = await (await fetch(gateway.url + path)).json()
      expect(list).toMatchObject({
        object: 'list',
        has_more: false,
        first_id: 'svc/chat-completions',
        data: expect.arrayContaining([expect.objectContaining({ id: 'svc/messages', object: 'model', type: 'model' })]),
        models: expect.arrayContaining([expect.objectContaining({ name: 'models/svc/messages' })]),
      })
    },
  )

  test.each(['/v1beta/models', '/v1beta/models/?pageSize=5', '/v1beta/v1/models', '/v1beta/v1beta/models'])(
    'GET %s lists models as generate-content does',
    async (path) => {
      const list = (await (await fetch(gateway.url + path)).json()) as object
      expect(Object.keys(list)).toEqual(['models'])
    },
  )

  test.each([
    '/v1/models/svc/messages',
    '/v1/models/svc%2Fmessages',
    '/v1/models/svc/messages/',
    '/v1/v1/models/svc/messages',
    '/models/svc/messages',
  ])('GET %s has the model’s display name as name', async (path) => {
    const entry = await (await fetch(gateway.url + path)).json()
    expect(entry).toMatchObject({ id: 'svc/messages', name: 'messages', display_name: 'messages', object: 'model' })
  })

  test.each([
    ['/v1beta/models/svc/messages', {}],
    ['/v1beta/models/svc%2Fmessages', {}],
    ['/v1beta/v1/models/svc/messages', {}],
    ['/v1/models/svc/messages', { 'x-goog-api-client': 'google-genai-sdk/3.1.0' }],
  ])('GET %s has the model’s resource name as name for generate-content clients', async (path, headers) => {
    const entry = await (await fetch(gateway.url + path, { headers })).json()
    expect(entry).toMatchObject({ id: 'svc/messages', name: 'models/svc/messages', displayName: 'messages' })
  })

  test('HEAD /api/hello is answered', async () => {
    expect((await fetch(`${gateway.url}/api/hello`, { method: 'HEAD' })).status).toBe(200)
  })
})

describe('errors have the format of the path', () => {
  const chat = { error: { type: 'invalid_request_error', param: null } }
  const message = { type: 'error', error: { type: 'not_found_error' }, request_id: expect.stringMatching(/^req_/) }
  const gemini = { error: { code: 404, status: 'NOT_FOUND' } }

  test.each([
    ['/v1/nothing', {}, chat],
    ['/v1/chat/nothing', { 'x-goog-api-key': 'x' }, chat],
    ['/v1/messages/nothing', {}, message],
    ['/v1/v1/messages/nothing', {}, message],
    ['/v1/nothing', { 'anthropic-version': '2023-06-01' }, message],
    ['/v1beta/nothing', {}, gemini],
    ['/v1beta/models/svc/messages:predict', {}, gemini],
    ['/v1/models/svc/messages:predict', {}, gemini],
    ['/v1/nothing', { 'x-goog-api-key': 'x' }, gemini],
  ])('POST %s with %j gets an error in the path’s format', async (path, headers, body) => {
    const response = await post(path, {}, headers as Record<string, string>)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject(body)
  })

  test.each([
    ['/v1/models/svc/none', {}, { error: { code: 'model_not_found' } }],
    ['/v1/models/svc/none', { 'anthropic-version': '2026-10-21' }, message],
    ['/v1/models/svc/none', { 'x-goog-api-client': 'x' }, gemini],
    ['/v1beta/models/svc/none', {}, gemini],
  ])('GET %s with %j gets an error in the path’s format', async (path, headers, body) => {
    const response = await fetch(gateway.url + path, { headers: headers as Record<string, string> })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject(body)
  })

  test.each([
    ['/v1/chat/completions', { error: { type: 'invalid_request_error', code: 'invalid_api_key', param: null } }],
    ['/v1/messages', { type: 'error', error: { type: 'authentication_error' } }],
    ['/v1beta/models/svc/messages:generateContent', { error: { code: 401, status: 'UNAUTHENTICATED' } }],
    ['/v1/models/svc/messages:streamGenerateContent', { error: { code: 401, status: 'UNAUTHENTICATED' } }],
  ])('POST %s without a key or without JSON gets an error in the path’s format', async (path, body) => {
    const response = await fetch(gateway.url + path, { method: 'POST', body: '{' })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject(body)
    const broken = await post(path, {}, {})
    expect(broken.status).toBe(400)
  })
})
