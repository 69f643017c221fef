/** Errors in this format's words, and providers' errors in ours. */
import { describe, expect, test } from 'bun:test'
import { type ErrorKind, GatewayError, STATUS_OF_KIND } from '@/chat/error'
import { decodeError, encodeError } from '@/formats/chat-completions/error'
import type { ProviderError } from '@/formats/format'
import type { JsonValue } from '@/lib/json'

describe('an error of ours', () => {
  const table: [kind: ErrorKind, status: number, type: string, code: string | null][] = [
    ['invalid_request', 400, 'invalid_request_error', null],
    ['invalid_credentials', 401, 'invalid_request_error', 'invalid_api_key'],
    ['insufficient_credit', 402, 'insufficient_quota', 'insufficient_quota'],
    ['forbidden', 403, 'permission_error', null],
    ['not_found', 404, 'invalid_request_error', null],
    ['model_not_found', 404, 'invalid_request_error', 'model_not_found'],
    ['method_not_allowed', 405, 'invalid_request_error', null],
    ['conflict', 409, 'invalid_request_error', null],
    ['too_large', 413, 'invalid_request_error', null],
    ['context_length_exceeded', 400, 'invalid_request_error', 'context_length_exceeded'],
    ['unsupported_media_type', 415, 'invalid_request_error', null],
    ['rate_limited', 429, 'rate_limit_error', 'rate_limit_exceeded'],
    ['internal', 500, 'server_error', null],
    ['upstream_failed', 502, 'server_error', null],
    ['overloaded', 503, 'server_error', null],
    ['timeout', 504, 'server_error', 'timeout'],
  ]
  for (const [kind, status, type, code] of table) {
    test(`${kind} has its status, type and code, and all four keys`, () => {
      const encoded = encodeError(new GatewayError(kind, 'said'), 'req_1')
      expect(encoded).toEqual({
        status,
        body: { error: { message: 'said', type, param: null, code } },
        headers: { 'x-request-id': 'req_1' },
      })
    })
  }

  test('of every kind is in the table', () => {
    expect(table.map(([kind]) => kind).sort()).toEqual((Object.keys(STATUS_OF_KIND) as ErrorKind[]).sort())
  })

  test('carries param, a finer code, facts and headers, and facts replace none of the four keys', () => {
    const error = new GatewayError('insufficient_credit', 'said', {
      param: 'model',
      code: 'key_budget_exceeded',
      retryAfterSeconds: 1.2,
      details: { needed: 2, held: null, message: 'other' },
      headers: { 'x-ratelimit-limit-requests': '5' },
      cause: new Error('secret'),
    })
    const { body, headers } = encodeError(error, 'req_1')
    expect(body).toEqual({
      error: {
        message: 'said',
        type: 'insufficient_quota',
        param: 'model',
        code: 'key_budget_exceeded',
        needed: 2,
        held: null,
      },
    })
    expect(headers).toEqual({ 'x-request-id': 'req_1', 'retry-after': '2', 'x-ratelimit-limit-requests': '5' })
  })
})

describe('an error of a provider', () => {
  const cases: [name: string, status: number, body: JsonValue | undefined, error: ProviderError][] = [
    [
      'in the usual shape',
      429,
      { error: { message: 'slow down', type: 'requests', param: null, code: 'rate_limit_exceeded' } },
      { status: 429, kind: 'rate_limit_exceeded', message: 'slow down' },
    ],
    [
      'without a code',
      400,
      { error: { message: 'bad', type: 'invalid_request_error', code: null } },
      { status: 400, kind: 'invalid_request_error', message: 'bad' },
    ],
    ['as a string', 500, { error: 'boom' }, { status: 500, kind: '500', message: 'boom' }],
    ['as a detail', 422, { detail: 'wrong' }, { status: 422, kind: '422', message: 'wrong' }],
    ['with a message at the top', 401, { message: 'no', code: 40101 }, { status: 401, kind: '401', message: 'no' }],
    [
      'in the shape of Google, wrapped in an array, with a delay',
      429,
      [{ error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED', details: [{}, { retryDelay: '34.4s' }] } }],
      { status: 429, kind: 'RESOURCE_EXHAUSTED', message: 'm', retryAfterSeconds: 34.4 },
    ],
    ['inside a 200', 200, { error: { message: 'm', code: 503 } }, { status: 503, kind: '503', message: 'm' }],
    ['that is no JSON', 502, undefined, { status: 502, kind: '502', message: '' }],
    ['that is a text', 502, 'bad gateway', { status: 502, kind: '502', message: 'bad gateway' }],
    ['that is nothing', 503, null, { status: 503, kind: '503', message: '' }],
    ['that is an empty array', 503, [], { status: 503, kind: '503', message: '' }],
  ]
  for (const [name, status, body, error] of cases) {
    test(name, () => expect(decodeError(status, body)).toEqual(error))
  }

  test('of many megabytes is cut', () => {
    expect(decodeError(500, { error: { message: 'x'.repeat(1_000_000) } }).message).toHaveLength(4000)
  })
})
