/** Errors, ours written and theirs read, and the numbers of usage. */
import { describe, expect, test } from 'bun:test'
import { type ErrorKind, GatewayError, invalidRequest, STATUS_OF_KIND } from '@/chat/error'
import { messages } from '@/formats/messages/index'
import type { JsonValue } from '@/lib/json'

describe('our errors', () => {
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
    ['too_large', 413, 'request_too_large'],
    ['unsupported_media_type', 415, 'invalid_request_error'],
    ['rate_limited', 429, 'rate_limit_error'],
    ['internal', 500, 'api_error'],
    ['upstream_failed', 502, 'api_error'],
    ['overloaded', 529, 'overloaded_error'],
    ['timeout', 504, 'timeout_error'],
  ])('%s', (kind, status, type) => {
    expect(messages.encodeError(new GatewayError(kind, 'Words'), 'req_1')).toEqual({
      status,
      body: { type: 'error', error: { type, message: 'Words' }, request_id: 'req_1' },
      headers: { 'request-id': 'req_1', 'x-request-id': 'req_1' },
    })
  })

  test('every kind is told', () => {
    for (const kind of Object.keys(STATUS_OF_KIND) as ErrorKind[]) {
      expect(messages.encodeError(new GatewayError(kind, 'x'), 'r').body.error).toMatchObject({
        type: expect.any(String),
      })
    }
  })

  test('facts and headers', () => {
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

describe('the provider’s errors', () => {
  test.each<[JsonValue | undefined, string, string]>([
    [
      { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' }, request_id: 'r' },
      'rate_limit_error',
      'Slow down',
    ],
    [{ error: { message: 'Slow down', type: 'x', code: 3 } }, 'x', 'Slow down'],
    [[{ error: { message: 'In a list', type: 'x' } }], 'x', 'In a list'],
    [{ message: 'Flat' }, '', 'Flat'],
    [{ error: 'Only words' }, '', 'Only words'],
    ['text', '', 'text'],
    [{ error: { message: 5, type: [] } }, '', ''],
    [undefined, '', ''],
    [null, '', ''],
    [[], '', ''],
  ])('%j', (body, kind, message) => {
    expect(messages.decodeError(429, body)).toEqual({ status: 429, kind, message })
  })
})

describe('usage', () => {
  const zero = { uncached: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 }

  test.each<[JsonValue, object | undefined]>([
    [
      { input_tokens: 3, output_tokens: 5 },
      { ...zero, uncached: 3, output: 5 },
    ],
    [{ input_tokens: 0, output_tokens: 0, cache_read_input_tokens: null, cache_creation: null }, zero],
    [
      { input_tokens: 1.2, output_tokens: 2 },
      { ...zero, uncached: 2, output: 2 },
    ],
    [
      { input_tokens: 1, output_tokens: 2, cache_creation_input_tokens: 9, cache_read_input_tokens: 4 },
      { ...zero, uncached: 1, output: 2, cacheWrite5m: 9, cacheRead: 4 },
    ],
    [
      {
        input_tokens: 1,
        output_tokens: 2,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
      },
      { ...zero, uncached: 1, output: 2, cacheWrite5m: 3, cacheWrite1h: 4 },
    ],
    [
      {
        input_tokens: 1,
        output_tokens: 2,
        cache_creation_input_tokens: 10,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
      },
      { ...zero, uncached: 1, output: 2, cacheWrite5m: 6, cacheWrite1h: 4 },
    ],
    [
      {
        input_tokens: 1,
        output_tokens: 2,
        cache_creation_input_tokens: 10,
        cache_creation: { ephemeral_1h_input_tokens: 4 },
      },
      { ...zero, uncached: 1, output: 2, cacheWrite1h: 10 },
    ],
    [
      { input_tokens: 1, output_tokens: 2, output_tokens_details: { thinking_tokens: 9 } },
      { ...zero, uncached: 1, output: 2, reasoning: 2 },
    ],
    [{ input_tokens: 1 }, undefined],
    [{ input_tokens: -1, output_tokens: 2 }, undefined],
    [{ input_tokens: 1, output_tokens: '2' }, undefined],
    [{ input_tokens: 1, output_tokens: 2 ** 53 + 2 }, undefined],
    [{ input_tokens: 1, output_tokens: 2, cache_read_input_tokens: -3 }, undefined],
    [{ input_tokens: 1, output_tokens: 2, cache_creation: { ephemeral_1h_input_tokens: 'x' } }, undefined],
    [[], undefined],
    [null, undefined],
  ])('%j', (usage, expected) => {
    expect(messages.decodeUsage(usage)).toEqual(expected as never)
  })
})
