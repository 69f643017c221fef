/** Two gateways on one Redis share what they learn of a provider's pauses, faults and silence. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  type Script,
  type ScriptedModels,
  silence,
  soundAnswer,
  startScriptedModels,
  status,
} from '@test/gateway/scripted-models'
import { expectAtLeast } from '@test/support/at-least'
import { spend } from '@test/support/delays'
import type { TestGateway } from '@test/support/gateway'
import { COMMAND_TIMEOUT_MS } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import type { UpstreamCall } from '@test/support/upstream'
import { loadCatalog } from '@/catalog/catalog'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { assert } from '@/lib/assert'
import { createLogger } from '@/lib/logger'
import { MIN_SAMPLES } from '@/routing/health/circuit-breaker'
import { providerAddresses } from '@/routing/health/health-exchange'

const FORMAT = 'chat-completions'
/** The patience with a provider that nobody knows; with one that is known, four times what it takes. */
const HEDGE_MS = 200
const SLOW_MS = 1_000
const TIMEOUTS = { connectMs: 2_000, firstByteMs: 20_000, idleMs: 20_000, totalMs: 30_000, hedgeMs: HEDGE_MS }
/** Longer than any load delays what the gateways tell each other. */
const LONG_SECONDS = 120
/** Longer than a request itself waits before it asks again. */
const SHORT_SECONDS = 3
/** As many answers make a provider known. */
const LESSONS = 6
const CROWD = 5

let world: ScriptedModels
let first: TestGateway
let second: TestGateway
let redis: RedisClient
let addresses: ReadonlyMap<string, string>

beforeAll(async () => {
  world = await startScriptedModels({ timeouts: TIMEOUTS })
  first = world.gateway
  second = await first.twin()
  const loaded = loadCatalog(first.catalogText, {})
  assert(loaded.kind === 'loaded', 'the catalogue is the gateways’ own')
  addresses = providerAddresses(loaded.catalog)
  const logger = createLogger({ level: 'error', write: () => undefined, service: 'test' })
  redis = connectRedis(first.stores.redisUrl, { logger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(redis, PATIENCE_MS)
})
afterAll(async () => {
  redis.disconnect()
  await first.stop()
})

/** A limit that binds all accounts. */
const SPENT = { 'x-ratelimit-remaining-requests': '0' }

const soundly: Script = (call: UpstreamCall) => soundAnswer(FORMAT, call.body.stream === true)

const ask = (at: TestGateway, model: string, fallback: string[] = [], stream = false) =>
  world.ask({ at, format: FORMAT, model, fallback, stream })

/** Resolves once the second gateway has read all that the first one wrote until now: a key that rests is read last. */
async function untilHeard(): Promise<void> {
  // A gateway that nobody asks reads the notes every five seconds.
  const marker = world.modelWith(FORMAT, status(429, { ...SPENT, 'retry-after': String(LONG_SECONDS) }))
  await ask(first, marker)
  const provider = `${marker.slice(4)}/`
  await until(
    () => [...second.gateway.deps.router.status().keys.keys()].some((id) => id.startsWith(provider)),
    'the second gateway to read the notes',
  )
}

function stateAt({ gateway }: TestGateway, model: string): string | undefined {
  const circuit = gateway.deps.router.status().circuits.find(({ id }) => id.startsWith(`${model.slice(4)}/`))
  return circuit && `${circuit.state}${circuit.isAdopted ? ', adopted' : ''}`
}

/** A model that asks for a pause at its first call, and is sound at every other. */
function resting(code: number, seconds: number): { model: string; calls: () => number } {
  let calls = 0
  const pause = status(code, { 'retry-after': String(seconds), ...SPENT })
  const model = world.modelWith(FORMAT, (call) => (calls++ === 0 ? pause(call) : soundly(call)))
  return { model, calls: () => calls }
}

test.concurrent.each([429, 503])(
  'a pause that a provider requests by a %p at one gateway applies at the other',
  async (code) => {
    const { model, calls } = resting(code, LONG_SECONDS)
    const fallback = world.modelWith(FORMAT, soundly)
    expect((await ask(first, model)).response.headers.get('retry-after')).toBe(String(LONG_SECONDS))
    await untilHeard()
    const { response, text } = await ask(second, model)
    expect(response.status).toBe(503)
    expect(JSON.parse(text).error.code).toBe('provider_resting')
    expect(Number(response.headers.get('retry-after'))).toBeWithin(1, LONG_SECONDS + 1)
    const other = await ask(second, model, [fallback])
    expect([other.response.status, other.response.headers.get('x-svc-model')]).toEqual([200, fallback])
    expect(other.response.headers.get('x-svc-attempts')).toBe('1')
    expect(calls()).toBe(1)
  },
)

test.concurrent.each([429, 503])(
  'a pause that a provider requested by a %p at one gateway also ends at the other',
  async (code) => {
    const { model, calls } = resting(code, SHORT_SECONDS)
    await expectAtLeast(SHORT_SECONDS * 1000, async () => {
      await ask(first, model)
      await untilHeard()
      await until(async () => (await ask(second, model)).response.status === 200, 'the pause to end')
    })
    expect(calls()).toBe(2)
  },
)

test.concurrent('if a circuit opened at one gateway, each gateway makes one call at a time until one is answered', async () => {
  let respond: Script = status(404)
  let calls = 0
  const model = world.modelWith(FORMAT, (call) => {
    calls++
    return respond(call)
  })
  for (let call = 0; call < MIN_SAMPLES; call++) await ask(first, model)
  await until(() => stateAt(second, model) === 'open, adopted', 'the other to hear of it')
  const answer = Promise.withResolvers<void>()
  respond = async (call) => {
    await answer.promise
    return soundly(call)
  }
  calls = 0
  const codes: unknown[] = []
  const crowd = [first, second].flatMap((gateway) =>
    Array.from({ length: CROWD }, async () => {
      const { response, text } = await ask(gateway, model)
      codes.push(response.status === 200 ? 200 : JSON.parse(text).error.code)
    }),
  )
  await until(() => codes.length === 2 * (CROWD - 1), 'all but one at each gateway to be refused')
  expect(codes).toEqual(Array(codes.length).fill('provider_resting'))
  expect(calls).toBe(2)
  answer.resolve()
  await Promise.all(crowd)
  expect(codes.slice(-2)).toEqual([200, 200])
  await until(() => stateAt(first, model) === 'closed' && stateAt(second, model) === 'closed', 'both to close')
  const after = await Promise.all([first, second].map((gateway) => ask(gateway, model)))
  expect(after.map(({ response }) => response.status)).toEqual([200, 200])
})

test.concurrent('a provider’s usual response time, measured at one gateway, is known at the other', async () => {
  let isSilent = true
  const model = world.modelWith(FORMAT, async (call) => {
    if (isSilent) return silence(call)
    await spend(SLOW_MS)
    return soundly(call)
  })
  const fallback = world.modelWith(FORMAT, soundly)
  const askSecond = async () => {
    const answers = await Promise.all([true, false].map((stream) => ask(second, model, [fallback], stream)))
    return answers.map(({ response }) => response.headers.get('x-svc-model'))
  }
  expect(await askSecond()).toEqual([fallback, fallback])
  isSilent = false
  const lessons = [true, false].flatMap((stream) =>
    Array.from({ length: LESSONS }, () => ask(first, model, [], stream)),
  )
  await Promise.all(lessons)
  const provider = model.slice(4)
  const notedAs = (kind: string) => `${addresses.get(provider)} ${kind}:${provider}/${provider}`
  await until(
    async () =>
      (await redis.hmget('routing:health', notedAs('stream'), notedAs('whole'))).every((note) => note !== null),
    'the first to tell what it learned',
  )
  await untilHeard()
  expect(await askSecond()).toEqual([model, model])
})
