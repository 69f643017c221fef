/** The address of a request's client: forwarding headers are trusted for the configured proxies, and no hop further. */
import { describe, expect, test } from 'bun:test'
import { clientAddress, rememberPeer } from '@/http/client-address'

function addressOf(forwardedFor: string | undefined, hops: number): string {
  const request = new Request('http://gateway.test/')
  if (forwardedFor !== undefined) request.headers.set('x-forwarded-for', forwardedFor)
  rememberPeer(request, '10.0.0.1')
  return clientAddress(request, hops)
}

describe('the address of a client', () => {
  test.each([
    [undefined, 0, '10.0.0.1'],
    ['203.0.113.9', 0, '10.0.0.1'],
    [undefined, 1, '10.0.0.1'],
    ['203.0.113.9', 1, '203.0.113.9'],
    ['1.1.1.1, 203.0.113.9', 1, '203.0.113.9'],
    ['1.1.1.1, 203.0.113.9, 10.0.0.2', 2, '203.0.113.9'],
    ['203.0.113.9', 2, '203.0.113.9'],
    ['2001:db8::1', 1, '2001:db8::1'],
    ['<script>', 1, '10.0.0.1'],
    [' , ,', 1, '10.0.0.1'],
  ])('with X-Forwarded-For %p behind %i proxies the client address is %s', (header, hops, expected) => {
    expect(addressOf(header, hops)).toBe(expected)
  })

  test('a client without a connection has no address', () => {
    expect(clientAddress(new Request('http://gateway.test/'), 0)).toBe('0.0.0.0')
  })
})
