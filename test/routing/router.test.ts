/** The router's interface to the rest of the gateway: two routers that share what they learn. */

import { describe, expect, test } from 'bun:test'
import type { Catalog } from '@/catalog/types'
import type { ChatRequest } from '@/chat/request'
import { providerError } from '@/formats/provider-error'
import { quickSize } from '@/gateway/hold/hold-size'
import type { HoldOf } from '@/routing/explain'
import { MIN_SAMPLES } from '@/routing/health/circuit-breaker'
import type { HealthExchange } from '@/routing/health/health-exchange'
import { describeTrail, routeReason } from '@/routing/route-reason'
import { createRouter, type Origin, type Router } from '@/routing/router'
import { sharedHealth } from './shared-health'
import { catalogOf, type ManualClock, manualClock, modelOf, providerOf, requestOf, tierOf } from './world'

const p1 = providerOf('p1')
const p2 = providerOf('p2')
const small = modelOf('svc/small', [p1], { usd: 0.05, quality: 0.55 })
const large = modelOf('svc/large', [p2], { usd: 3, quality: 0.95 })
const catalog = catalogOf([small, large], [tierOf('auto-smart', 'smart', [small, large])])

const ORIGIN: Origin = { clientFormat: 'chat-completions', session: undefined }
const NEVER = new AbortController().signal
const context = (signal: AbortSignal) => ({ accountId: 'acc_1', stream: false, signal })
const HARD = 'Prove the theorem, derive the bound, analyse the complexity and justify each assumption step by step.'

function routerOf(clock: ManualClock, exchange?: HealthExchange, from: Catalog = catalog): Router {
  const router = createRouter({ catalog: { current: from }, clock, random: () => 0.5, ...(exchange && { exchange }) })
  router.start()
  return router
}

async function targetsOf(router: Router, request: ChatRequest, origin = ORIGIN): Promise<string[]> {
  return (await router.plan(request, origin)).targets.map(({ model }) => model.id)
}

async function failOnce(router: Router, request: ChatRequest, status: number): Promise<void> {
  const failover = router.begin(await router.plan(request, ORIGIN), context(NEVER))
  const permit = await failover.next()
  permit?.failed({ kind: 'refused', error: providerError({ status, kind: '', message: '', left: 'nothing' }) })
}

const NAMED = requestOf({ model: 'svc/small', fallback: ['svc/large'] })

describe('several gateways', () => {
  test('an open circuit of one gateway applies at another, until the first gateway closes it', async () => {
    const clock = manualClock()
    const health = sharedHealth(clock)
    const [first, second] = [routerOf(clock, health.join('a')), routerOf(clock, health.join('b'))]
    for (let index = 0; index < MIN_SAMPLES; index++) await failOnce(first, NAMED, 404)
    expect(await targetsOf(second, NAMED)).toEqual(['svc/small', 'svc/large'])
    health.sync()
    expect(await targetsOf(second, NAMED)).toEqual(['svc/large', 'svc/small'])
    clock.advance(10_000)
    const probe = await first.begin(await first.plan(NAMED, ORIGIN), context(NEVER)).next()
    expect(probe?.planned.model).toBe(small)
    health.sync()
    expect(await targetsOf(second, NAMED)).toEqual(['svc/large', 'svc/small'])
    probe?.began()
    health.sync()
    expect(await targetsOf(second, NAMED)).toEqual(['svc/small', 'svc/large'])
    await Promise.all([first.stop(), second.stop()])
  })

  test('a provider key paused at one gateway is paused at the other', async () => {
    const clock = manualClock()
    const health = sharedHealth(clock)
    const [first, second] = [routerOf(clock, health.join('a')), routerOf(clock, health.join('b'))]
    await failOnce(first, NAMED, 429)
    health.sync()
    expect(await targetsOf(second, NAMED)).toEqual(['svc/large', 'svc/small'])
    expect([...second.status().keys]).toMatchObject([['p1/k1', { state: 'cooling' }]])
    await Promise.all([first.stop(), second.stop()])
  })
})

describe('overloaded providers', () => {
  test('a request is refused before the reserve only if every provider of the plan is full', async () => {
    const narrow = providerOf('narrow', { maxConcurrency: 1 })
    const full = modelOf('svc/full', [narrow])
    const router = routerOf(manualClock(), undefined, catalogOf([full, large]))
    const request = requestOf({ model: 'svc/full' })
    const client = new AbortController()
    const holder = await router.begin(await router.plan(request, ORIGIN), context(NEVER)).next()
    const queued = router.begin(await router.plan(request, ORIGIN), context(client.signal)).next()
    await expect(Promise.try(() => router.plan(request, ORIGIN))).rejects.toMatchObject({
      kind: 'overloaded',
      options: { retryAfterSeconds: 1 },
    })
    expect(await targetsOf(router, { ...request, fallback: ['svc/large'] })).toEqual(['svc/full', 'svc/large'])
    expect(router.status().providers).toEqual([{ provider: 'narrow', inFlight: 1, queued: 1, limit: 1 }])
    client.abort()
    expect(await queued).toBeUndefined()
    holder?.abandoned()
    expect(await targetsOf(router, request)).toEqual(['svc/full'])
    await router.stop()
  })
})

describe('the route reason', () => {
  test('the route reason says why this model answered', async () => {
    const router = routerOf(manualClock())
    const plan = await router.plan(NAMED, ORIGIN)
    const trail = [{ model: 'svc/small', provider: 'p1', reason: '503', milliseconds: 4 }]
    expect(routeReason(plan, 'svc/small', [])).toBe('requested')
    expect(routeReason(plan, 'svc/small', trail)).toBe('requested')
    expect(routeReason(plan, 'svc/large', trail)).toBe('fallback; svc/small 503')
    expect(routeReason(plan, 'svc/large', [])).toBe('fallback; svc/small is not available now')
    expect(describeTrail([...trail, { ...trail[0], reason: 'first-byte-timeout' } as never])).toBe(
      'svc/small@p1=503, svc/small@p1=first-byte-timeout',
    )
    const chosen = await router.plan(requestOf({ model: 'auto-smart' }, HARD), ORIGIN)
    expect(routeReason(chosen, 'svc/large', [])).toMatch(/^chosen; smart, hard chat \([01]\.\d\d\), score -?\d/)
    await router.stop()
  })

  test('the route reason says if the named model was skipped', async () => {
    const blind = { ...small, capabilities: new Set<never>() }
    const router = routerOf(manualClock(), undefined, catalogOf([blind, large]))
    const plan = await router.plan({ ...NAMED, tools: [{ name: 'look' }] }, ORIGIN)
    expect(routeReason(plan, 'svc/large', [])).toBe('passed-over; svc/small does not support tools')
    await router.stop()
  })

  test('the route contains the whole plan as data', async () => {
    const router = routerOf(manualClock())
    const request = requestOf({ model: 'auto-smart', maxOutputTokens: 100 }, HARD)
    const plan = await router.plan(request, ORIGIN)
    const { prompt } = plan.requirements
    const holdOf: HoldOf = (answering) => quickSize({ request, prompt, plan: answering }, 400).amount
    const explanation = router.explain(plan, request, holdOf)
    expect(explanation).toMatchObject({
      requested: 'auto-smart',
      targets: [
        { model: 'svc/large', provider: 'p2', available: true, usual_latency_ms: null },
        { model: 'svc/small', provider: 'p1', available: true },
      ],
      passed_over: [],
      tier: { id: 'auto-smart', strategy: 'smart', class: 'hard', kind: 'chat', sticky: false },
    })
    const { because = [] } = explanation.tier ?? {}
    expect(because.some((reason) => reason.because.includes('“') && reason.effect > 0)).toBe(true)
    const [dear, cheap] = explanation.models
    expect(explanation.hold_usd).toBe(dear?.hold_usd as number)
    expect(dear?.hold_usd).toBeGreaterThan(cheap?.hold_usd as number)
    expect(dear?.estimated_cost_usd).toBeLessThan(dear?.hold_usd as number)
    expect(explanation.tier?.ranking.map((item) => item.model)).toEqual(['svc/large', 'svc/small'])
    expect(JSON.parse(JSON.stringify(explanation))).toEqual(explanation)
    await router.stop()
  })
})
