/** Error responses of messages providers, decoded into the gateway's own kinds of errors. */
import { describe, expect, test } from 'bun:test'
import { messages } from '@/formats/messages/index'
import type { JsonValue } from '@/lib/json'

describe('errors of a messages provider', () => {
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
  ])('a provider’s error is read: %j', (body, kind, message) => {
    expect(messages.decodeError(429, body)).toEqual({ reason: 'rate-limited', status: 429, kind, message })
  })
})
