/** Error responses of generate-content providers, decoded into the gateway's own kinds of errors. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { generateContent } from '@/formats/generate-content/index'
import type { JsonValue } from '@/lib/json'

describe('decodeError', () => {
  const body = (more: object) =>
    ({ error: { code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED', ...more } }) as JsonValue

  test('an error has status, code, message and delay', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }]
    expect(generateContent.decodeError(429, body({ details }))).toEqual({
      reason: 'rate-limited',
      status: 429,
      kind: 'RESOURCE_EXHAUSTED',
      message: 'Quota.',
      retryAfterSeconds: 34.4,
    })
    expect(generateContent.decodeError(429, [body({})])).toEqual({
      reason: 'rate-limited',
      status: 429,
      kind: 'RESOURCE_EXHAUSTED',
      message: 'Quota.',
    })
  })

  test('an invalid key is read as a 401, although providers answer 400', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }]
    expect(generateContent.decodeError(400, body({ code: 400, details }))).toMatchObject({
      reason: 'credentials',
      status: 401,
      kind: 'API_KEY_INVALID',
    })
  })

  test('an error with status 200 gets the code of its body', () => {
    expect(generateContent.decodeError(200, body({}))).toMatchObject({ status: 429 })
    expect(generateContent.decodeError(200, { error: { code: 'x' } })).toMatchObject({ status: 502, kind: 'UNKNOWN' })
  })

  test('errors in other forms are read', () => {
    expect(generateContent.decodeError(500, undefined)).toEqual({
      reason: 'server',
      status: 500,
      kind: 'UNKNOWN',
      message: '',
    })
    expect(generateContent.decodeError(500, { error: 'Words.' })).toEqual({
      reason: 'server',
      status: 500,
      kind: 'UNKNOWN',
      message: 'Words.',
    })
    expect(generateContent.decodeError(404, { message: 'Words.' })).toEqual({
      reason: 'model-not-found',
      status: 404,
      kind: 'UNKNOWN',
      message: 'Words.',
    })
  })

  test('decodeError never throws', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.jsonValue(),
        (status, json) => void generateContent.decodeError(status, json as JsonValue),
      ),
    )
  })
})
