/** Errors in this format's shape, both ways. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type ErrorKind, GatewayError, invalidRequest, STATUS_OF_KIND } from '@/chat/error'
import { generateContent } from '@/formats/generate-content/index'
import type { JsonValue } from '@/lib/json'

describe('encodeError', () => {
  test.each<[ErrorKind, string]>([
    ['invalid_request', 'INVALID_ARGUMENT'],
    ['invalid_credentials', 'UNAUTHENTICATED'],
    ['insufficient_credit', 'FAILED_PRECONDITION'],
    ['forbidden', 'PERMISSION_DENIED'],
    ['not_found', 'NOT_FOUND'],
    ['model_not_found', 'NOT_FOUND'],
    ['method_not_allowed', 'UNIMPLEMENTED'],
    ['conflict', 'ABORTED'],
    ['too_large', 'INVALID_ARGUMENT'],
    ['context_length_exceeded', 'INVALID_ARGUMENT'],
    ['unsupported_media_type', 'INVALID_ARGUMENT'],
    ['rate_limited', 'RESOURCE_EXHAUSTED'],
    ['internal', 'INTERNAL'],
    ['upstream_failed', 'INTERNAL'],
    ['overloaded', 'UNAVAILABLE'],
    ['timeout', 'DEADLINE_EXCEEDED'],
  ])('%s is %s', (kind, word) => {
    const { status, body } = generateContent.encodeError(new GatewayError(kind, 'Words.'), 'req_1')
    expect(status).toBe(STATUS_OF_KIND[kind])
    expect(body).toMatchObject({ error: { code: status, message: 'Words.', status: word } })
  })

  test('a rate limit says when to come back, in the header and in the body', () => {
    const error = new GatewayError('rate_limited', 'Slow down.', {
      retryAfterSeconds: 1.2,
      headers: { 'x-ratelimit-limit-requests': '60' },
    })
    expect(generateContent.encodeError(error, 'req_1')).toEqual({
      status: 429,
      headers: { 'retry-after': '2', 'x-ratelimit-limit-requests': '60' },
      body: {
        error: {
          code: 429,
          message: 'Slow down.',
          status: 'RESOURCE_EXHAUSTED',
          details: [
            {
              '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
              reason: 'RATE_LIMIT_EXCEEDED',
              domain: 'svc-gateway',
            },
            { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '2s' },
            { '@type': 'type.googleapis.com/google.rpc.RequestInfo', requestId: 'req_1' },
          ],
        },
      },
    })
  })

  test('the field at fault, and facts as metadata; never the cause', () => {
    const detailsOf = (error: GatewayError) =>
      (generateContent.encodeError(error, 'r').body.error as { details: object[] }).details
    expect(detailsOf(invalidRequest('contents is required', 'contents'))[0]).toEqual({
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: [{ field: 'contents', description: 'contents is required' }],
    })
    const poor = new GatewayError('insufficient_credit', 'No.', {
      details: { needed: 2.5, held: null },
      cause: 'secret',
    })
    expect(detailsOf(poor)[0]).toMatchObject({
      reason: 'INSUFFICIENT_CREDIT',
      metadata: { needed: '2.5', held: 'null' },
    })
    expect(JSON.stringify(generateContent.encodeError(poor, 'r'))).not.toContain('secret')
    expect(detailsOf(new GatewayError('forbidden', 'No.', { code: 'key_budget_exceeded' }))[0]).toMatchObject({
      reason: 'KEY_BUDGET_EXCEEDED',
    })
  })
})

describe('decodeError', () => {
  const body = (more: object) =>
    ({ error: { code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED', ...more } }) as JsonValue

  test('status, word, message and delay', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }]
    expect(generateContent.decodeError(429, body({ details }))).toEqual({
      status: 429,
      kind: 'RESOURCE_EXHAUSTED',
      message: 'Quota.',
      retryAfterSeconds: 34.4,
    })
    expect(generateContent.decodeError(429, [body({})])).toEqual({
      status: 429,
      kind: 'RESOURCE_EXHAUSTED',
      message: 'Quota.',
    })
  })

  test('a bad key is a 401, though providers say 400', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }]
    expect(generateContent.decodeError(400, body({ code: 400, details }))).toMatchObject({
      status: 401,
      kind: 'API_KEY_INVALID',
    })
  })

  test('an error in a 200 has the body’s code', () => {
    expect(generateContent.decodeError(200, body({}))).toMatchObject({ status: 429 })
    expect(generateContent.decodeError(200, { error: { code: 'x' } })).toMatchObject({ status: 502, kind: 'UNKNOWN' })
  })

  test('other shapes', () => {
    expect(generateContent.decodeError(500, undefined)).toEqual({ status: 500, kind: 'UNKNOWN', message: '' })
    expect(generateContent.decodeError(500, { error: 'Words.' })).toEqual({
      status: 500,
      kind: 'UNKNOWN',
      message: 'Words.',
    })
    expect(generateContent.decodeError(404, { message: 'Words.' })).toEqual({
      status: 404,
      kind: 'UNKNOWN',
      message: 'Words.',
    })
  })

  test('never throws', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.jsonValue(),
        (status, json) => void generateContent.decodeError(status, json as JsonValue),
      ),
    )
  })
})
