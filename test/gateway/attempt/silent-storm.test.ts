/**
 * A provider that falls silent under load, in simulated time, with real routers and races of two gateways. Limits
 * times and calls as docs/ROUTING.md states.
 */
import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { createTestAnswer } from '@test/gateway/answer-parts'
import { type SharedHealth, sharedHealth } from '@test/routing/shared-health'
import { catalogOf, modelOf, providerOf, requestOf } from '@test/routing/world'
import { GatewayError } from '@/chat/error'
import { FORMATS } from '@/formats/index'
import type { StartedAnswer } from '@/gateway/attempt/attempt'
import type { OpenAttempt } from '@/gateway/attempt/open-attempt'
import { raceAttempts } from '@/gateway/attempt/race-attempts'
import { systemClock as clock } from '@/lib/clock'
import { createRouter, type Router } from '@/routing/router'
import type { TimeoutPhase } from '@/upstream/failure'

const MINUTE_MS = 60_000
/** Long enough that all targets are known when one falls silent, and its circuit full of good outcomes. */
const WARM_UP_MS = 2 * MINUTE_MS
const ARRIVAL_MS = 50
const STEP_MS = 10
const SYNC_MS = 1_000
/** Turns of the queue of promises that one step takes at most. */
const TURNS = 30
/** All answer in some 300 ms, one of a hundred in 760. */
const MIDDLE_MS = 300
const SPREAD = 0.4

const providers = ['a', 'b', 'c'].map((name) => providerOf(name))
const models = providers.map((provider) => modelOf(`svc/${provider.name}`, [provider]))
const catalog = catalogOf(models)
const SILENT = 'a'
const NEVER = new AbortController().signal

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

type World = {
  routers: Router[]
  health: SharedHealth
  random: () => number
  /** Says nothing from now on. */
  silent: string | undefined
  calls: number
}

type Load = { stream: boolean; share: 'a third' | 'all'; forMs: number }

/** The same numbers each time, evenly spread from 0 to 1. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function tookMs(random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return MIDDLE_MS * Math.exp(SPREAD * normal)
}

function startWorld(): World {
  const random = seeded(7)
  const health = sharedHealth(clock)
  const routers = ['first', 'second'].map((name) =>
    createRouter({ catalog: { current: catalog }, clock, random, exchange: health.join(name) }),
  )
  for (const router of routers) router.start()
  return { routers, health, random, silent: undefined, calls: 0 }
}

/** One call, as the gateway's own attempt tells of it. */
function call(world: World, attempt: OpenAttempt<StartedAnswer>): void {
  const { permit } = attempt
  world.calls++
  const isSilent = permit.planned.target.provider.name === world.silent
  const fail = (phase: TimeoutPhase) =>
    attempt.fail({
      error: new GatewayError('timeout', 'The target was silent.'),
      failed: permit.failed({ kind: 'timeout', phase }),
    })
  const limitMs = permit.planned.target.provider.timeouts.firstByteMs
  const timer = setTimeout(
    () => {
      if (isSilent) return fail('first-byte')
      attempt.begin(ANSWER)
      permit.ended(false)
    },
    isSilent ? limitMs : tookMs(world.random),
  )
  attempt.end = () => {
    clearTimeout(timer)
    if (!attempt.isDropped) return fail('silence')
    permit.abandoned()
  }
}

/** The race looks at no answer's content. */
const ANSWER: StartedAnswer = { kind: 'abandoned', hasSent: false }
const DEPS = { clock, formats: FORMATS, metrics: { thrownAway: () => undefined } }

/** One request, as the gateway finds its answer. Returns after how many milliseconds it had one; undefined if it had none. */
async function ask(world: World, router: Router, first: number, stream: boolean): Promise<number | undefined> {
  const startedMs = clock.monotonic()
  const [model = '', ...fallback] = models.map((_, index) => models[(first + index) % models.length]?.id ?? '')
  const request = requestOf({ model, fallback, stream })
  const plan = await router.plan(request, {
    clientFormat: 'chat-completions',
    session: undefined,
  })
  const failover = router.begin(plan, { accountId: 'acc_1', stream, signal: NEVER })
  const { charge, client } = createTestAnswer()
  const asking = { ...client, ...charge, arrivedAtMs: 0, signal: NEVER }
  try {
    await raceAttempts<StartedAnswer>({
      ...{ deps: DEPS, call: asking, hold: charge.hold, plan, failover },
      begin: (permit, race) => call(world, race.open(permit, { ...charge, request, listener: undefined })),
    })
    return clock.monotonic() - startedMs
  } catch {
    return undefined
  }
}

/** Moves time on, step by step, until nothing is left to happen in each. */
async function pass(forMs: number, world: World, onStep: (nowMs: number) => void = () => undefined): Promise<void> {
  for (let passedMs = 0; passedMs < forMs; passedMs += STEP_MS) {
    onStep(passedMs)
    if (passedMs % SYNC_MS === 0) world.health.sync()
    jest.advanceTimersByTime(STEP_MS)
    for (let turn = 0; turn < TURNS; turn++) await undefined
  }
}

type Answers = (number | undefined)[]

/** Requests arrive evenly, in turn at both gateways; one provider falls silent. Returns the times to answer before and after. */
async function run(world: World, { stream, share, forMs }: Load): Promise<{ healthy: Answers; stormy: Answers }> {
  const asked: { sinceMs: number; answering: Promise<number | undefined> }[] = []
  await pass(WARM_UP_MS + forMs, world, (passedMs) => {
    if (passedMs === WARM_UP_MS) Object.assign(world, { silent: SILENT, calls: 0 })
    if (passedMs % ARRIVAL_MS !== 0) return
    const turn = Math.floor(asked.length / world.routers.length)
    const router = world.routers[asked.length % world.routers.length] as Router
    const answering = ask(world, router, share === 'all' ? 0 : turn % models.length, stream)
    asked.push({ sinceMs: passedMs, answering })
  })
  await pass(MINUTE_MS, world)
  const answersOf = (isStormy: boolean) =>
    Promise.all(asked.filter(({ sinceMs }) => sinceMs >= WARM_UP_MS === isStormy).map(({ answering }) => answering))
  return { healthy: await answersOf(false), stormy: await answersOf(true) }
}

function slowestOfHundred(answers: Answers): number {
  const sorted = answers.map((took) => took ?? Number.POSITIVE_INFINITY).sort((left, right) => left - right)
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.POSITIVE_INFINITY
}

const LOADS: [share: Load['share'], stream: boolean, forMs: number][] = [
  ['a third', true, 10 * MINUTE_MS],
  ['a third', false, 10 * MINUTE_MS],
  ['all', true, 20 * MINUTE_MS],
  ['all', false, 20 * MINUTE_MS],
]

test.each(LOADS)('all are answered soon if %s have a silent target first, stream %p', async (share, stream, forMs) => {
  const world = startWorld()
  const { healthy, stormy } = await run(world, { stream, share, forMs })
  expect(stormy).not.toContain(undefined)
  expect(slowestOfHundred(stormy)).toBeLessThanOrEqual(2 * slowestOfHundred(healthy))
  expect(world.calls).toBeLessThanOrEqual(1.1 * stormy.length)
  for (const router of world.routers) await router.stop()
})
