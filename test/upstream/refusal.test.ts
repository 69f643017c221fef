/** Reading a provider's error response: its text within limits, and its waiting time. */
import { afterEach, describe, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import type { ProviderError } from '@/chat/provider-error'
import { callUpstream } from '@/upstream/client'
import { callOf, chunk, head, LAST_CHUNK, type RawProvider, startRawProvider } from './raw-provider'

const running: RawProvider[] = []
afterEach(() => {
  for (const provider of running.splice(0)) provider.stop()
})

async function refusalTo(text: string, timeouts?: { firstByteMs: number }): Promise<ProviderError> {
  const upstream = startRawProvider((socket) => void socket.write(text))
  running.push(upstream)
  const limits = { connectMs: 5_000, firstByteMs: 30_000, idleMs: 30_000, totalMs: 60_000, ...timeouts }
  const answer = await callUpstream(callOf(upstream.url, { provider: { timeouts: limits } }))
  if (answer.kind !== 'failed' || answer.failure.kind !== 'refused') throw new Error(`no refusal: ${answer.kind}`)
  return answer.failure.error
}

function whole(status: number, body: string, headers: Record<string, string> = {}): string {
  return head(status, { 'content-length': String(Buffer.byteLength(body)), ...headers }) + body
}

const errorBody = (more: object = {}) => JSON.stringify({ error: { message: 'words', type: 'kind', ...more } })

describe('a refusal', () => {
  test('a refusal is read by the provider’s format', async () => {
    const error = await refusalTo(whole(429, errorBody()))
    expect(error).toEqual({ reason: 'rate-limited', status: 429, kind: 'kind', message: 'words' })
  })

  test.each([
    ['is HTML', '<html>bad gateway</html>'],
    ['is empty', ''],
    [
      'is nested deeper than any error',
      errorBody().replace('"kind"', `"kind","details":${'['.repeat(2000)}${']'.repeat(2000)}`),
    ],
    ['is longer than any error', errorBody({ padding: 'x'.repeat(100_000) })],
  ])('if a refusal’s body %s, only the status is used', async (_, body) => {
    expect(await refusalTo(whole(502, body))).toEqual({ reason: 'server', status: 502, kind: '502', message: '' })
  })

  test('a refusal is read up to its limit, and its connection is closed', async () => {
    const upstream = startRawProvider((socket) => {
      socket.write(head(500))
      for (let count = 0; count < 5; count++) socket.write(chunk('x'.repeat(16 * 1024)))
    })
    running.push(upstream)
    expect(await callUpstream(callOf(upstream.url))).toMatchObject({ kind: 'failed', failure: { kind: 'refused' } })
    await until(() => upstream.closed() === upstream.opened(), 'the connections’ end')
  })

  test('a refusal whose body breaks off is reported', async () => {
    const upstream = startRawProvider((socket) => {
      socket.write(head(401) + chunk(errorBody()))
      socket.end()
    })
    running.push(upstream)
    const answer = await callUpstream(callOf(upstream.url))
    expect(answer).toMatchObject({ failure: { kind: 'refused', error: { reason: 'credentials', status: 401 } } })
  })

  test('a refusal whose body never ends is reported at the first-byte limit', async () => {
    const error = await refusalTo(head(401) + chunk(errorBody()), { firstByteMs: 1_500 })
    expect(error).toMatchObject({ status: 401, message: 'words' })
  })

  test('a chunked refusal is read completely', async () => {
    const [first = '', ...rest] = errorBody().split('message')
    const error = await refusalTo(head(400) + chunk(first) + chunk(`message${rest.join('message')}`) + LAST_CHUNK)
    expect(error).toMatchObject({ status: 400, message: 'words' })
  })
})

describe('the provider’s waiting time', () => {
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString()

  test.each([
    ['seconds', { 'retry-after': '7' }, 7],
    ['parts of a second', { 'retry-after': '0.5' }, 0.5],
    ['milliseconds', { 'retry-after-ms': '1500' }, 1.5],
    ['milliseconds before seconds', { 'retry-after-ms': '1500', 'retry-after': '7' }, 1.5],
    ['the seconds if the milliseconds are invalid', { 'retry-after-ms': 'soon', 'retry-after': '7' }, 7],
    ['at most an hour', { 'retry-after': '86400' }, 3_600],
    ['at most an hour in milliseconds', { 'retry-after-ms': '86400000' }, 3_600],
    ['a date in the past', { 'retry-after': inSeconds(-60) }, 0],
    ['a date far away', { 'retry-after': inSeconds(86_400) }, 3_600],
  ] as [string, Record<string, string>, number][])('the waiting time is read: %s', async (_, headers, seconds) => {
    expect((await refusalTo(whole(429, errorBody(), headers))).retryAfterSeconds).toBe(seconds)
  })

  test('retry-after may be a date', async () => {
    const { retryAfterSeconds = 0 } = await refusalTo(whole(429, errorBody(), { 'retry-after': inSeconds(600) }))
    expect(retryAfterSeconds).toBeGreaterThan(500)
    expect(retryAfterSeconds).toBeLessThanOrEqual(600)
  })

  test('a waiting time in the error body overrides the header', async () => {
    const body = errorBody({ details: [{ retryDelay: '34.4s' }] })
    expect((await refusalTo(whole(429, body, { 'retry-after': '7' }))).retryAfterSeconds).toBe(34.4)
  })

  test.each([{}, { 'retry-after': 'soon' }, { 'retry-after': '' }])(
    'no waiting time is read from %j',
    async (headers) => {
      expect((await refusalTo(whole(429, errorBody(), headers as Record<string, string>))).retryAfterSeconds).toBe(
        undefined,
      )
    },
  )
})

describe('remaining limits in headers', () => {
  const left = (more: Record<string, string>) => refusalTo(whole(429, errorBody(), more))
  const openAi = (requests: number, tokens: number) => ({
    'x-ratelimit-limit-requests': '500',
    'x-ratelimit-remaining-requests': String(requests),
    'x-ratelimit-reset-requests': '120ms',
    'x-ratelimit-limit-tokens': '30000',
    'x-ratelimit-remaining-tokens': String(tokens),
    'x-ratelimit-reset-tokens': '1m6.5s',
  })

  test.each([
    ['no tokens remain', openAi(499, 0), { left: 'nothing', retryAfterSeconds: 66.5 }],
    ['almost no tokens remain', openAi(499, 299), { left: 'nothing', retryAfterSeconds: 66.5 }],
    ['no requests remain', openAi(0, 30_000), { left: 'nothing', retryAfterSeconds: 0.12 }],
    ['something', openAi(499, 300), { left: 'something' }],
    [
      'nothing remains, with a time for a retry',
      {
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-requests-remaining': '7',
        'retry-after': '7',
      },
      { left: 'nothing', retryAfterSeconds: 7 },
    ],
    ['something', { 'anthropic-ratelimit-tokens-remaining': '9000' }, { left: 'something' }],
    ['a value that is no number', { 'x-ratelimit-remaining-requests': 'none' }, {}],
  ] as [string, Record<string, string>, object][])('remaining limits: %s', async (_, headers, said) => {
    const { left: leftOver, retryAfterSeconds } = await left(headers)
    expect(JSON.stringify({ left: leftOver, retryAfterSeconds })).toBe(JSON.stringify(said))
  })

  test('remaining limits may be a date, and are only read for a 429', async () => {
    const names = {
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': new Date(Date.now() + 600_000).toISOString(),
    }
    const error = await left(names)
    expect(error.retryAfterSeconds).toBeWithin(500, 601)
    expect((await refusalTo(whole(503, errorBody(), names))).left).toBe(undefined)
  })
})
