/**
 * High load in simulated time, with one of three providers dead and one slow. Limits success, attempts and added
 * latency as docs/ROUTING.md states.
 */
import { describe, expect, test } from 'bun:test'
import { providerError } from '@/formats/provider-error'
import { MIN_RETRIES_PER_MINUTE, RETRY_SHARE } from '@/routing/failover/retry-budget'
import { targetId } from '@/routing/health/target-id'
import { buildPlan } from '@/routing/plan/plan'
import type { RouteView } from '@/routing/plan/route-view'
import { createTestParts, type TestParts } from './parts'
import { catalogOf, modelOf, providerOf, requestOf } from './world'

const REQUESTS = 2_000
const ARRIVAL_MS = 20
const [dead, slow, sound] = ['dead', 'slow', 'sound'].map((name) => providerOf(name)) as [never, never, never]
const MODELS = [modelOf('svc/a', [dead, sound]), modelOf('svc/b', [slow]), modelOf('svc/c', [sound])]
const catalog = catalogOf(MODELS)
const NEVER = new AbortController().signal

/** Milliseconds until a provider answers, and whether it answers with an error. */
type Weather = Record<string, { takesMs: number; fails: boolean }>
const STORM: Weather = {
  dead: { takesMs: 5, fails: true },
  slow: { takesMs: 900, fails: false },
  sound: { takesMs: 10, fails: false },
}

type Toll = { answered: boolean; attempts: number; addedMs: number }

/** One request through the storm; its own time passes beside the clock, which only arrivals move. */
async function send(parts: TestParts, weather: Weather, model: string, fallback: string[]): Promise<Toll> {
  const view: RouteView = {
    isUsable: (target) => parts.breaker.admits(targetId(target)) && parts.keys.hasUsable(target.provider),
    failureRate: (target) => parts.breaker.failureRate(targetId(target)),
    latencyMs: () => undefined,
    throughput: () => undefined,
  }
  const failover = parts.begin(buildPlan(catalog, requestOf({ model, fallback }), { view }), NEVER)
  const pausesBefore = parts.pauses.length
  let addedMs = 0
  for (let permit = await failover.next(); permit; ) {
    const { takesMs, fails } = weather[permit.planned.target.provider.name] ?? { takesMs: 0, fails: true }
    if (!fails) {
      permit.began()
      permit.ended(false)
      const pausedMs = parts.pauses.slice(pausesBefore).reduce((sum, pause) => sum + pause, 0)
      return { answered: true, attempts: permit.number, addedMs: addedMs + pausedMs }
    }
    addedMs += takesMs
    const failed = permit.failed({ kind: 'refused', error: providerError({ status: 500, kind: '', message: '' }) })
    permit = await failover.next(failed)
  }
  return { answered: false, attempts: failover.trail.length, addedMs }
}

async function storm(
  weather: Weather,
  route: (index: number) => [string, string[]],
): Promise<{ parts: TestParts; tolls: Toll[] }> {
  const parts = createTestParts()
  const tolls: Toll[] = []
  for (let index = 0; index < REQUESTS; index++) {
    parts.clock.advance(ARRIVAL_MS)
    const [model, fallback] = route(index)
    tolls.push(await send(parts, weather, model, fallback))
  }
  return { parts, tolls }
}

function percentile(values: number[], share: number): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length * share)] ?? 0
}

describe('a dead and a slow provider', () => {
  test('with one provider dead and one slow, requests take about one attempt and little delay', async () => {
    const routes: [string, string[]][] = [
      ['svc/a', []],
      ['svc/b', ['svc/c']],
      ['svc/c', ['svc/b']],
    ]
    const { parts, tolls } = await storm(STORM, (index) => routes[index % 3] as [string, string[]])
    expect(tolls.every((toll) => toll.answered)).toBe(true)
    const attempts = tolls.reduce((sum, toll) => sum + toll.attempts, 0)
    expect(attempts / REQUESTS).toBeLessThan(1.03)
    expect(Math.max(...tolls.map((toll) => toll.attempts))).toBeLessThanOrEqual(3)
    expect(
      percentile(
        tolls.map((toll) => toll.addedMs),
        0.98,
      ),
    ).toBe(0)
    expect(Math.max(...tolls.map((toll) => toll.addedMs))).toBeLessThanOrEqual(210)
    const retries = parts.events.filter((event) => event.type === 'retry').length
    expect(retries).toBeLessThanOrEqual(Math.max(MIN_RETRIES_PER_MINUTE, REQUESTS * RETRY_SHARE))
  })

  test('a dead provider only gets its probes', async () => {
    const { parts } = await storm(STORM, () => ['svc/a', []])
    const calls = parts.events.filter((event) => event.type === 'attempt' && event.provider === 'dead')
    // Twenty to open the circuit, then one probe after 5, 10 and 20 seconds of the 40.
    expect(calls.length).toBeLessThanOrEqual(24)
  })
})

test('with all providers dead no request exceeds its plan, and retries keep to their share', async () => {
  const allDead: Weather = {
    dead: { takesMs: 5, fails: true },
    slow: { takesMs: 5, fails: true },
    sound: { takesMs: 5, fails: true },
  }
  const { parts, tolls } = await storm(allDead, () => ['svc/a', ['svc/b']])
  expect(tolls.some((toll) => toll.answered)).toBe(false)
  const retries = parts.events.filter((event) => event.type === 'retry').length
  const attempts = tolls.reduce((sum, toll) => sum + toll.attempts, 0)
  expect(attempts).toBe(3 * REQUESTS + retries)
  expect(retries).toBeLessThanOrEqual(Math.max(MIN_RETRIES_PER_MINUTE, REQUESTS * RETRY_SHARE))
})
