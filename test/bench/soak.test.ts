/** Parts of the soak test: the upstream's faults, the clients' endings, metrics pages, and verdicts. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Shot } from '@bench/load/job'
import { requestBytes } from '@bench/load/request-bytes'
import { type MockUpstream, startMockUpstream } from '@bench/machine/upstream'
import { plainShot } from '@bench/peers/peer'
import { createSoakClient, type Manner, type SoakClient } from '@bench/soak/client'
import { drawSoak } from '@bench/soak/plot'
import { type SoakResults, verdictsOf } from '@bench/soak/results'
import { parseMetrics, type Sample } from '@bench/soak/sample'

const READ: Manner = { kind: 'read' }
let upstream: MockUpstream
let client: SoakClient

beforeAll(async () => {
  upstream = await startMockUpstream()
  client = createSoakClient(upstream.port)
})

afterAll(async () => {
  client.close()
  await upstream.stop()
})

function send(model: string, manner: Manner = READ) {
  const traffic = {
    client: 'messages',
    provider: 'messages',
    model,
    stream: model !== 'json',
    promptBytes: 64,
  } as const
  const [request] = requestBytes(plainShot(traffic, upstream.port) as Shot)
  return client.send(request as Buffer, manner)
}

describe('soak clients under faults of the upstream', () => {
  test.each<[string, number, string]>([
    ['json', 200, 'whole'],
    ['stream-3-5', 200, 'whole'],
    ['flood-300', 200, 'whole'],
    ['status-503', 503, 'whole'],
    ['broken-2-5', 200, 'closed'],
    ['reset', 0, 'unreachable'],
  ])('a soak client that requests %s sees status %d and this ending: %s', async (model, status, how) => {
    expect(await send(model)).toEqual({ status, how } as Awaited<ReturnType<typeof send>>)
  })

  test.each<Manner>([
    { kind: 'leave', afterMs: 30, how: 'close' },
    { kind: 'leave', afterMs: 30, how: 'reset' },
    { kind: 'stop', restMs: 30, how: 'reset' },
  ])('a soak client that disconnects counts as departed: %p', async (manner) => {
    expect((await send('stream-100-10', manner)).how).toBe('left')
  })

  test('a soak client that sends half a request gets no answer', async () => {
    expect(await send('json', { kind: 'unfinished', bytes: 50, restMs: 30 })).toEqual({ status: 0, how: 'left' })
  })

  test.each<Manner>([
    { kind: 'dawdle', restMs: 5 },
    { kind: 'stop', restMs: 50, how: 'read' },
  ])('a slow soak client receives the whole answer: %p', async (manner) => {
    expect(await send('flood-1000', manner)).toEqual({ status: 200, how: 'whole' })
  })
})

test('a metrics page is read by name and labels', () => {
  const metrics = parseMetrics('# HELP a b\na 1\nb_bucket{le="0.5"} 2\nb_bucket{le="+Inf"} 3\n')
  expect([...metrics]).toEqual([
    ['a', 1],
    ['b_bucket{le="0.5"}', 2],
    ['b_bucket{le="+Inf"}', 3],
  ])
})

describe('the verdicts of a soak', () => {
  function resultsWith(residentOf: (index: number) => number, more: Partial<SoakResults> = {}): SoakResults {
    const samples = Array.from(
      { length: 40 },
      (_, index) => ({ seconds: index, residentBytes: residentOf(index) }) as Sample,
    )
    return {
      ...{ at: '2026-01-01', commit: 'abc', minutes: 1, ratePerSecond: 1, keys: 1, bun: '1', processor: 'x', samples },
      ...{ endings: { JSON: { '200': 5 } }, unexpected: {}, descriptors: { before: 20, after: 22 }, isDrained: true },
      books: { isWhole: true, accounts: 1, openHolds: 0, paidIn: 3, charged: 1, left: 2, records: 1, faults: [] },
      ...more,
    }
  }
  const broken = (results: SoakResults) => verdictsOf(results).filter(({ isKept }) => !isKept)

  test('a soak passes if its memory grew only during the warm-up', () => {
    expect(broken(resultsWith((index) => (index < 10 ? 50 : 100)))).toEqual([])
  })

  test.each<[string, SoakResults]>([
    ['memory', resultsWith((index) => 100 + index)],
    ['descriptor', resultsWith(() => 1, { descriptors: { before: 20, after: 60 } })],
    ['ended', resultsWith(() => 1, { isDrained: false })],
    ['books', resultsWith(() => 1, { books: undefined })],
    ['wrong answer', resultsWith(() => 1, { unexpected: { 'JSON: 400': 1 } })],
    ['come again', resultsWith(() => 1, { unexpected: { 'JSON: 503': 1 } })],
  ])('a soak with a broken promise reports it: %s', (word, results) => {
    expect(broken(results).map(({ promise }) => promise)).toEqual([expect.stringContaining(word)])
  })

  test('one refusal among many requests breaks no promise of the soak', () => {
    expect(
      broken(resultsWith(() => 1, { endings: { JSON: { 200: 9_999, 529: 1 } }, unexpected: { 'JSON: 529': 1 } })),
    ).toEqual([])
  })

  test('the soak plot omits unknown figures', () => {
    const drawing = drawSoak(resultsWith(() => 2e6))
    expect(drawing).toContain('memory of the gateway, MB')
    expect(drawing).not.toContain('NaN')
  })
})
