/** Claude on Vertex AI: calls compared with the vendor's own library, and its errors. */
import { describe, expect, test } from 'bun:test'
import { AnthropicVertex } from '@anthropic-ai/vertex-sdk'
import { arriving, callTarget, targetOfEntry } from '@test/dialects/provider-entry'
import type { UpstreamCall } from '@test/support/upstream'
import { assert } from '@/lib/assert'
import type { JsonObject, JsonValue } from '@/lib/json'

const PLACE = { project: 'the-project', location: 'europe-west4' }
const ENTRY = { format: 'messages', dialect: 'vertex-raw', ...PLACE }
const BODY = {
  max_tokens: 10,
  messages: [{ role: 'user' as const, content: 'Hi' }],
  system: 'Be short.',
}

/** Who signs the library's calls. */
const SIGNER = { getRequestHeaders: async () => new Headers({ authorization: 'Bearer token' }) } as never

const sent = ([call]: UpstreamCall[]) => {
  assert(call, 'it has been called')
  const { path, headers, body } = call
  const names = ['authorization', 'x-api-key', 'anthropic-version', 'content-type']
  const { anthropic_version: version, ...rest } = body
  return { path, headers: names.map((name) => headers.get(name)), body: rest, version }
}

describe('E20: a call to Claude at Vertex equals the vendor library’s', () => {
  test.each([
    ['claude-sonnet-4-5@20250929', false],
    ['claude-sonnet-4-5@20250929', true],
    ['claude-opus-5', false],
  ])('E20: the call equals the vendor’s library’s: %s (stream %p)', async (model, stream) => {
    const body: JsonObject = { ...BODY, model, ...(stream && { stream }) }
    const auth = { type: 'bearer' }
    const ours = sent(
      await arriving((url) =>
        callTarget(targetOfEntry({ ...ENTRY, auth, keys: ['token'], baseUrl: url }, model), { stream, body }),
      ),
    )
    const theirs = sent(
      await arriving((url) => {
        const place = { projectId: PLACE.project, region: PLACE.location, baseURL: `${url}/v1` }
        const client = new AnthropicVertex({ ...place, authClient: SIGNER, maxRetries: 0 })
        return client.messages.create({ ...BODY, model, ...(stream && { stream }) })
      }),
    )
    expect({ ...ours, version: '' }).toEqual({ ...theirs, version: '' })
    const verb = stream ? 'streamRawPredict' : 'rawPredict'
    expect(ours.path).toBe(
      `/v1/projects/the-project/locations/europe-west4/publishers/anthropic/models/${model}:${verb}`,
    )
    // The library names the youngest version, which takes fewer fields than the one that callers' bodies are of.
    expect(ours.version).toBe('vertex-2023-10-16')
    expect(ours.headers).toEqual(['Bearer token', null, null, 'application/json'])
    expect(ours.body.stream).toBe(stream ? true : undefined)
  })
})

test.each([
  ['global', 'https://aiplatform.googleapis.com'],
  ['us', 'https://aiplatform.us.rep.googleapis.com'],
  ['eu', 'https://aiplatform.eu.rep.googleapis.com'],
  ['us-east5', 'https://us-east5-aiplatform.googleapis.com'],
])('E20: the host of %s equals the vendor library’s', (location, host) => {
  const entry = { ...ENTRY, location, auth: { type: 'google', metadataHost: '127.0.0.1:1' } }
  expect(targetOfEntry(entry).provider.baseUrl).toBe(host)
  expect(new AnthropicVertex({ projectId: 'p', region: location, authClient: SIGNER }).baseURL).toBe(`${host}/v1`)
})

test.each<[string, number, JsonValue, object]>([
  [
    'the model',
    400,
    { type: 'error', error: { type: 'invalid_request_error', message: 'max_tokens: too large' } },
    { kind: 'invalid_request_error', reason: 'request' },
  ],
  [
    'the model, overloaded',
    529,
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    { kind: 'overloaded_error', reason: 'overloaded' },
  ],
  [
    'the cloud, for its quota',
    429,
    { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Resource exhausted, please try again later' } },
    { kind: 'RESOURCE_EXHAUSTED', reason: 'rate-limited' },
  ],
  [
    'the cloud, for a missing model, in a list',
    404,
    [{ error: { code: 404, status: 'NOT_FOUND', message: 'Publisher Model was not found' } }],
    { kind: 'NOT_FOUND', reason: 'model-not-found' },
  ],
  [
    'the cloud, for a missing role',
    403,
    { error: { code: 403, status: 'PERMISSION_DENIED', message: "Permission 'aiplatform.endpoints.predict' denied" } },
    { kind: 'PERMISSION_DENIED', reason: 'forbidden' },
  ],
])('E22: an error of %s is read correctly', (_, status, body, expected) => {
  const { dialect } = targetOfEntry({ ...ENTRY, auth: { type: 'google', metadataHost: '127.0.0.1:1' } }).provider
  expect(dialect.decodeError?.(status, new Headers(), body)).toMatchObject({ status, ...expected })
})
