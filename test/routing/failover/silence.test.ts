/** A target that is silent for longer than usual: a second attempt beside it, or the next target in its place. */
import { beforeEach, describe, expect, test } from 'bun:test'
import type { TestParts } from '@test/routing/parts'
import { alpha, beta, createTrips, nameOf, p1, type Trips } from '@test/routing/trips'
import { modelOf, providerOf } from '@test/routing/world'
import type { Failover } from '@/routing/failover/failover'
import type { Permit } from '@/routing/failover/permit'
import { MIN_RETRIES_PER_MINUTE } from '@/routing/failover/retry-budget'
import { MIN_SAMPLES } from '@/routing/health/circuit-breaker'

const USUAL_MS = 100

let trips: Trips
let parts: TestParts
beforeEach(() => {
  trips = createTrips()
  parts = trips.parts
})

/** Lets `p1` answer in its usual time, often enough to be known. */
async function learn(stream = true): Promise<void> {
  for (let call = 0; call < 10; call++) {
    const permit = await trips.begin([modelOf('svc/alpha', [p1])], stream).next()
    parts.clock.advance(USUAL_MS)
    permit?.began()
    permit?.ended(false)
  }
}

async function start(models = [alpha, beta]): Promise<{ failover: Failover; first: Permit }> {
  const failover = trips.begin(models, true)
  return { failover, first: (await failover.next()) as Permit }
}

/** What follows after `milliseconds` of silence, told in short. */
function after(failover: Failover, permit: Permit, milliseconds: number): string | undefined {
  const next = failover.onSilence(permit, milliseconds)
  return typeof next === 'object' ? nameOf(next) : next
}

describe('a target with measurements', () => {
  test('a target may be silent for four times its 99th percentile, at least five seconds', async () => {
    await learn()
    const { failover, first } = await start()
    expect(after(failover, first, 4_999)).toBeUndefined()
    expect(after(failover, first, 5_000)).toBe('p2/alpha-at-p2 k1')
    expect(trips.eventsOf('hedge')).toEqual([{ type: 'hedge', provider: 'p1' }])
  })

  test('a target that is usually slow may be silent for longer', async () => {
    for (let call = 0; call < 10; call++) parts.latency.note('p1/alpha-at-p1', true, 3_000)
    const { failover, first } = await start()
    expect(after(failover, first, 11_999)).toBeUndefined()
    expect(after(failover, first, 12_000)).toBe('p2/alpha-at-p2 k1')
  })

  test('latencies measured by another gateway count too', async () => {
    parts.latency.adopt('p1/alpha-at-p1', true, 2_000)
    const { failover, first } = await start()
    expect(after(failover, first, 7_999)).toBeUndefined()
    expect(after(failover, first, 8_000)).toBe('p2/alpha-at-p2 k1')
  })

  test('a hedge limit set for the provider replaces the computed limit', async () => {
    const brisk = providerOf('p9', {
      timeouts: { connectMs: 1, firstByteMs: 9_000, idleMs: 1, totalMs: 9_000, hedgeMs: 40 },
    })
    const { failover, first } = await start([modelOf('svc/alpha', [brisk]), beta])
    expect(after(failover, first, 39)).toBeUndefined()
    expect(after(failover, first, 40)).toBe('p2/beta-at-p2 k1')
  })
})

test('a target without measurements may be silent for ten seconds of a stream', async () => {
  const { failover, first } = await start()
  expect(after(failover, first, 9_999)).toBeUndefined()
  expect(after(failover, first, 10_000)).toBe('p2/alpha-at-p2 k1')
})

test('without another target there is no hedge', async () => {
  const { failover, first } = await start([modelOf('svc/alpha', [p1])])
  expect(after(failover, first, 500_000)).toBeUndefined()
})

describe('when no retry is allowed', () => {
  test('when no retry is allowed, a silent target is cancelled after twice the wait', async () => {
    await learn()
    for (let retry = 0; retry < MIN_RETRIES_PER_MINUTE; retry++) parts.budget.takeRetry()
    const { failover, first } = await start()
    expect(after(failover, first, 9_999)).toBeUndefined()
    expect(after(failover, first, 10_000)).toBe('give-up')
    const next = await failover.next(first.failed({ kind: 'timeout', phase: 'silence' }))
    expect(nameOf(next)).toBe('p2/alpha-at-p2 k1')
    expect(failover.trail).toMatchObject([{ provider: 'p1', reason: 'silence-timeout' }])
  })

  test('a silent call is cancelled sooner once its circuit has opened', async () => {
    await learn()
    parts.clock.advance(60_000)
    const { failover, first } = await start()
    const others = await Promise.all(Array.from({ length: MIN_SAMPLES }, () => start()))
    parts.clock.advance(5_000)
    parts.breaker.tick()
    expect(parts.breaker.state('p1/alpha-at-p1')).toBe('open')
    for (const other of others) expect(after(other.failover, other.first, 2_500)).toBe('give-up')
    expect(after(failover, first, 2_499)).toBeUndefined()
  })
})

test('at most two attempts run at once: a third one replaces the oldest', async () => {
  await learn()
  const { failover, first } = await start()
  const second = failover.onSilence(first, 5_000) as Permit
  expect(after(failover, second, 9_999)).toBeUndefined()
  expect(after(failover, second, 10_000)).toBe('give-up')
  failover.note(first.failed({ kind: 'timeout', phase: 'silence' }))
  expect(after(failover, second, 10_250)).toBe('p2/beta-at-p2 k1')
})

test('a target that is overtaken by a second attempt counts as slow, and twenty in a row open its circuit', async () => {
  await learn()
  parts.clock.advance(60_000)
  for (let request = 0; request < MIN_SAMPLES; request++) {
    const { failover, first } = await start()
    expect(parts.limiter.list()).toContainEqual({ provider: 'p1', inFlight: 1, queued: 0, limit: expect.anything() })
    failover.outrun(first)
    expect(failover.trail).toMatchObject([{ provider: 'p1', reason: 'silent' }])
  }
  expect(parts.breaker.state('p1/alpha-at-p1')).toBe('open')
  expect(parts.limiter.list()).toContainEqual({ provider: 'p1', inFlight: 0, queued: 0, limit: expect.anything() })
})
