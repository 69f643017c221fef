/** What the sign-in library gets of a request: cookie, shortened browser name, and the address that the gateway determined. */
import { describe, expect, test } from 'bun:test'
import { ADDRESS_HEADER, headersOf, headersWithoutSession } from '@/console/auth/visitor'

function visitor(headers: Record<string, string>) {
  return { request: new Request('http://gateway.test/', { headers }), address: '203.0.113.7' }
}

describe('headers passed to the sign-in library', () => {
  test('the sign-in library gets only these three headers', () => {
    const seen = headersOf(
      visitor({
        cookie: 'a=1',
        'user-agent': 'Browser',
        authorization: 'Bearer x',
        origin: 'https://evil.example',
        'x-forwarded-for': '198.51.100.1',
        host: 'evil.example',
      }),
    )
    expect([...seen.entries()].sort()).toEqual([
      ['cookie', 'a=1'],
      ['user-agent', 'Browser'],
      [ADDRESS_HEADER, '203.0.113.7'],
    ])
  })

  test('the library gets the client address that the gateway determined, not the one in the header', () => {
    expect(headersOf(visitor({ [ADDRESS_HEADER]: '198.51.100.1' })).get(ADDRESS_HEADER)).toBe('203.0.113.7')
  })

  test('a long browser name is cut to the maximum', () => {
    expect(headersOf(visitor({ 'user-agent': 'x'.repeat(5_000) })).get('user-agent')).toHaveLength(300)
    expect(headersOf(visitor({})).get('user-agent')).toBe('')
  })

  test('the library gets no cookie header if the request has none', () => {
    expect(headersOf(visitor({})).has('cookie')).toBe(false)
  })
})

describe('removing the session cookie', () => {
  test.each([
    ['gateway.session_token=a', ''],
    ['__Host-gateway.session_token=a', ''],
    ['a=1; gateway.session_token=x.y%3D; b=2', 'a=1; b=2'],
    ['gateway.session_token=x;gateway.two_factor=t', 'gateway.two_factor=t'],
    ['other.gateway.session_token=a', 'other.gateway.session_token=a'],
    ['note=gateway.session_token=a', 'note=gateway.session_token=a'],
  ])('removing the session cookie from %j leaves %j', (cookie, left) => {
    expect(headersWithoutSession(visitor({ cookie })).get('cookie')).toBe(left)
  })
})
