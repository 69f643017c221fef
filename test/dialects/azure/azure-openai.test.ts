/** Calls to Azure OpenAI, compared with the vendor's own library. */
import { describe, expect, test } from 'bun:test'
import { AnthropicFoundry } from '@anthropic-ai/foundry-sdk'
import { arriving, callTarget, targetOfEntry } from '@test/dialects/provider-entry'
import type { UpstreamCall } from '@test/support/upstream'
import OpenAI, { AzureOpenAI } from 'openai'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'

const VERSION = '2024-10-21'
const DEPLOYMENT = 'gpt 5.1/eu'
const DATED = { dialect: 'azure-openai', apiVersion: VERSION, keys: ['the-key'] }

/** What Azure decides by. */
function essence(calls: readonly UpstreamCall[]) {
  const [call] = calls
  assert(call, 'it has been called')
  const { path, headers } = call
  return { path, key: headers.get('api-key'), authorization: headers.get('authorization') }
}

async function ours(entry: JsonObject, call: Parameters<typeof callTarget>[1] = {}, model = DEPLOYMENT) {
  const base = String(entry.baseUrl ?? '')
  return essence(await arriving((url) => callTarget(targetOfEntry({ ...entry, baseUrl: url + base }, model), call)))
}

async function theirs(send: (client: AzureOpenAI) => Promise<unknown>) {
  const client = (url: string) =>
    new AzureOpenAI({ endpoint: url, apiKey: 'the-key', apiVersion: VERSION, maxRetries: 0 })
  return essence(await arriving((url) => send(client(url))))
}

const MESSAGES = [{ role: 'user' as const, content: 'Hi' }]

describe('E3: a deployment with a dated API version', () => {
  test.each([false, true])(
    'a dated deployment gets a chat request as AzureOpenAI sends it (stream %p)',
    async (stream) => {
      const library = await theirs((client) =>
        client.chat.completions.create({ model: DEPLOYMENT, messages: MESSAGES, stream }),
      )
      expect(await ours({ ...DATED, format: 'chat-completions' }, { stream })).toEqual(library)
      expect(library).toMatchObject({ key: 'the-key', authorization: null })
    },
  )

  test('E3: embeddings of a dated deployment are called as AzureOpenAI calls them', async () => {
    const library = await theirs((client) => client.embeddings.create({ model: DEPLOYMENT, input: 'Hi' }))
    expect(await ours({ ...DATED, format: 'chat-completions' }, { isEmbedding: true })).toEqual(library)
  })

  test('E3: responses of a dated deployment are called as AzureOpenAI calls them, with the deployment in the body', async () => {
    const library = await theirs((client) => client.responses.create({ model: DEPLOYMENT, input: 'Hi' }))
    expect(await ours({ ...DATED, format: 'responses' })).toEqual(library)
  })
})

describe('E3: the API version without a date', () => {
  const V1 = { format: 'chat-completions', baseUrl: '/openai/v1', keys: ['the-key'] }

  test('E3: the undated version sends its key in its own header', async () => {
    const called = await ours({ ...V1, auth: { type: 'header', name: 'Api-Key' } })
    expect(called).toEqual({ path: '/openai/v1/chat/completions', key: 'the-key', authorization: null })
  })

  test('E3: the undated version also accepts the key as the vendor’s plain library sends it', async () => {
    const library = essence(
      await arriving((url) =>
        new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: 'the-key', maxRetries: 0 }).chat.completions.create({
          ...{ model: DEPLOYMENT, messages: MESSAGES },
        }),
      ),
    )
    expect(await ours(V1)).toEqual(library)
  })
})

test('E7: Claude on Foundry gets the key in one of two headers, never in both', async () => {
  const entry = { format: 'messages', baseUrl: '/anthropic', keys: ['the-key'] }
  const headersOf = async (more: JsonObject) => {
    const base = (url: string) => ({ ...entry, ...more, baseUrl: url + entry.baseUrl })
    const [call] = await arriving((url) => callTarget(targetOfEntry(base(url))))
    assert(call, 'it has been called')
    expect(call.path).toBe('/anthropic/v1/messages')
    const { 'x-api-key': key, authorization, 'anthropic-version': version } = Object.fromEntries(call.headers)
    return { key, authorization, version }
  }
  expect(await headersOf({})).toEqual({ key: 'the-key', authorization: undefined, version: '2023-06-01' })
  const bearer = await headersOf({ auth: { type: 'bearer' } })
  expect(bearer).toEqual({ key: undefined, authorization: 'Bearer the-key', version: '2023-06-01' })
})

test.each(['key', 'token'])(
  'E7: Claude on Foundry is called with a %s as the vendor’s library calls it',
  async (kind) => {
    const essenceOf = ([call]: UpstreamCall[]) => {
      assert(call, 'it has been called')
      const { path, headers, body } = call
      const shown = ['x-api-key', 'authorization'].map((name) => headers.get(name))
      // Which version is spoken is each one's own.
      return { path, shown, isVersioned: headers.has('anthropic-version'), body }
    }
    const body = { model: 'claude-deployment', max_tokens: 10, messages: MESSAGES }
    const auth = kind === 'key' ? {} : { auth: { type: 'bearer' } }
    const own = await arriving((url) =>
      callTarget(
        targetOfEntry({ format: 'messages', baseUrl: `${url}/anthropic`, keys: ['the-key'], ...auth }, body.model),
        { body },
      ),
    )
    const library = await arriving((url) =>
      new AnthropicFoundry({
        ...{ baseURL: `${url}/anthropic`, maxRetries: 0 },
        ...(kind === 'key' ? { apiKey: 'the-key' } : { azureADTokenProvider: async () => 'the-key' }),
      }).messages.create(body),
    )
    expect(essenceOf(own)).toEqual(essenceOf(library))
  },
)

test('a provider without authentication needs no key, and no key is sent', async () => {
  const entry = { format: 'chat-completions', auth: { type: 'none' } }
  expect(await ours({ ...entry, baseUrl: '/v1' })).toEqual({
    ...{ path: '/v1/chat/completions', key: null, authorization: null },
  })
})
