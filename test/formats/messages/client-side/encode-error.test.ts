/** Errors of the gateway in the messages format. */
import { describe, expect, test } from 'bun:test'
import { type ErrorKind, GatewayError, invalidRequest, STATUS_OF_KIND } from '@/chat/error'
import { messages } from '@/formats/messages/index'

describe('the gateway’s errors in messages', () => {
  test.each<[ErrorKind, number, string]>([
    ['invalid_request', 400, 'invalid_request_error'],
    ['context_length_exceeded', 400, 'invalid_request_error'],
    ['invalid_credentials', 401, 'authentication_error'],
    ['insufficient_credit', 402, 'billing_error'],
    ['forbidden', 403, 'permission_error'],
    ['not_found', 404, 'not_found_error'],
    ['model_not_found', 404, 'not_found_error'],
    ['method_not_allowed', 405, 'invalid_request_error'],
    ['conflict', 409, 'conflict_error'],
    ['gone', 410, 'invalid_request_error'],
    ['precondition_failed', 412, 'invalid_request_error'],
    ['too_large', 413, 'request_too_large'],
    ['unsupported_media_type', 415, 'invalid_request_error'],
    ['rate_limited', 429, 'rate_limit_error'],
    ['internal', 500, 'api_error'],
    ['upstream_failed', 502, 'api_error'],
    ['overloaded', 529, 'overloaded_error'],
    ['timeout', 504, 'timeout_error'],
    ['client_gone', 499, 'invalid_request_error'],
  ])('an error is encoded: %s', (kind, status, type) => {
    expect(messages.encodeError(new GatewayError(kind, 'Words'), 'req_1')).toEqual({
      status,
      body: { type: 'error', error: { type, message: 'Words' }, request_id: 'req_1' },
      headers: { 'request-id': 'req_1', 'x-request-id': 'req_1' },
    })
  })

  test('every kind of error is encoded', () => {
    for (const kind of Object.keys(STATUS_OF_KIND) as ErrorKind[]) {
      expect(messages.encodeError(new GatewayError(kind, 'x'), 'r').body.error).toMatchObject({
        type: expect.any(String),
      })
    }
  })

  test('an error has details and headers', () => {
    const error = new GatewayError('insufficient_credit', 'Too dear', {
      code: 'insufficient_credit',
      details: { needed: 0.5, available: 0.1, held: 0 },
      retryAfterSeconds: 1.2,
      headers: { 'x-ratelimit-limit-requests': '600' },
      cause: new Error('secret'),
    })
    expect(messages.encodeError(error, 'req_1')).toEqual({
      status: 402,
      body: {
        type: 'error',
        error: {
          type: 'billing_error',
          message: 'Too dear',
          details: { error_code: 'insufficient_credit', needed: 0.5, available: 0.1, held: 0 },
        },
        request_id: 'req_1',
      },
      headers: {
        'x-ratelimit-limit-requests': '600',
        'request-id': 'req_1',
        'x-request-id': 'req_1',
        'retry-after': '2',
      },
    })
    expect(messages.encodeError(invalidRequest('x', 'top_p'), 'r').body.error).toMatchObject({
      details: { param: 'top_p' },
    })
  })
})
