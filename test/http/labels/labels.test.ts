/** Tags and app of a request in headers: no value makes the request fail. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { createEndUserHash } from '@/http/labels/end-users'
import { readLabels } from '@/http/labels/read-labels'

const read = (headers: Record<string, string>) => readLabels(new Headers(headers))
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))
const tagsOf = (text: string) => {
  const { labels, ignored } = read({ 'x-svc-tags': text }) ?? expect.unreachable()
  return [labels.tags ?? [], ignored]
}

describe('tags', () => {
  test.each([
    ['team=search,env=prod', ['env=prod', 'team=search'], undefined],
    [' team=search , env=prod ,', ['env=prod', 'team=search'], undefined],
    ['a.b_c-1=x=y:/z', ['a.b_c-1=x=y:/z'], undefined],
    ['', [], undefined],
    ['Team=search,env=prod', ['env=prod'], 'Team'],
    ['team', [], 'team'],
    ['=x', [], '=x'],
    ['team=', [], 'team'],
    ['team=a b,env=\u00e9', [], 'team, env'],
    ['t\u00e9=x', [], 't?'],
    ['team=a,team=b', ['team=a'], 'team'],
    [
      `${'n'.repeat(33)}=x,${'n'.repeat(32)}=${'v'.repeat(64)}`,
      [`${'n'.repeat(32)}=${'v'.repeat(64)}`],
      'n'.repeat(32),
    ],
    [`a=${'v'.repeat(65)}`, [], 'a'],
    [Array.from({ length: 10 }, (_, index) => `t${index}=x`).join(), 'the first eight', 't8, t9'],
    [`a=${'b,'.repeat(256)}`, [], '*'],
  ])('the tags %p are read as %p, and %p is reported as ignored', (text, tags, ignored) => {
    const expected = tags === 'the first eight' ? Array.from({ length: 8 }, (_, index) => `t${index}=x`) : tags
    expect(tagsOf(text)).toEqual([expected as string[], ignored])
  })

  test('the list of ignored tags always fits into one header', () => {
    const latin = fc.string({ unit: fc.integer({ min: 32, max: 255 }).map((code) => String.fromCharCode(code)) })
    fc.assert(
      fc.property(latin, (text) => {
        const ignored = read({ 'x-svc-tags': text })?.ignored ?? ''
        expect(ignored).toMatch(/^[\x20-\x7e]*$/)
        expect(ignored.length).toBeLessThan(600)
      }),
    )
  })
})

test('a request without tags, app and end user has none', () => {
  expect(read({ authorization: 'Bearer x', referer: 'https://page.example/' })).toBeUndefined()
})

test.each([
  [{ 'http-referer': 'https://app.example/secret/path?q=1' }, 'https://app.example'],
  [{ 'http-referer': 'https://app.example:8443' }, 'https://app.example:8443'],
  [{ 'http-referer': 'https://app.example', 'x-title': ' My App ' }, 'My App'],
  [{ 'x-title': 'Old', 'x-openrouter-title': 'New' }, 'New'],
  [{ 'http-referer': 'http://localhost:5173' }, undefined],
  [{ 'http-referer': 'http://127.0.0.1:5173' }, undefined],
  [{ 'http-referer': 'http://[::1]/' }, undefined],
  [{ 'http-referer': 'http://localhost:5173', 'x-title': 'Dev' }, 'Dev'],
  [{ 'http-referer': 'javascript:alert(1)' }, undefined],
  [{ 'http-referer': 'no address' }, undefined],
  [{ 'x-title': 'x'.repeat(80) }, 'x'.repeat(64)],
  [{ 'x-title': '  ' }, undefined],
])('the app of the header %p is %p', (headers, app) => {
  expect(read(headers)?.labels.app).toBe(app)
})

describe('an end user', () => {
  test('an end user is stored as a hash that differs between accounts', () => {
    const hash = createEndUserHash('a secret', () => expect.unreachable())
    const [one, again, other] = [hash('acct_1', 'ada'), hash('acct_1', 'ada'), hash('acct_2', 'ada')]
    expect(one).toMatch(/^[0-9a-f]{32}$/)
    expect([again === one, other === one]).toEqual([true, false])
    expect(createEndUserHash('another', () => expect.unreachable())('acct_1', 'ada')).not.toBe(one)
    expect([hash('acct_1', ''), hash('acct_1', 'x'.repeat(129))]).toEqual([undefined, undefined])
  })

  test('the end user is omitted until the secret for its hash is loaded, which is tried again after a failure', async () => {
    let tries = 0
    const { promise, resolve } = Promise.withResolvers<string>()
    const hash = createEndUserHash(undefined, () => (tries++ === 0 ? Promise.reject(new Error('down')) : promise))
    expect([hash('acct_1', 'ada'), hash('acct_1', 'ada'), tries]).toEqual([undefined, undefined, 1])
    await nextTurn()
    expect([hash('acct_1', 'ada'), tries]).toEqual([undefined, 2])
    resolve('a secret')
    await nextTurn()
    expect(hash('acct_1', 'ada')).toBeString()
  })
})
