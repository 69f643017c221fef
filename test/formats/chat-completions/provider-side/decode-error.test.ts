/** Error responses of chat-completions providers, decoded into the gateway's own kinds of errors. */
import { describe, expect, test } from 'bun:test'
import type { ProviderError } from '@/chat/provider-error'
import { decodeError } from '@/formats/chat-completions/provider-side/decode-error'
import type { JsonValue } from '@/lib/json'

describe('an error of a provider', () => {
  const cases: [name: string, status: number, body: JsonValue | undefined, error: ProviderError][] = [
    [
      'in the usual shape',
      429,
      { error: { message: 'slow down', type: 'requests', param: null, code: 'rate_limit_exceeded' } },
      { reason: 'rate-limited', status: 429, kind: 'rate_limit_exceeded', message: 'slow down' },
    ],
    [
      'without a code',
      400,
      { error: { message: 'bad', type: 'invalid_request_error', code: null } },
      { reason: 'request', status: 400, kind: 'invalid_request_error', message: 'bad' },
    ],
    ['as a string', 500, { error: 'boom' }, { reason: 'server', status: 500, kind: '500', message: 'boom' }],
    ['as a detail', 422, { detail: 'wrong' }, { reason: 'request', status: 422, kind: '422', message: 'wrong' }],
    [
      'with a message at the top',
      401,
      { message: 'no', code: 40101 },
      { reason: 'credentials', status: 401, kind: '401', message: 'no' },
    ],
    [
      'in the shape of Google, wrapped in an array, with a delay',
      429,
      [{ error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED', details: [{}, { retryDelay: '34.4s' }] } }],
      { reason: 'rate-limited', status: 429, kind: 'RESOURCE_EXHAUSTED', message: 'm', retryAfterSeconds: 34.4 },
    ],
    [
      'inside a 200',
      200,
      { error: { message: 'm', code: 503 } },
      { reason: 'overloaded', status: 503, kind: '503', message: 'm' },
    ],
    ['that is not JSON', 502, undefined, { reason: 'server', status: 502, kind: '502', message: '' }],
    ['that is a text', 502, 'bad gateway', { reason: 'server', status: 502, kind: '502', message: 'bad gateway' }],
    ['that is nothing', 503, null, { reason: 'overloaded', status: 503, kind: '503', message: '' }],
    ['that is an empty array', 503, [], { reason: 'overloaded', status: 503, kind: '503', message: '' }],
  ]
  for (const [name, status, body, error] of cases) {
    test(name, () => expect(decodeError(status, body)).toEqual(error))
  }

  test('a provider’s error of many megabytes is shortened', () => {
    expect(decodeError(500, { error: { message: 'x'.repeat(1_000_000) } }).message).toHaveLength(4000)
  })
})
