/** The URL and headers of a call, for each format: the key is sent in the format's own way, and nothing overrides it. */
import { describe, expect, test } from 'bun:test'
import { providerOf, targetOf } from '@test/routing/world'
import type { Provider } from '@/catalog/types'
import type { FormatName } from '@/chat/format-name'
import { FORMATS } from '@/formats/index'
import { endpointUrl, requestHeaders, usualHeaders } from '@/upstream/endpoints'

const KEY = { id: 'k1', secret: 'the-secret', weight: 1 }
const BASE = 'https://one.example/base'

function addressOf(name: FormatName, model: string, stream: boolean, changes: Partial<Provider> = {}): string {
  const provider = providerOf('p1', { format: name, baseUrl: BASE, apiVersion: undefined, ...changes })
  return endpointUrl(targetOf(provider, model), stream)
}

describe('the address', () => {
  test.each([true, false])(
    'the address of chat-completions and messages is one for all models, streamed or not (%p)',
    (stream) => {
      expect(addressOf('chat-completions', 'a/b c', stream)).toBe(`${BASE}/chat/completions`)
      expect(addressOf('messages', 'a/b c', stream)).toBe(`${BASE}/v1/messages`)
    },
  )

  test('a generate-content URL has model, verb and framing after the version', () => {
    expect(addressOf('generate-content', 'flash', false)).toBe(`${BASE}/v1beta/models/flash:generateContent`)
    const streamed = addressOf('generate-content', 'flash', true, { apiVersion: 'v1' })
    expect(streamed).toBe(`${BASE}/v1/models/flash:streamGenerateContent?alt=sse`)
  })

  test('a generate-content URL keeps a model’s slashes and escapes other characters', () => {
    const address = addressOf('generate-content', 'tuned/a b?c#d', false)
    expect(address).toBe(`${BASE}/v1beta/models/tuned/a%20b%3Fc%23d:generateContent`)
  })

  test('a URL has no version if the format’s path has none', () => {
    for (const name of ['chat-completions', 'messages', 'responses'] as const) {
      expect(addressOf(name, 'm', false, { apiVersion: 'v7' })).not.toContain('v7')
    }
  })
})

describe('the headers of a call', () => {
  const COMMON = {
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'svc-gateway',
  }
  const own: [FormatName, Record<string, string>][] = [
    ['chat-completions', { authorization: 'Bearer the-secret' }],
    ['messages', { 'x-api-key': 'the-secret', 'anthropic-version': '2023-06-01' }],
    ['generate-content', { 'x-goog-api-key': 'the-secret' }],
    ['responses', { authorization: 'Bearer the-secret' }],
  ]

  test.each(own)('the headers of %s contain the key in the format’s own way, and in no other', (name, headers) => {
    expect(requestHeaders(providerOf('p1', { format: name }), KEY, false)).toEqual({ ...COMMON, ...headers })
  })

  test('every format has headers', () => {
    expect(own.map(([name]) => name)).toEqual([...FORMATS.keys()])
  })

  test('streaming calls accept event streams', () => {
    const { accept } = requestHeaders(providerOf('p1', { format: 'messages' }), KEY, true)
    expect(accept).toBe('text/event-stream')
  })

  test('the catalogue’s headers override the version, never the key', () => {
    const headers = { 'openai-organization': 'acme', 'x-api-key': 'other', 'anthropic-version': '1999-01-01' }
    expect(requestHeaders(providerOf('p1', { format: 'messages', headers }), KEY, false)).toEqual({
      ...COMMON,
      'openai-organization': 'acme',
      'x-api-key': 'the-secret',
      'anthropic-version': '1999-01-01',
    })
  })

  test('headers are made once per key, and again for a changed provider', () => {
    const [provider, other] = [providerOf('p1'), providerOf('p1', { headers: { 'x-team': 'acme' } })]
    for (const stream of [false, true]) {
      const made = usualHeaders(provider, KEY, stream)
      expect(Object.fromEntries(made)).toEqual(requestHeaders(provider, KEY, stream))
      expect(usualHeaders(provider, KEY, stream)).toBe(made)
      expect(Object.fromEntries(usualHeaders(other, KEY, stream))).toEqual(requestHeaders(other, KEY, stream))
    }
    const patient = { ...provider, timeouts: { ...provider.timeouts, firstByteMs: 1 } }
    expect(usualHeaders(provider, KEY, true)).toBe(usualHeaders(patient, KEY, true))
  })

  test('protocol headers of the caller’s format are passed on', () => {
    const protocol = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'effort-2025-11-24' }
    expect(requestHeaders(providerOf('p1', { format: 'messages' }), KEY, false, protocol)).toEqual({
      ...{ ...COMMON, ...protocol },
      'x-api-key': 'the-secret',
    })
  })
})
