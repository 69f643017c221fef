/** Sentinel URLs: read as by other clients, and refused if ambiguous. */
import { expect, test } from 'bun:test'
import { isSentinelUrl, parseSentinelUrl } from '@/lib/sentinel-url'

test('a complete Sentinel URL is read', () => {
  const url = 'rediss+sentinel://svc:p%40ss@a:1,b,[::1]:3/ledger/2?sentinel_username=w&sentinel_password=s%2Bt'
  expect(parseSentinelUrl(url)).toEqual({
    sentinels: [
      { host: 'a', port: 1 },
      { host: 'b', port: 26_379 },
      { host: '::1', port: 3 },
    ],
    ...{ name: 'ledger', database: 2, isTls: true, username: 'svc', password: 'p@ss' },
    ...{ sentinelUsername: 'w', sentinelPassword: 's+t' },
  })
})

test('a minimal Sentinel URL, and a password without a user, is read', () => {
  const least = { sentinels: [{ host: 'a', port: 26_379 }], name: 'm', database: 0, isTls: false }
  expect(parseSentinelUrl('redis+sentinel://a/m')).toEqual(least)
  expect(parseSentinelUrl('redis+sentinel://:secret@a/m')).toEqual({ ...least, password: 'secret' })
})

test.each([
  ['no name', 'redis+sentinel://a:1,b:2'],
  ['no host', 'redis+sentinel:///m'],
  ['an empty host', 'redis+sentinel://a,,b/m'],
  ['a port out of range', 'redis+sentinel://a:70000/m'],
  ['an unknown option', 'redis+sentinel://a/m?sentinelPassword=x'],
  ['an invalid escape', 'redis+sentinel://u:%zz@a/m'],
  ['an invalid database', 'redis+sentinel://a/m/one'],
])('the Sentinel URL %s is refused', (_name, url) => {
  expect(isSentinelUrl(url)).toBe(true)
  expect(parseSentinelUrl(url)).toBeUndefined()
})

test('other URLs are not Sentinel URLs', () => {
  expect(isSentinelUrl('redis://a:6379')).toBe(false)
})
