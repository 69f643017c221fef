/** Who shares a limit: one network, or one person however the address is written. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import {
  changesAt,
  changesBy,
  confirmationsBy,
  mailsFrom,
  pairOf,
  signInsBy,
  signInsFrom,
  signInsWith,
  signUpsFrom,
  strangersAt,
  strangersMailsTo,
  tokensFrom,
} from '@/console/auth/limits'
import type { Limit } from '@/console/auth/throttle'

const group = fc.integer({ min: 0, max: 0xffff })

/** The eight groups of an address in full, and in whatever other way they can be written. */
const writings = fc.array(group, { minLength: 8, maxLength: 8 }).chain((groups) => {
  const full = groups.map((value) => value.toString(16).padStart(4, '0')).join(':')
  // The web's own parser writes the shortest form.
  const short = new URL(`http://[${full}]/`).hostname.slice(1, -1)
  const plain = groups.map((value) => value.toString(16)).join(':')
  return fc.record({ groups: fc.constant(groups), one: fc.constantFrom(full, short, plain, full.toUpperCase()) })
})

function networkOf(address: string): string {
  return signInsFrom(address)[0]?.subject as string
}

test('attempts from an IPv6 /64 also count for its /48, with four times the limit; IPv4 has no such second count', () => {
  const limitsOf = (address: string) => signInsFrom(address).map(({ name, subject, max }) => [name, subject, max])
  expect(limitsOf('2001:db8:7:1::5')).toEqual([
    ['address', '2001:db8:7:1', 100],
    ['address-site', '2001:db8:7', 400],
  ])
  expect(limitsOf('203.0.113.7')).toEqual([['address', '203.0.113.7', 100]])
  expect(limitsOf('::ffff:203.0.113.7')).toEqual([['address', '203.0.113.7', 100]])
})

describe('counting by address', () => {
  test('an IPv6 address counts as its /64, however it is written', () => {
    fc.assert(
      fc.property(writings, fc.array(group, { minLength: 4, maxLength: 4 }), ({ groups, one }, rest) => {
        fc.pre(groups.slice(0, 5).some((value) => value > 0))
        const network = groups.slice(0, 4).map((value) => value.toString(16))
        expect(networkOf(one)).toBe(network.join(':'))
        expect(networkOf([...network, ...rest.map((value) => value.toString(16))].join(':'))).toBe(network.join(':'))
      }),
    )
  })

  test('a shortened IPv6 address equals the full one', () => {
    expect(networkOf('::')).toBe('0:0:0:0')
    expect(networkOf('::1')).toBe('0:0:0:0')
    expect(networkOf('2001:db8::')).toBe('2001:db8:0:0')
    expect(networkOf('2001:db8::1:2:3:4:5')).toBe('2001:db8:0:1')
    expect(networkOf('2001:0DB8:00a0::1')).toBe('2001:db8:a0:0')
  })

  test('an IPv4 address counts like its IPv4-in-IPv6 form', () => {
    expect(networkOf('203.0.113.7')).toBe('203.0.113.7')
    expect(networkOf('::ffff:203.0.113.7')).toBe('203.0.113.7')
    expect(networkOf('::FFFF:203.0.113.7')).toBe('203.0.113.7')
    expect(networkOf('203.0.113.7')).not.toBe(networkOf('203.0.113.8'))
  })

  test('text that is no address counts as an address of its own', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9a-fA-F.:]{2,45}$/), (text) => {
        expect(typeof networkOf(text)).toBe('string')
      }),
    )
    expect(networkOf('1:2:3:4:5:6:7:8:9::')).toBe('1:2:3:4')
  })
})

describe('counting by person', () => {
  test('attempts at a person count together in any letter case of their address', () => {
    expect(strangersAt('Ada@Example.test')).toEqual(strangersAt('ada@example.test'))
    expect(strangersMailsTo('Ada@Example.test')).toEqual(strangersMailsTo('ada@example.test'))
    expect(signInsBy('203.0.113.7', 'ADA@example.test')).toEqual(signInsBy('203.0.113.7', 'ada@example.test'))
  })

  test('sign-in attempts at a person count separately at each address', () => {
    expect(pairOf('203.0.113.7', 'a@example.test')).not.toBe(pairOf('203.0.113.8', 'a@example.test'))
    expect(pairOf('203.0.113.7', 'a@example.test')).not.toBe(pairOf('203.0.113.7', 'b@example.test'))
    expect(pairOf('2001:db8::1', 'a@example.test')).toBe(pairOf('2001:db8::2', 'a@example.test'))
  })
})

test('no two limits share a counter', () => {
  const same = 'ada@example.test'
  const limits = [signInsFrom, strangersAt, signUpsFrom, mailsFrom, strangersMailsTo, tokensFrom, confirmationsBy]
  const pairs = [signInsBy(same, same), signInsWith(same, same), changesBy(same), changesAt(same)]
  const names = [...limits.flatMap((limit) => limit(same)), ...pairs].map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})

test('the limit of guesses at an account is lower for one address than for all together', () => {
  const [pair, account, address] = [signInsBy('a', 'b'), strangersAt('b'), signInsFrom('a')[0] as Limit]
  expect(pair.max).toBeLessThan(account.max)
  expect(pair.max / pair.seconds).toBeLessThan(address.max / address.seconds)
})
