/** A request's way through its plan, attempt by attempt, with every answer of the providers in the test's hands. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { createTestParts, type TestParts } from '@test/routing/parts'
import { catalogOf, modelOf, providerOf, requestOf, targetOf } from '@test/routing/world'
import type { Model } from '@/catalog/types'
import { providerError } from '@/formats/provider-error'
import { MIN_SAMPLES } from '@/routing/health/circuit-breaker'
import { targetId } from '@/routing/health/target-id'
import type { AttemptFault } from '@/routing/journey/fault-class'
import { DEADLINE_MS, type Journey, LAST_RESORT_PATIENCE_MS } from '@/routing/journey/journey'
import { MIN_RETRIES_PER_MINUTE } from '@/routing/journey/retry-budget'
import type { RoutingEvent } from '@/routing/journey/routing-events'
import type { Ticket } from '@/routing/journey/ticket'
import { buildPlan } from '@/routing/plan/plan'

const p1 = providerOf('p1', {}, 2)
const p2 = providerOf('p2')
const alpha = modelOf('svc/alpha', [p1, p2])
const beta = modelOf('svc/beta', [p2])

const SERVER_ERROR = refused(500)
const BAD_REQUEST = refused(400)

let parts: TestParts
let client: AbortController

beforeEach(() => {
  parts = createTestParts()
  client = new AbortController()
})

function refused(status: number, retryAfterSeconds?: number, message = ''): AttemptFault {
  return {
    kind: 'refused',
    error: providerError({ status, kind: '', message, ...(retryAfterSeconds && { retryAfterSeconds }) }),
  }
}

function begin(models: Model[] = [alpha, beta]): Journey {
  const [first, ...rest] = models.map((model) => model.id)
  const plan = buildPlan(catalogOf(models), requestOf({ model: first as string, fallback: rest }))
  return parts.begin(plan, client.signal)
}

function nameOf(ticket: Ticket | undefined): string | undefined {
  return ticket && `${targetId(ticket.planned.target)} ${ticket.key.id}`
}

/** Fails every attempt with `fault` and returns where they went. */
async function failAll(journey: Journey, fault: (ticket: Ticket) => AttemptFault): Promise<string[]> {
  const names: string[] = []
  for (let ticket = await journey.next(); ticket; ) {
    names.push(nameOf(ticket) ?? '')
    ticket = await journey.next(ticket.failed(fault(ticket)))
  }
  return names
}

function eventsOf<Type extends RoutingEvent['type']>(type: Type): Extract<RoutingEvent, { type: Type }>[] {
  return parts.events.filter((event) => event.type === type) as Extract<RoutingEvent, { type: Type }>[]
}

describe('error classes', () => {
  test('5xx: each target once more after a pause, then the next, through all targets and models', async () => {
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

  test('429: the other key at once, then the next target; the keys cool for everybody', async () => {
    expect(await failAll(begin(), () => refused(429, 30))).toEqual([
      'p1/alpha-at-p1 k1',
      'p1/alpha-at-p1 k2',
      'p2/alpha-at-p2 k1',
      'p2/beta-at-p2 k1',
    ])
    expect(parts.pauses).toEqual([])
    expect([...parts.keys.resting().keys()].sort()).toEqual(['p1/k1', 'p1/k2', 'p2/k1'])
    expect(nameOf(await begin([beta, modelOf('svc/rested', [providerOf('p3')])]).next())).toBe('p3/rested-at-p3 k1')
  })

  test('a key that was refused is not tried again for another model', async () => {
    const solo = providerOf('p3')
    const models = [modelOf('svc/alpha', [solo]), modelOf('svc/beta', [solo])]
    expect(await failAll(begin(models), () => refused(401))).toEqual(['p3/alpha-at-p3 k1'])
    expect(eventsOf('key-out')).toEqual([{ type: 'key-out', provider: 'p3', key: 'k1', status: 401 }])
  })

  test('403: one other key and then the next target; no key is out for one account’s words', async () => {
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

  test('a key that rests is used all the same when nothing else is left, once per target', async () => {
    const solo = providerOf('p3')
    const models = [modelOf('svc/alpha', [solo]), modelOf('svc/beta', [solo])]
    for (let request = 0; request < 2; request++) {
      expect(await failAll(begin(models), () => refused(429, 60))).toEqual(['p3/alpha-at-p3 k1', 'p3/beta-at-p3 k1'])
    }
  })

  test('400: stops, unless the fault is the model’s: then the next model', async () => {
    expect(await failAll(begin(), () => BAD_REQUEST)).toEqual(['p1/alpha-at-p1 k1'])
    const tooLong = refused(400, undefined, 'maximum context length is 8192 tokens')
    expect(await failAll(begin(), () => tooLong)).toEqual(['p1/alpha-at-p1 k1', 'p2/beta-at-p2 k1'])
  })

  test('404: the next target of the same model', async () => {
    expect(await failAll(begin(), () => refused(404))).toEqual([
      'p1/alpha-at-p1 k1',
      'p2/alpha-at-p2 k1',
      'p2/beta-at-p2 k1',
    ])
  })

  test('a request that a format cannot carry goes on to one that may, and blames nobody', async () => {
    expect(await failAll(begin(), () => ({ kind: 'unencodable' }))).toHaveLength(3)
    expect(parts.breaker.failureRate('p1/alpha-at-p1')).toBe(0)
  })

  test('the trail tells every failed attempt', async () => {
    const journey = begin()
    await failAll(journey, ({ number }) => (number === 1 ? { kind: 'timeout', phase: 'first-byte' } : BAD_REQUEST))
    expect(journey.trail.map(({ model, provider, reason }) => [model, provider, reason])).toEqual([
      ['svc/alpha', 'p1', 'first-byte-timeout'],
      ['svc/alpha', 'p1', '400'],
    ])
  })
})

describe('bounds', () => {
  test('retries stop when the budget is used up, moving on does not', async () => {
    const names: string[] = []
    for (let request = 0; request < 30; request++) names.push(...(await failAll(begin([beta]), () => SERVER_ERROR)))
    expect(names.length).toBe(30 + MIN_RETRIES_PER_MINUTE)
    expect(eventsOf('retry')).toHaveLength(MIN_RETRIES_PER_MINUTE)
  })

  test('nothing is tried after the deadline', async () => {
    const journey = begin()
    const first = await journey.next()
    parts.clock.advance(DEADLINE_MS)
    expect(await journey.next(first?.failed(SERVER_ERROR))).toBeUndefined()
  })

  test('an attempt may not be silent past the deadline', async () => {
    const journey = begin()
    const first = await journey.next()
    expect(first?.planned.target.provider.timeouts.firstByteMs).toBe(20_000)
    parts.clock.advance(DEADLINE_MS - 5_000)
    const second = await journey.next(first?.failed(refused(404)))
    expect(second?.planned.target.provider.timeouts).toMatchObject({ firstByteMs: 5_000, totalMs: 60_000 })
  })

  test('a client that left gets nothing more, and its slot is free', async () => {
    const journey = begin()
    const ticket = await journey.next()
    client.abort()
    ticket?.abandoned()
    expect(await journey.next()).toBeUndefined()
    expect(parts.limiter.list()).toMatchObject([{ provider: 'p1', inFlight: 0 }])
  })

  test('a client that leaves during a pause ends the journey', async () => {
    const journey = begin()
    parts.onPause = () => client.abort()
    const ticket = await journey.next()
    expect(await journey.next(ticket?.failed(SERVER_ERROR))).toBeUndefined()
  })
})

describe('the breaker', () => {
  async function trip(model: Model): Promise<void> {
    for (let index = 0; index < MIN_SAMPLES; index++) (await begin([model]).next())?.failed(refused(404))
  }

  test('a target that is open is left for last, and tried all the same when nothing else is left', async () => {
    await trip(modelOf('svc/alpha', [p1]))
    expect(await failAll(begin(), () => refused(404))).toEqual([
      'p2/alpha-at-p2 k1',
      'p2/beta-at-p2 k1',
      'p1/alpha-at-p1 k1',
    ])
  })

  test('against its advice a target gets less patience', async () => {
    const patient = providerOf('p4', {
      timeouts: { connectMs: 1_000, firstByteMs: 300_000, idleMs: 60_000, totalMs: 900_000 },
    })
    const model = modelOf('svc/alpha', [patient])
    await trip(model)
    const ticket = await begin([model]).next()
    expect(ticket?.planned.target.provider.timeouts.firstByteMs).toBe(LAST_RESORT_PATIENCE_MS)
  })

  test('when it is half-open one request probes and the others go elsewhere', async () => {
    await trip(modelOf('svc/alpha', [p1]))
    parts.clock.advance(10_000)
    const probe = await begin().next()
    expect(nameOf(probe)).toBe('p1/alpha-at-p1 k1')
    expect(nameOf(await begin().next())).toBe('p2/alpha-at-p2 k1')
    probe?.began()
    expect(nameOf(await begin().next())).toBe('p1/alpha-at-p1 k1')
  })

  test('a probe that fails is not repeated', async () => {
    await trip(modelOf('svc/alpha', [p1]))
    parts.clock.advance(10_000)
    const journey = begin()
    const probe = await journey.next()
    expect(nameOf(await journey.next(probe?.failed(SERVER_ERROR)))).toBe('p2/alpha-at-p2 k1')
  })

  test('an answer that breaks off after it began counts against its target', async () => {
    const ticket = await begin().next()
    ticket?.began()
    ticket?.ended(true)
    expect(parts.breaker.failureRate('p1/alpha-at-p1')).toBeGreaterThan(0)
    expect(eventsOf('broken')).toHaveLength(1)
  })
})

describe('slots', () => {
  const one = providerOf('p5', { maxConcurrency: 1 })
  const busyModel = modelOf('svc/alpha', [one])

  test('a busy provider is passed by at once', async () => {
    await begin([busyModel]).next()
    expect(nameOf(await begin([busyModel, beta]).next())).toBe('p2/beta-at-p2 k1')
  })

  test('with nowhere else to go the request waits for a slot', async () => {
    const holder = await begin([busyModel]).next()
    const waiting = begin([busyModel]).next()
    holder?.began()
    holder?.ended(false)
    expect(nameOf(await waiting)).toBe('p5/alpha-at-p5 k1')
  })

  test('and is turned away where the queue is full', async () => {
    await begin([busyModel]).next()
    const queued = begin([busyModel]).next()
    const journey = begin([busyModel])
    expect(await journey.next()).toBeUndefined()
    expect(journey.refusal()).toMatchObject({ kind: 'overloaded', status: 503 })
    expect(eventsOf('shed')).toEqual([{ type: 'shed', provider: 'p5' }])
    client.abort()
    expect(await queued).toBeUndefined()
  })

  test('every way out gives its slot back', async () => {
    const outcomes: ((ticket: Ticket) => void)[] = [
      (ticket) => void ticket.failed(BAD_REQUEST),
      (ticket) => ticket.abandoned(),
      (ticket) => {
        ticket.began()
        ticket.ended(false)
      },
      (ticket) => {
        ticket.began()
        ticket.failed(SERVER_ERROR)
        ticket.ended(true)
        ticket.ended(true)
      },
    ]
    for (const outcome of outcomes) {
      const ticket = await begin([busyModel]).next()
      if (ticket) outcome(ticket)
      expect(parts.limiter.list()).toEqual([{ provider: 'p5', inFlight: 0, queued: 0, limit: 1 }])
    }
  })
})

test('latency and keys learn from what has begun', async () => {
  const ticket = await begin().next()
  parts.clock.advance(250)
  ticket?.began()
  ticket?.ended(false)
  expect(parts.latency.usual(targetId(targetOf(p1, 'alpha-at-p1')), false)).toBe(250)
  expect(eventsOf('attempt')).toEqual([
    { type: 'attempt', model: 'svc/alpha', provider: 'p1', outcome: 'answered', milliseconds: 250 },
  ])
})
