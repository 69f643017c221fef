/** Errors of the gateway in the generate-content format. */
import { describe, expect, test } from 'bun:test'
import { type ErrorKind, GatewayError, invalidRequest, STATUS_OF_KIND } from '@/chat/error'
import { generateContent } from '@/formats/generate-content/index'

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
    ['gone', 'NOT_FOUND'],
    ['precondition_failed', 'FAILED_PRECONDITION'],
    ['too_large', 'INVALID_ARGUMENT'],
    ['context_length_exceeded', 'INVALID_ARGUMENT'],
    ['unsupported_media_type', 'INVALID_ARGUMENT'],
    ['rate_limited', 'RESOURCE_EXHAUSTED'],
    ['internal', 'INTERNAL'],
    ['upstream_failed', 'INTERNAL'],
    ['overloaded', 'UNAVAILABLE'],
    ['timeout', 'DEADLINE_EXCEEDED'],
    ['client_gone', 'CANCELLED'],
  ])('an error %s has the status %s', (kind, word) => {
    const { status, body } = generateContent.encodeError(new GatewayError(kind, 'Words.'), 'req_1')
    expect(status).toBe(STATUS_OF_KIND[kind])
    expect(body).toMatchObject({ error: { code: status, message: 'Words.', status: word } })
  })

  test('a rate limit error has its waiting time in header and body', () => {
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

  test('an error has the faulty field, and details as metadata, but never its cause', () => {
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
