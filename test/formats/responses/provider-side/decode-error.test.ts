/** Errors of responses providers, in each of their forms. */
import { describe, expect, test } from 'bun:test'
import type { ProviderErrorReason } from '@/chat/provider-error'
import { decodeError } from '@/formats/responses/provider-side/decode-error'
import type { JsonValue } from '@/lib/json'

describe('an error answer', () => {
  test.each<[ProviderErrorReason, number, JsonValue]>([
    [
      'request',
      400,
      {
        error: { message: 'No.', type: 'invalid_request_error', param: 'temperature', code: 'decimal_below_min_value' },
      },
    ],
    ['credentials', 401, { error: { message: 'No.', code: 'invalid_api_key' } }],
    ['rate-limited', 429, { error: { message: 'Slow down.', code: 'rate_limit_exceeded' } }],
    ['credentials', 429, { error: { message: 'No credit.', code: 'insufficient_quota' } }],
    ['context-too-long', 400, { error: { message: 'Too long.', code: 'context_length_exceeded' } }],
    ['proof', 400, { error: { message: 'No.', code: 'invalid_encrypted_content' } }],
    ['proof', 400, { error: { message: 'The encrypted content gAAA could not be verified.', code: null } }],
    ['server', 500, { error: 'broke' }],
    ['server', 500, { detail: 'broke' }],
    ['overloaded', 503, 'busy'],
  ])('an error about %s has status %d', (reason, status, body) => {
    expect(decodeError(status, body)).toMatchObject({ reason, status })
  })

  test('text that an error quotes does not change the error’s kind', () => {
    const message = 'Unknown tool named "invalid_encrypted_content"'
    expect(decodeError(400, { error: { message, code: null } }).reason).toBe('request')
  })
})

describe('an error inside a stream', () => {
  const CODES: [string, ProviderErrorReason, number][] = [
    ['server_error', 'server', 500],
    ['rate_limit_exceeded', 'rate-limited', 429],
    ['insufficient_quota', 'credentials', 429],
    ['context_length_exceeded', 'context-too-long', 400],
    ['invalid_prompt', 'request', 400],
    ['cyber_policy', 'filtered', 400],
    ['server_is_overloaded', 'overloaded', 503],
    ['image_too_small', 'request', 400],
    ['invalid_image_url', 'request', 400],
    ['vector_store_timeout', 'timeout', 504],
    ['something_new', 'server', 502],
  ]
  const shapes: Record<string, (code: string) => JsonValue> = {
    nested: (code) => ({ type: 'error', error: { type: 'x', code, message: 'M' } }),
    flat: (code) => ({ type: 'error', code, message: 'M', param: null }),
    'of a response': (code) => ({
      type: 'response.failed',
      response: { status: 'failed', error: { code, message: 'M' } },
    }),
  }
  for (const [shape, make] of Object.entries(shapes)) {
    test.each(CODES)(`an error inside a stream, ${shape}: %s`, (code, reason, status) => {
      expect(decodeError(undefined, make(code))).toEqual({ reason, status, kind: code, message: 'M' })
    })
  }

  test('an error without code is classified by its type or number', () => {
    const typed = { type: 'error', error: { type: 'too_many_requests', message: 'M' } }
    expect(decodeError(undefined, typed)).toMatchObject({ reason: 'rate-limited', status: 429 })
    const numbered = { type: 'error', error: { code: 529, message: 'M' } }
    expect(decodeError(undefined, numbered)).toMatchObject({ reason: 'overloaded', status: 529 })
  })

  test('an error of a failed response without details is read', () => {
    const failed = { type: 'response.failed', response: { status: 'failed', error: null } }
    expect(decodeError(undefined, failed)).toMatchObject({ reason: 'server', status: 502, message: '' })
  })
})
