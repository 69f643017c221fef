/** A new catalogue: unchanged upstreams keep what was learnt, changed ones start anew, and keys change for running requests. */
import { expect, test } from 'bun:test'
import { catalogOf, type ManualClock, manualClock, modelOf, providerOf, requestOf } from '@test/routing/world'
import { createLiveCatalog, type LiveCatalog } from '@/catalog/reload/live-catalog'
import type { Catalog, Provider, ProviderKey } from '@/catalog/types'
import { providerError } from '@/formats/provider-error'
import type { Permit } from '@/routing/failover/permit'
import type { RoutingEvent } from '@/routing/failover/routing-events'
import { MIN_SAMPLES } from '@/routing/health/circuit-breaker'
import { createConcurrencyLimiter } from '@/routing/health/concurrency'
import { createRouter, type Router } from '@/routing/router'

const NEVER = new AbortController().signal
const CONTEXT = { accountId: 'acc_1', stream: false, signal: NEVER }
const REQUEST = requestOf({ model: 'svc/alpha' })
const [k1, k2] = providerOf('p1', {}, 2).keys as [ProviderKey, ProviderKey]

type World = { router: Router; live: LiveCatalog; clock: ManualClock; events: RoutingEvent[] }

function worldOf(catalog: Catalog): World {
  const live = createLiveCatalog(catalog)
  const clock = manualClock()
  const events: RoutingEvent[] = []
  const router = createRouter({ catalog: live, clock, random: () => 0, onEvent: (event) => events.push(event) })
  live.onReplaced(router.renew)
  return { router, live, clock, events }
}

const selling = (...providers: Provider[]) => catalogOf([modelOf('svc/alpha', providers)])
const plan = ({ router }: World) => router.plan(REQUEST, { clientFormat: 'chat-completions', session: undefined })

async function begin(world: World): Promise<Permit> {
  const permit = await world.router.begin(await plan(world), CONTEXT).next()
  if (!permit) throw new Error('nothing was let through')
  return permit
}

async function open(world: World): Promise<void> {
  for (let index = 0; index < MIN_SAMPLES; index++) {
    const error = providerError({ status: 404, kind: '', message: '' })
    ;(await begin(world)).failed({ kind: 'refused', error })
  }
}

const circuitsOf = ({ router }: World) => router.status().circuits.map(({ id, state }) => `${id} ${state}`)

test('after a reload an unchanged provider keeps circuits and pauses', async () => {
  const world = worldOf(selling(providerOf('p1')))
  ;(await begin(world)).failed({
    kind: 'refused',
    error: providerError({ status: 429, kind: '', message: '', retryAfterSeconds: 30, left: 'nothing' }),
  })
  const restsBefore = world.router.status().keys
  expect([...restsBefore.keys()]).toEqual(['p1/k1'])
  world.live.replace(selling(providerOf('p1'), providerOf('p2')))
  expect(world.router.status().keys).toEqual(restsBefore)

  const broken = worldOf(selling(providerOf('p1')))
  await open(broken)
  broken.live.replace(selling(providerOf('p1')))
  expect(circuitsOf(broken)).toEqual(['p1/alpha-at-p1 open'])
})

test('after a reload a provider with another address, or removed, is forgotten', async () => {
  const world = worldOf(selling(providerOf('p1')))
  await open(world)
  world.live.replace(selling(providerOf('p1', { baseUrl: 'http://elsewhere.test' })))
  expect(circuitsOf(world)).toEqual([])
  await open(world)
  world.live.replace(selling(providerOf('p2')))
  expect(circuitsOf(world)).toEqual([])
})

test('after a reload, an outcome at the old address does not count for the new address', async () => {
  const world = worldOf(selling(providerOf('p1')))
  const permits = []
  for (let index = 0; index < MIN_SAMPLES; index++) permits.push(await begin(world))
  world.live.replace(selling(providerOf('p1', { baseUrl: 'http://elsewhere.test' })))
  for (const permit of permits) permit.failed({ kind: 'timeout', phase: 'connect' })
  expect(circuitsOf(world).filter((circuit) => circuit.endsWith('open'))).toEqual([])
})

test('a request planned before a reload uses the current keys, and a removed key gets no new calls', async () => {
  const world = worldOf(selling(providerOf('p1', { keys: [k1] })))
  const before = await plan(world)
  const streaming = await begin(world)
  streaming.began()
  world.live.replace(selling(providerOf('p1', { keys: [k2] })))
  const failover = world.router.begin(before, CONTEXT)
  const late = await failover.next()
  expect(late?.key.id).toBe('k2')
  expect(late?.planned.target).toBe(before.targets[0]?.target)
  expect(world.router.status().draining).toEqual(new Map([['p1/k1', 1]]))
  expect(world.events.some(({ type }) => type === 'key-drained')).toBe(false)
  streaming.ended(false)
  expect(world.router.status().draining).toEqual(new Map())
  expect(world.events.filter(({ type }) => type === 'key-drained')).toEqual([{ type: 'key-drained', key: 'p1/k1' }])
})

test('a second call of a request does not use a key that was removed after the first', async () => {
  const world = worldOf(selling(providerOf('p1', { keys: [k1] })))
  const failover = world.router.begin(await plan(world), CONTEXT)
  const first = await failover.next()
  expect(first?.key.id).toBe('k1')
  world.live.replace(selling(providerOf('p1', { keys: [k2] })))
  const error = providerError({ status: 503, kind: '', message: '' })
  const second = await failover.next(first?.failed({ kind: 'refused', error }))
  expect(second?.key.id).toBe('k2')
})

test('after a reload, a request planned for a removed provider is still answered by it', async () => {
  const world = worldOf(selling(providerOf('p1')))
  const before = await plan(world)
  world.live.replace(selling(providerOf('p2')))
  expect((await world.router.begin(before, CONTEXT).next())?.key.id).toBe('k1')
})

test('a key that a second reload restores gets calls again', async () => {
  const world = worldOf(selling(providerOf('p1', { keys: [k1] })))
  const permit = await begin(world)
  world.live.replace(selling(providerOf('p1', { keys: [k2] })))
  world.live.replace(selling(providerOf('p1', { keys: [k1, k2] })))
  permit.abandoned()
  expect(world.events.filter((event) => event.type === 'key-drained' && event.key === 'p1/k1')).toEqual([])
})

test('a higher concurrency limit admits waiting requests, a lower one applies to new calls', async () => {
  const limiter = createConcurrencyLimiter()
  const of = (maxConcurrency: number) => providerOf('p1', { maxConcurrency })
  const held = limiter.tryTake(of(1), 'acct_1')
  const waiting = limiter.take(of(1), 'acct_1', NEVER)
  limiter.renew(new Map([['p1', of(2)]]))
  const second = await waiting
  expect(second).toBeFunction()
  limiter.renew(new Map([['p1', of(1)]]))
  held?.()
  expect(limiter.tryTake(of(2), 'acct_1')).toBeUndefined()
  second?.()
  expect(limiter.tryTake(of(2), 'acct_1')).toBeFunction()
})
