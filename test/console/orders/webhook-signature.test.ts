/** Webhook signatures, compared with the reference implementation, and their time limits on a simulated clock. */
import { describe, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import {
  createWebhookVerifier,
  signWebhook,
  WEBHOOK_TOLERANCE_SECONDS,
} from '@/console/orders/deposits/webhook-signature'
import { SECRET, testClock } from './fixture'

const OLDER = `whsec_${Buffer.alloc(24, 9).toString('base64')}`

describe('createWebhookVerifier', () => {
  test('a signed webhook message is accepted for 300 seconds', () => {
    const clock = testClock()
    const verifier = createWebhookVerifier([SECRET], clock)
    const body = '{"type":"deposit.received"}'
    const headers = signWebhook(SECRET, { id: 'msg_1', at: new Date(clock.now()), body })
    expect(verifier.verify(headers, body)).toBe('verified')
    clock.advance(WEBHOOK_TOLERANCE_SECONDS * 1000)
    expect(verifier.verify(headers, body)).toBe('verified')
    clock.advance(1000)
    expect(verifier.verify(headers, body)).toBe('outside_tolerance')
    expect(verifier.checkHeaders(headers)).toBe('outside_tolerance')
  })

  test('a webhook message dated more than 300 seconds ahead is refused', () => {
    const clock = testClock()
    const verifier = createWebhookVerifier([SECRET], clock)
    const ahead = (seconds: number) =>
      signWebhook(SECRET, { id: 'msg_1', at: new Date(clock.now() + seconds * 1000), body: '' })
    expect(verifier.verify(ahead(WEBHOOK_TOLERANCE_SECONDS), '')).toBe('verified')
    expect(verifier.verify(ahead(WEBHOOK_TOLERANCE_SECONDS + 1), '')).toBe('outside_tolerance')
  })

  test('each configured webhook secret is accepted, and no other secret', () => {
    const clock = testClock()
    const message = { id: 'msg_1', at: new Date(clock.now()), body: '{}' }
    const both = createWebhookVerifier([SECRET, OLDER], clock)
    expect(both.verify(signWebhook(SECRET, message), '{}')).toBe('verified')
    expect(both.verify(signWebhook(OLDER, message), '{}')).toBe('verified')
    expect(createWebhookVerifier([SECRET], clock).verify(signWebhook(OLDER, message), '{}')).toBe('bad_signature')
  })

  test('createWebhookVerifier does not start without a secret, or with an empty one', () => {
    expect(() => createWebhookVerifier([], testClock())).toThrow('needs a secret')
    expect(() => createWebhookVerifier([''], testClock())).toThrow()
    expect(() => createWebhookVerifier(['whsec_'], testClock())).toThrow()
    expect(() => createWebhookVerifier([SECRET, ''], testClock())).toThrow()
  })

  test.each([
    [{ id: 'a.1' }, 'malformed_headers'],
    [{ id: '' }, 'malformed_headers'],
    [{ id: 'x'.repeat(201) }, 'malformed_headers'],
    [{ timestamp: 'soon' }, 'malformed_headers'],
    [{ timestamp: '-1' }, 'malformed_headers'],
    [{ timestamp: '1e9' }, 'malformed_headers'],
    [{ signature: '' }, 'malformed_headers'],
    [{ signature: 'v1,a '.repeat(100) }, 'malformed_headers'],
    [{ signature: 'v1,' }, 'bad_signature'],
    [{ signature: 'v1' }, 'bad_signature'],
    [{ signature: 'nonsense' }, 'bad_signature'],
  ] as const)('the verifier’s answer to %p is %s', (changes, verdict) => {
    const clock = testClock()
    const headers = signWebhook(SECRET, { id: 'msg_1', at: new Date(clock.now()), body: '{}' })
    expect(createWebhookVerifier([SECRET], clock).verify({ ...headers, ...changes }, '{}')).toBe(verdict)
  })
})

describe('signWebhook', () => {
  test('signWebhook signs any characters as the reference implementation expects', () => {
    const body = '{"payer":"Zoë 漢 🎉"}'
    const { id, timestamp, signature } = signWebhook(SECRET, { id: 'msg_1', at: new Date(), body })
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
    expect(new Webhook(SECRET).verify(body, headers)).toEqual({ payer: 'Zoë 漢 🎉' })
  })
})
