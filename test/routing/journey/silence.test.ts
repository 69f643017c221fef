/** What follows when a target is silent for longer than it usually is: a second attempt beside it, or the next in its place. */
import { beforeEach, describe, expect, test } from 'bun:test'
import type { TestParts } from '@test/routing/parts'
import { alpha, beta, createTrips, nameOf, p1, type Trips } from '@test/routing/trips'
import { modelOf, providerOf } from '@test/routing/world'
import { MIN_SAMPLES } from '@/routing/health/circuit-breaker'
import type { Journey } from '@/routing/journey/journey'
import { MIN_RETRIES_PER_MINUTE } from '@/routing/journey/retry-budget'
import type { Ticket } from '@/routing/journey/ticket'

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
    const ticket = await trips.begin([modelOf('svc/alpha', [p1])], stream).next()
    parts.clock.advance(USUAL_MS)
    ticket?.began()
    ticket?.ended(false)
  }
}

async function start(models = [alpha, beta]): Promise<{ journey: Journey; first: Ticket }> {
  const journey = trips.begin(models, true)
  return { journey, first: (await journey.next()) as Ticket }
}

/** What follows after `milliseconds` of silence, told in short. */
function after(journey: Journey, ticket: Ticket, milliseconds: number): string | undefined {
  const next = journey.onSilence(ticket, milliseconds)
  return typeof next === 'object' ? nameOf(next) : next
}

describe('a target that is known', () => {
  test('is borne for four times what it ever takes, and for five seconds at least', async () => {
    await learn()
    const { journey, first } = await start()
    expect(after(journey, first, 4_999)).toBeUndefined()
    expect(after(journey, first, 5_000)).toBe('p2/alpha-at-p2 k1')
    expect(trips.eventsOf('hedge')).toEqual([{ type: 'hedge', provider: 'p1' }])
  })

  test('that takes long may be silent for longer', async () => {
    for (let call = 0; call < 10; call++) parts.latency.note('p1/alpha-at-p1', true, 3_000)
    const { journey, first } = await start()
    expect(after(journey, first, 11_999)).toBeUndefined()
    expect(after(journey, first, 12_000)).toBe('p2/alpha-at-p2 k1')
  })

  test('is known from another gateway, too', async () => {
    parts.latency.adopt('p1/alpha-at-p1', true, 2_000)
    const { journey, first } = await start()
    expect(after(journey, first, 7_999)).toBeUndefined()
    expect(after(journey, first, 8_000)).toBe('p2/alpha-at-p2 k1')
  })

  test('whose provider has a limit of its own is held to that', async () => {
    const brisk = providerOf('p9', {
      timeouts: { connectMs: 1, firstByteMs: 9_000, idleMs: 1, totalMs: 9_000, hedgeMs: 40 },
    })
    const { journey, first } = await start([modelOf('svc/alpha', [brisk]), beta])
    expect(after(journey, first, 39)).toBeUndefined()
    expect(after(journey, first, 40)).toBe('p2/beta-at-p2 k1')
  })
})

test('a target that nobody knows gets ten seconds for a stream', async () => {
  const { journey, first } = await start()
  expect(after(journey, first, 9_999)).toBeUndefined()
  expect(after(journey, first, 10_000)).toBe('p2/alpha-at-p2 k1')
})

test('nothing follows where no other target is left', async () => {
  const { journey, first } = await start([modelOf('svc/alpha', [p1])])
  expect(after(journey, first, 500_000)).toBeUndefined()
})

describe('where retries are used up', () => {
  test('a target is given up at twice the patience', async () => {
    await learn()
    for (let retry = 0; retry < MIN_RETRIES_PER_MINUTE; retry++) parts.budget.takeRetry()
    const { journey, first } = await start()
    expect(after(journey, first, 9_999)).toBeUndefined()
    expect(after(journey, first, 10_000)).toBe('give-up')
    const next = await journey.next(first.failed({ kind: 'timeout', phase: 'silence' }))
    expect(nameOf(next)).toBe('p2/alpha-at-p2 k1')
    expect(journey.trail).toMatchObject([{ provider: 'p1', reason: 'silence-timeout' }])
  })

  test('and sooner once its circuit has opened', async () => {
    await learn()
    parts.clock.advance(60_000)
    const { journey, first } = await start()
    const others = await Promise.all(Array.from({ length: MIN_SAMPLES }, () => start()))
    parts.clock.advance(5_000)
    parts.breaker.tick()
    expect(parts.breaker.state('p1/alpha-at-p1')).toBe('open')
    for (const other of others) expect(after(other.journey, other.first, 2_500)).toBe('give-up')
    expect(after(journey, first, 2_499)).toBeUndefined()
  })
})

test('two attempts at once are enough: the eldest makes room for a third', async () => {
  await learn()
  const { journey, first } = await start()
  const second = journey.onSilence(first, 5_000) as Ticket
  expect(after(journey, second, 9_999)).toBeUndefined()
  expect(after(journey, second, 10_000)).toBe('give-up')
  journey.note(first.failed({ kind: 'timeout', phase: 'silence' }))
  expect(after(journey, second, 10_250)).toBe('p2/beta-at-p2 k1')
})

test('who was outrun counts as slow, and twenty of them open the circuit', async () => {
  await learn()
  parts.clock.advance(60_000)
  for (let request = 0; request < MIN_SAMPLES; request++) {
    const { journey, first } = await start()
    expect(parts.limiter.list()).toContainEqual({ provider: 'p1', inFlight: 1, queued: 0, limit: expect.anything() })
    journey.outrun(first)
    expect(journey.trail).toMatchObject([{ provider: 'p1', reason: 'silent' }])
  }
  expect(parts.breaker.state('p1/alpha-at-p1')).toBe('open')
  expect(parts.limiter.list()).toContainEqual({ provider: 'p1', inFlight: 0, queued: 0, limit: expect.anything() })
})
