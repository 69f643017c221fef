/** Admission to a target: past its circuit breaker, with one of its keys and one of its slots. */
import { beforeEach, describe, expect, test } from 'bun:test'
import type { TestParts } from '@test/routing/parts'
import {
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
import { modelOf, providerOf } from '@test/routing/world'
import type { Model } from '@/catalog/types'
import { LAST_RESORT_PATIENCE_MS } from '@/routing/failover/admission'
import type { Permit } from '@/routing/failover/permit'
import { MIN_SAMPLES } from '@/routing/health/circuit-breaker'

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

describe('targets and their circuit breaker', () => {
  async function trip(model: Model): Promise<void> {
    for (let index = 0; index < MIN_SAMPLES; index++) (await begin([model]).next())?.failed(refused(404))
  }

  test('a target with an open circuit comes last, and is tried if no other target remains', async () => {
    await trip(modelOf('svc/alpha', [p1]))
    expect(await failAll(begin(), () => refused(404))).toEqual([
      'p2/alpha-at-p2 k1',
      'p2/beta-at-p2 k1',
      'p1/alpha-at-p1 k1',
    ])
  })

  test('a single target with an open circuit gets one request at a time', async () => {
    const model = modelOf('svc/alpha', [p1])
    await trip(model)
    const trial = await begin([model]).next()
    expect(nameOf(trial)).toBe('p1/alpha-at-p1 k1')
    for (let request = 0; request < 20; request++) {
      const failover = begin([model])
      expect(await failover.next()).toBeUndefined()
      expect(failover.refusal()).toMatchObject({ status: 503, options: { retryAfterSeconds: 5 } })
    }
    trial?.failed(refused(404))
    expect(nameOf(await begin([model]).next())).toBe('p1/alpha-at-p1 k1')
  })

  test('a target tried despite its open circuit gets less time', async () => {
    const patient = providerOf('p4', {
      timeouts: { connectMs: 1_000, firstByteMs: 300_000, idleMs: 60_000, totalMs: 900_000 },
    })
    const model = modelOf('svc/alpha', [patient])
    await trip(model)
    const permit = await begin([model]).next()
    expect(permit?.planned.target.provider.timeouts.firstByteMs).toBe(LAST_RESORT_PATIENCE_MS)
  })

  test('a half-open target gets one probe; other requests go elsewhere', async () => {
    await trip(modelOf('svc/alpha', [p1]))
    parts.clock.advance(10_000)
    const probe = await begin().next()
    expect(nameOf(probe)).toBe('p1/alpha-at-p1 k1')
    expect(nameOf(await begin().next())).toBe('p2/alpha-at-p2 k1')
    probe?.began()
    expect(nameOf(await begin().next())).toBe('p1/alpha-at-p1 k1')
  })

  test('a failed probe of a half-open target is not repeated', async () => {
    await trip(modelOf('svc/alpha', [p1]))
    parts.clock.advance(10_000)
    const failover = begin()
    const probe = await failover.next()
    expect(nameOf(await failover.next(probe?.failed(SERVER_ERROR)))).toBe('p2/alpha-at-p2 k1')
  })

  test('an answer that breaks off after it began counts against its target', async () => {
    const permit = await begin().next()
    permit?.began()
    permit?.ended(true)
    expect(parts.breaker.failureRate('p1/alpha-at-p1')).toBeGreaterThan(0)
    expect(eventsOf('broken')).toHaveLength(1)
  })
})

describe('slots of a provider', () => {
  const one = providerOf('p5', { maxConcurrency: 1 })
  const busyModel = modelOf('svc/alpha', [one])

  test('a busy provider is skipped at once', async () => {
    await begin([busyModel]).next()
    expect(nameOf(await begin([busyModel, beta]).next())).toBe('p2/beta-at-p2 k1')
  })

  test('without an alternative, the request waits for a slot', async () => {
    const holder = await begin([busyModel]).next()
    const waiting = begin([busyModel]).next()
    holder?.began()
    holder?.ended(false)
    expect(nameOf(await waiting)).toBe('p5/alpha-at-p5 k1')
  })

  test('a request is refused if the queue for slots is full', async () => {
    await begin([busyModel]).next()
    const queued = begin([busyModel]).next()
    const failover = begin([busyModel])
    expect(await failover.next()).toBeUndefined()
    expect(failover.refusal()).toMatchObject({ kind: 'overloaded', status: 503 })
    expect(eventsOf('shed')).toEqual([{ type: 'shed', provider: 'p5' }])
    client.abort()
    expect(await queued).toBeUndefined()
  })

  test('every outcome of a call frees the slot', async () => {
    const outcomes: ((permit: Permit) => void)[] = [
      (permit) => void permit.failed(BAD_REQUEST),
      (permit) => permit.abandoned(),
      (permit) => {
        permit.began()
        permit.ended(false)
      },
      (permit) => {
        permit.began()
        permit.failed(SERVER_ERROR)
        permit.ended(true)
        permit.ended(true)
      },
    ]
    for (const outcome of outcomes) {
      const permit = await begin([busyModel]).next()
      if (permit) outcome(permit)
      expect(parts.limiter.list()).toEqual([{ provider: 'p5', inFlight: 0, queued: 0, limit: 1 }])
    }
  })
})
