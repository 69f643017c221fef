/** Errors of the gateway in the chat-completions format. */
import { describe, expect, test } from 'bun:test'
import { type ErrorKind, GatewayError, STATUS_OF_KIND } from '@/chat/error'
import { encodeError } from '@/formats/chat-completions/client-side/encode-error'

describe('an error of the gateway', () => {
  const table: [kind: ErrorKind, status: number, type: string, code: string | null][] = [
    ['invalid_request', 400, 'invalid_request_error', null],
    ['invalid_credentials', 401, 'invalid_request_error', 'invalid_api_key'],
    ['insufficient_credit', 402, 'insufficient_quota', 'insufficient_quota'],
    ['forbidden', 403, 'permission_error', null],
    ['not_found', 404, 'invalid_request_error', null],
    ['model_not_found', 404, 'invalid_request_error', 'model_not_found'],
    ['method_not_allowed', 405, 'invalid_request_error', null],
    ['conflict', 409, 'invalid_request_error', null],
    ['gone', 410, 'invalid_request_error', null],
    ['precondition_failed', 412, 'invalid_request_error', null],
    ['too_large', 413, 'invalid_request_error', null],
    ['context_length_exceeded', 400, 'invalid_request_error', 'context_length_exceeded'],
    ['unsupported_media_type', 415, 'invalid_request_error', null],
    ['rate_limited', 429, 'rate_limit_error', 'rate_limit_exceeded'],
    ['internal', 500, 'server_error', null],
    ['upstream_failed', 502, 'server_error', null],
    ['overloaded', 503, 'server_error', null],
    ['timeout', 504, 'server_error', 'timeout'],
    ['client_gone', 499, 'invalid_request_error', null],
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

  test('every kind of error is in the table', () => {
    expect(table.map(([kind]) => kind).sort()).toEqual((Object.keys(STATUS_OF_KIND) as ErrorKind[]).sort())
  })

  test('an error has param, a finer code, details and headers; details replace none of the four keys', () => {
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
