/**
 * What a gateway for these client libraries must do, line by line. Lines that other files prove are named where they belong:
 * routes, %2F, %3A, doubled prefixes, `?beta=true`, HEAD /api/hello: paths.test.ts · text, tools, errors with every library:
 * libraries.test.ts · one tool, two parallel tools of one name, no-argument tools, thinking and tools, length, refusal, empty
 * output, errors and cuts in streams, split characters, CRLF, cached, written, reasoning and missing usage, every dialect:
 * test/matrix (newest majors) and older-majors.test.ts · Claude Code and Gemini CLI: cli/run.ts, by `bun run clients:cli`.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { TEXT } from '@test/matrix/cases/words'
import { CLIENTS, OLDER_CLIENTS } from '@test/matrix/clients/index'
import { respondWith } from '@test/matrix/provider'
import type { Customer, TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { liveStream } from '@test/support/upstream'
import { generateText, type LanguageModel } from 'ai'
import OpenAI from 'openai'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { FORMATS } from '@/formats/index'
import { LIBRARIES } from './libraries/index'
import { modelAt, startTrio } from './trio'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startTrio()
  customer = await gateway.customer('1000')
})
afterAll(() => gateway.stop())

const BODIES: Record<FormatName, { path: string; body: object }> = {
  'chat-completions': {
    path: '/v1/chat/completions',
    body: { model: 'svc/messages', messages: [{ role: 'user', content: 'Hi' }] },
  },
  messages: {
    path: '/v1/messages',
    body: { model: 'svc/messages', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  },
  'generate-content': {
    path: '/v1beta/models/svc/messages:generateContent',
    body: { contents: [{ parts: [{ text: 'Hi' }] }] },
  },
  responses: { path: '/v1/responses', body: { model: 'svc/messages', input: 'Hi' } },
}

const pairs = FORMAT_NAMES.flatMap((client) => FORMAT_NAMES.map((provider) => [client, provider] as const))

describe('credentials of each library', () => {
  function send(format: FormatName, headers: Record<string, string>, query = ''): Promise<Response> {
    gateway.upstream.respond(() => respondWith(TEXT, 'messages', false))
    const { path, body } = BODIES[format]
    return fetch(gateway.url + path + query, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  }

  const forms: [name: string, headers: (key: string) => Record<string, string>, query?: (key: string) => string][] = [
    ['Authorization: Bearer', (key) => ({ authorization: `Bearer ${key}` })],
    ['x-api-key', (key) => ({ 'x-api-key': key })],
    ['x-goog-api-key', (key) => ({ 'x-goog-api-key': key })],
    ['x-provider3-api-key', (key) => ({ 'x-provider3-api-key': key })],
    ['?key=', () => ({}), (key) => `?key=${key}`],
    ['the same key twice', (key) => ({ authorization: `Bearer ${key}`, 'x-api-key': key })],
    ['the same key in header and query', (key) => ({ 'x-goog-api-key': key }), (key) => `?key=${key}`],
  ]

  describe.each(FORMAT_NAMES.map((format) => [format] as const))('the library %s', (format) => {
    test.each(forms)('a request with %s is answered', async (_name, headers, query = () => '') => {
      const response = await send(format, headers(customer.key), query(customer.key))
      expect(response.status).toBe(200)
      expect(gateway.upstream.calls.at(-1)?.path).not.toContain(customer.key)
    })

    test('a request with two different keys is refused', async () => {
      const other = await gateway.customer('1')
      const response = await send(format, { authorization: `Bearer ${customer.key}`, 'x-api-key': other.key })
      expect(response.status).toBe(400)
    })
  })

  test('the log never contains a key', () => {
    expect(gateway.logLines.join('\n')).not.toContain(customer.key)
  })
})

describe('base addresses with an extra slash or path, as users set them', () => {
  type Talk = (url: string, apiKey: string) => Promise<string | null | undefined>
  const model = 'svc/messages'
  const ask = { model, messages: [{ role: 'user' as const, content: 'Hi' }] }

  function anthropic(path: string): Talk {
    return async (url, apiKey) => {
      const message = await new Anthropic({ apiKey, baseURL: url + path }).messages.create({ ...ask, max_tokens: 9 })
      return message.content[0]?.type === 'text' ? message.content[0].text : ''
    }
  }

  function google(path: string, more: { apiVersion?: string } = {}, named = model): Talk {
    return async (url, apiKey) => {
      const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url + path, ...more } })
      return (await models.generateContent({ model: named, contents: 'Hi' })).text
    }
  }

  function aiSdk(open: (url: string, apiKey: string) => LanguageModel): Talk {
    return async (url, apiKey) =>
      (await generateText({ model: open(url, apiKey), prompt: 'Hi', maxOutputTokens: 99 })).text
  }

  const openai = (url: string, apiKey: string) => new OpenAI({ apiKey, baseURL: `${url}/v1/` })
  const aiOpenai = (url: string, apiKey: string) => createOpenAI({ apiKey, baseURL: `${url}/v1/` })
  const asked: [name: string, ask: Talk][] = [
    ['openai', async (...at) => (await openai(...at).chat.completions.create(ask)).choices[0]?.message.content],
    ['openai, responses', async (...at) => (await openai(...at).responses.create({ model, input: 'Hi' })).output_text],
    ['@anthropic-ai/sdk', anthropic('/')],
    ['@anthropic-ai/sdk with /v1 too much', anthropic('/v1')],
    ['@google/genai', google('/')],
    ['@google/genai with /v1beta too much', google('/v1beta')],
    ['@google/genai without a version', google('', { apiVersion: '' })],
    ['@google/genai with the slash escaped', google('', {}, 'svc%2Fmessages')],
    ['@ai-sdk/openai', aiSdk((...at) => aiOpenai(...at).chat(model))],
    ['@ai-sdk/openai, responses', aiSdk((...at) => aiOpenai(...at)(model))],
    ['@ai-sdk/anthropic', aiSdk((url, apiKey) => createAnthropic({ apiKey, baseURL: `${url}/v1/` })(model))],
    ['@ai-sdk/anthropic without /v1', aiSdk((url, apiKey) => createAnthropic({ apiKey, baseURL: url })(model))],
    ['@ai-sdk/google', aiSdk((url, apiKey) => createGoogle({ apiKey, baseURL: `${url}/v1beta/` })(model))],
  ]

  test.each(asked)('the library works with the base address of %s', async (_name, talk) => {
    gateway.upstream.respond(() => respondWith(TEXT, 'messages', false))
    expect(await talk(gateway.url, customer.key)).toBe('Hello from the model.')
  })
})

describe('streams with keep-alives', () => {
  const majors = [
    ['newest', CLIENTS],
    ['older', OLDER_CLIENTS],
  ] as const
  const cases = majors.flatMap(([age, clients]) => FORMAT_NAMES.map((format) => [format, age, clients] as const))

  test.each(cases)(
    '%s, %s major: keep-alives between all events do not change the answer',
    async (format, _age, clients) => {
      gateway.upstream.respond(() => respondWith(TEXT, format, true))
      const sending = { baseUrl: gateway.url, key: customer.key, model: modelAt(format), mode: 'stream' as const }
      const body = { ...BODIES[format].body, model: undefined } as never
      const plain = await clients[format].send({ ...sending, body })
      const { keepAlive } = FORMATS.get(format)?.framing ?? { keepAlive: '' }
      expect(keepAlive).not.toBe('')
      const blocks = plain.text.split(/(?<=\r?\n\r?\n)/)
      const idle = blocks.map((block) => block + keepAlive).join('')
      const server = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        fetch: () => new Response(idle, { headers: { 'content-type': 'text/event-stream' } }),
      })
      const seen = await clients[format].send({ ...sending, baseUrl: `http://127.0.0.1:${server.port}`, body })
      await server.stop(true)
      expect(seen.view).toEqual(plain.view)
      expect(seen.view).toMatchObject({ kind: 'answer', text: 'Hello from the model.' })
    },
  )
})

describe('a provider whose connection breaks after the first words', () => {
  const cases = LIBRARIES.filter((library) => !library.name.startsWith('@ai-sdk')).flatMap((library) =>
    FORMAT_NAMES.map((provider) => [library.name, provider, library] as const),
  )

  test.each(cases)('%s throws its own error class if a %s provider breaks off', async (_name, provider, library) => {
    const live = liveStream()
    const cut = respondWith({ ...TEXT, fixture: 'matrix/cut' }, provider, true)
    gateway.upstream.respond(() => live.response)
    live.write(await cut.text())
    const failing = library.fail({ baseUrl: gateway.url, key: customer.key }, modelAt(provider), true)
    await until(
      () => gateway.upstream.calls.length > 0 && gateway.gateway.deps.streams.count() > 0,
      'the stream to open',
    )
    live.error()
    const thrown = await failing
    expect(thrown.isOwnClass).toBe(true)
    expect(thrown.message).toContain('The model provider failed')
  })
})

describe('a client that disconnects', () => {
  test.each(pairs)(
    '%s client, provider of %s: a client that disconnects ends the provider call, and pays for the delivered part',
    async (client, provider) => {
      const fresh = await gateway.customer('1')
      const live = liveStream()
      const cut = respondWith({ ...TEXT, fixture: 'matrix/cut' }, provider, true)
      gateway.upstream.respond(() => live.response)
      live.write(await cut.text())
      const { body } = BODIES[client]
      const path =
        client === 'generate-content'
          ? `/v1beta/models/${modelAt(provider)}:streamGenerateContent?alt=sse`
          : BODIES[client].path
      const controller = new AbortController()
      const response = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(
          client === 'generate-content' ? body : { ...body, model: modelAt(provider), stream: true },
        ),
        signal: controller.signal,
      })
      await response.body?.getReader().read()
      controller.abort()
      const balance = await until(async () => {
        const read = await gateway.balance(fresh.accountId)
        return read.held === 0 && read.spent > 0 && read
      }, 'the hang-up to be settled')
      // Twenty tokens of input and two words at most, estimated where the provider has said nothing yet.
      expect(balance.spent).toBeLessThan(50_000)
      expect(await until(() => gateway.upstream.calls.at(-1)?.isAborted, 'the provider to be told')).toBe(true)
    },
  )
})
