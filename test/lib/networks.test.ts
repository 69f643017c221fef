/** Address networks: read strictly, and matched in either family and notation. */
import { describe, expect, test } from 'bun:test'
import { createNetworks, parseNetwork } from '@/lib/networks'

describe('reading networks', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7/32'],
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['2001:db8:0:0:0:0:0:1', '2001:db8::1/128'],
    ['::1', '::1/128'],
    ['::/0', '::/0'],
  ])('a network is read: %s', (text, network) => expect(parseNetwork(text)).toBe(network))

  test.each([
    ...['', ' ', '10.1', '10.1.2', '0x7f.0.0.1', '127.1', '2130706433', '010.0.0.1', '10.0.0.256', '10.0.0.1.2'],
    ...['10.0.0.1/', '10.0.0.1/33', '10.0.0.0/08', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0.1/8', '10.0.0.0 /8'],
    ...[
      '::1/129',
      '2001:db8::1/32',
      'fe80::1%eth0',
      '::ffff:10.0.0.1',
      '1::2::3',
      ':',
      'g::',
      '[::1]',
      'localhost',
      '*',
    ],
  ])('the network %p is refused', (text) => expect(parseNetwork(text)).toBeUndefined())
})

test('an address is looked up in all networks, an IPv4 address in both notations', () => {
  const has = createNetworks(['10.0.0.0/8', '203.0.113.7/32', '2001:db8::/32'])
  for (const address of ['10.255.0.1', '203.0.113.7', '::ffff:10.1.2.3', '::FFFF:203.0.113.7', '2001:db8:ff::1']) {
    expect(has(address)).toBe(true)
  }
  for (const address of ['11.0.0.1', '203.0.113.8', '::ffff:11.1.2.3', '2001:db9::1', '::1', '', 'unknown', '10.1']) {
    expect(has(address)).toBe(false)
  }
})
