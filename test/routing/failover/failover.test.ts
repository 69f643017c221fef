/** A request's way through its plan, attempt by attempt, with scripted answers of providers. */
import { beforeEach, describe, expect, test } from 'bun:test'
import type { TestParts } from '@test/routing/parts'
import {
  alpha,
  BAD_REQUEST,
  beta,
  createTrips,
  failAll,
  nameOf,
  p1,
  refused,
  SERVER_ERROR,
  type Trips,
} from '@test/routing/trips'
import { catalogOf, modelOf, providerOf, requestOf, targetOf } from '@test/routing/world'
import { DEADLINE_MS } from '@/routing/failover/failover'
import type { AttemptFault } from '@/routing/failover/fault-class'
import { MIN_RETRIES_PER_MINUTE } from '@/routing/failover/retry-budget'
import { targetId } from '@/routing/health/target-id'
import { buildPlan } from '@/routing/plan/plan'

let trips: Trips
let parts: TestParts
let client: AbortController

beforeEach(() => {
  trips = createTrips()
  parts = trips.parts
  client = trips.client
})

const begin: Trips['begin'] = (models, stream) => trips.begin(models, stream)
const eventsOf: Trips['eventsOf'] = (type) => trips.eventsOf(type)

describe('error classes', () => {
  test('after a 5xx each target is retried once after a pause, then the next target or model follows', async () => {
    expect(await failAll(begin(), () => SERVER_ERROR)).toEqual([
      'p1/alpha-at-p1 k1',
      'p1/alpha-at-p1 k1',
      'p2/alpha-at-p2 k1',
      'p2/alpha-at-p2 k1',
      'p2/beta-at-p2 k1',
      'p2/beta-at-p2 k1',
    ])
    expect(parts.pauses).toHaveLength(3)
    expect(eventsOf('fallback')).toEqual([{ type: 'fallback', from: 'svc/alpha', to: 'svc/beta', reason: 'transient' }])
  })

  const EVERYWHERE = ['p1/alpha-at-p1 k1', 'p1/alpha-at-p1 k2', 'p2/alpha-at-p2 k1', 'p2/beta-at-p2 k1']

  test('after a 429, the other key is tried at once, then the next target; the keys pause for the account', async () => {
    const begun = () => begin([alpha, beta])
    expect(await failAll(begun(), () => refused(429, 30))).toEqual(EVERYWHERE)
    expect([await begun().next(), parts.keys.resting().size]).toEqual([undefined, 0])
    expect(nameOf(await trips.begin([alpha], false, 'acc_2').next())).toBe('p1/alpha-at-p1 k1')
  })

  test('when a second account gets a 429, the keys pause for all accounts', async () => {
    await failAll(begin(), () => refused(429, 30))
    expect(await failAll(trips.begin([alpha, beta], false, 'acc_2'), () => refused(429, 30))).toEqual(EVERYWHERE)
    expect(parts.pauses).toEqual([])
    expect([...parts.keys.resting().keys()].sort()).toEqual(['p1/k1', 'p1/k2', 'p2/k1'])
    expect(nameOf(await begin([beta, modelOf('svc/rested', [providerOf('p3')])]).next())).toBe('p3/rested-at-p3 k1')
  })

  test('after a 429 for the request’s size, one other key is tried, then the next target; no key pauses', async () => {
    const tooLarge = refused(429, undefined, 'Request too large for x on tokens per min (TPM): Limit 10, Requested 20')
    for (let time = 0; time < 5; time++) expect(await failAll(begin(), () => tooLarge)).toEqual(EVERYWHERE)
    expect(parts.keys.resting().size).toBe(0)
    expect(parts.breaker.failureRate('p1/alpha-at-p1')).toBe(0)
  })

  test('a refused key is not used again for another model', async () => {
    const solo = providerOf('p3')
    const models = [modelOf('svc/alpha', [solo]), modelOf('svc/beta', [solo])]
    expect(await failAll(begin(models), () => refused(401))).toEqual(['p3/alpha-at-p3 k1'])
    expect(eventsOf('key-out')).toEqual([{ type: 'key-out', provider: 'p3', key: 'k1', status: 401 }])
  })

  test('after a 403, one other key is tried, then the next target; one account cannot stop the use of a key', async () => {
    for (let time = 0; time < 5; time++) {
      expect(await failAll(begin(), () => refused(403))).toEqual([
        'p1/alpha-at-p1 k1',
        'p1/alpha-at-p1 k2',
        'p2/alpha-at-p2 k1',
        'p2/beta-at-p2 k1',
      ])
    }
    expect(parts.keys.resting().size).toBe(0)
    expect(eventsOf('key-out')).toEqual([])
  })

  test('retry-after is respected even without an alternative', async () => {
    const solo = providerOf('p3')
    const models = [modelOf('svc/alpha', [solo]), modelOf('svc/beta', [solo])]
    expect(await failAll(begin(models), () => refused(429, 60))).toEqual(['p3/alpha-at-p3 k1', 'p3/beta-at-p3 k1'])
    for (let request = 0; request < 20; request++) {
      const failover = begin(models)
      expect(await failover.next()).toBeUndefined()
      expect(failover.refusal()).toMatchObject({ kind: 'overloaded', options: { retryAfterSeconds: 60 } })
    }
    parts.clock.advance(60_000)
    expect(nameOf(await begin(models).next())).toBe('p3/alpha-at-p3 k1')
  })

  test('an overloaded provider’s retry-after is respected for a minute at most', async () => {
    const models = [modelOf('svc/alpha', [providerOf('p3')])]
    expect(await failAll(begin(models), () => refused(529, 3_600))).toHaveLength(1)
    expect(await begin(models).next()).toBeUndefined()
    parts.clock.advance(60_000)
    expect(nameOf(await begin(models).next())).toBe('p3/alpha-at-p3 k1')
  })

  test('during an estimated pause without an alternative, one request at a time is tried', async () => {
    const models = [modelOf('svc/alpha', [providerOf('p3')])]
    expect(await failAll(begin(models), () => refused(429))).toEqual(['p3/alpha-at-p3 k1'])
    const trial = await begin(models).next()
    expect(nameOf(trial)).toBe('p3/alpha-at-p3 k1')
    const turnedAway = begin(models)
    expect(await turnedAway.next()).toBeUndefined()
    expect(turnedAway.refusal()).toMatchObject({ kind: 'overloaded', options: { code: 'provider_resting' } })
    trial?.began()
    expect(nameOf(await begin(models).next())).toBe('p3/alpha-at-p3 k1')
  })

  test('after a content filter’s refusal only models of the caller’s fallback list are tried', async () => {
    const filtered = refused(400, undefined, 'Output blocked by content filtering policy')
    expect(await failAll(begin(), () => filtered)).toEqual(['p1/alpha-at-p1 k1', 'p2/beta-at-p2 k1'])
    const byCatalogue = { ...alpha, fallback: ['svc/beta'] }
    const plan = buildPlan(catalogOf([byCatalogue, beta]), requestOf({ model: 'svc/alpha' }))
    expect(plan.models).toHaveLength(2)
    expect(await failAll(parts.begin(plan, client.signal), () => filtered)).toEqual(['p1/alpha-at-p1 k1'])
  })

  test('a silent target is not called again while another remains', async () => {
    const timeout: AttemptFault = { kind: 'timeout', phase: 'connect' }
    expect(await failAll(begin(), () => timeout)).toEqual([
      'p1/alpha-at-p1 k1',
      'p2/alpha-at-p2 k1',
      'p2/beta-at-p2 k1',
      'p2/beta-at-p2 k1',
    ])
  })

  test('a 400 stops the request, unless it blames the model: then the next model is tried', async () => {
    expect(await failAll(begin(), () => BAD_REQUEST)).toEqual(['p1/alpha-at-p1 k1'])
    const tooLong = refused(400, undefined, 'maximum context length is 8192 tokens')
    expect(await failAll(begin(), () => tooLong)).toEqual(['p1/alpha-at-p1 k1', 'p2/beta-at-p2 k1'])
  })

  test('after a 404 the next target of the same model is tried', async () => {
    expect(await failAll(begin(), () => refused(404))).toEqual([
      'p1/alpha-at-p1 k1',
      'p2/alpha-at-p2 k1',
      'p2/beta-at-p2 k1',
    ])
  })

  test('a request that a format cannot express goes to a target of another format, and no target is blamed', async () => {
    expect(await failAll(begin(), () => ({ kind: 'unencodable' }))).toHaveLength(3)
    expect(parts.breaker.failureRate('p1/alpha-at-p1')).toBe(0)
  })

  test('the attempt list contains every failed attempt', async () => {
    const failover = begin()
    await failAll(failover, ({ number }) => (number === 1 ? { kind: 'timeout', phase: 'first-byte' } : BAD_REQUEST))
    expect(failover.trail.map(({ model, provider, reason }) => [model, provider, reason])).toEqual([
      ['svc/alpha', 'p1', 'first-byte-timeout'],
      ['svc/alpha', 'p2', '400'],
    ])
  })
})

describe('limits of attempts', () => {
  test('a used-up retry limit stops retries, but not further targets', async () => {
    const names: string[] = []
    for (let request = 0; request < 30; request++) names.push(...(await failAll(begin([beta]), () => SERVER_ERROR)))
    expect(names.length).toBe(30 + MIN_RETRIES_PER_MINUTE)
    expect(eventsOf('retry')).toHaveLength(MIN_RETRIES_PER_MINUTE)
  })

  test('after the deadline no target is tried', async () => {
    const failover = begin()
    const first = await failover.next()
    parts.clock.advance(DEADLINE_MS)
    expect(await failover.next(first?.failed(SERVER_ERROR))).toBeUndefined()
  })

  test('an attempt’s silence ends at the deadline', async () => {
    const failover = begin()
    const first = await failover.next()
    expect(first?.planned.target.provider.timeouts.firstByteMs).toBe(20_000)
    parts.clock.advance(DEADLINE_MS - 5_000)
    const second = await failover.next(first?.failed(refused(404)))
    expect(second?.planned.target.provider.timeouts).toMatchObject({ firstByteMs: 5_000, totalMs: 60_000 })
  })

  test('after a disconnect no target is tried, and the slot is free', async () => {
    const failover = begin()
    const permit = await failover.next()
    client.abort()
    permit?.abandoned()
    expect(await failover.next()).toBeUndefined()
    expect(parts.limiter.list()).toMatchObject([{ provider: 'p1', inFlight: 0 }])
  })

  test('a client that disconnects before a call blames no provider', async () => {
    const failover = begin()
    client.abort()
    expect(await failover.next()).toBeUndefined()
    expect(failover.refusal()).toMatchObject({ kind: 'client_gone', status: 499 })
  })

  test('a disconnect during a pause ends the failover', async () => {
    const failover = begin()
    parts.onPause = () => client.abort()
    const permit = await failover.next()
    expect(await failover.next(permit?.failed(SERVER_ERROR))).toBeUndefined()
  })
})

test('latencies and key states are updated by answers that have begun', async () => {
  const permit = await begin().next()
  parts.clock.advance(250)
  permit?.began()
  permit?.ended(false)
  expect(parts.latency.usual(targetId(targetOf(p1, 'alpha-at-p1')), false)).toBe(250)
  expect(eventsOf('attempt')).toEqual([
    { type: 'attempt', model: 'svc/alpha', provider: 'p1', outcome: 'answered', milliseconds: 250 },
  ])
})
