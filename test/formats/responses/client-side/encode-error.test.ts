/** Errors of the gateway in the responses format: always four keys, with details beside them. */
import { describe, expect, test } from 'bun:test'
import { type ErrorKind, GatewayError, STATUS_OF_KIND } from '@/chat/error'
import { encodeError } from '@/formats/responses/client-side/encode-error'

describe('an error', () => {
  test('an error has field, code and request id', () => {
    const error = new GatewayError('insufficient_credit', 'Too little', {
      param: 'model',
      retryAfterSeconds: 1.2,
      details: { neededUsd: 2 },
    })
    expect(encodeError(error, 'req_1')).toEqual({
      status: 402,
      body: {
        error: {
          neededUsd: 2,
          message: 'Too little',
          type: 'insufficient_quota',
          param: 'model',
          code: 'insufficient_quota',
        },
      },
      headers: { 'x-request-id': 'req_1', 'retry-after': '2' },
    })
  })

  test.each(Object.keys(STATUS_OF_KIND) as ErrorKind[])('an error of kind %s has its status and all keys', (kind) => {
    const { status, body } = encodeError(new GatewayError(kind, 'No'), 'req_1')
    expect(status).toBe(STATUS_OF_KIND[kind])
    expect(body.error).toMatchObject({ message: 'No', type: expect.any(String), param: null })
    expect(body.error).toHaveProperty('code')
  })

  test('an error may have a finer code', () => {
    const { body } = encodeError(new GatewayError('not_found', 'No', { code: 'item_not_found' }), 'req_1')
    expect(body).toMatchObject({ error: { code: 'item_not_found' } })
  })
})
