/** Two gateways on one Redis: what one learns of a provider's pauses, faults and silence, the other goes by. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import {
  type Script,
  type ScriptedModels,
  soundAnswer,
  startScriptedModels,
  status,
} from '@test/gateway/scripted-models'
import type { TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import type { UpstreamCall } from '@test/support/upstream'
import { loadCatalog } from '@/catalog/catalog'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { assert } from '@/lib/assert'
import { createLogger } from '@/lib/logger'
import { MIN_SAMPLES } from '@/routing/health/circuit-breaker'
import { providerAddresses } from '@/routing/health/health-exchange'

setDefaultTimeout(60_000)

const FORMAT = 'chat-completions'
/** The patience with a provider that nobody knows; with one that is known, four times what it takes. */
const HEDGE_MS = 200
const SLOW_MS = 1_000
const TIMEOUTS = { connectMs: 2_000, firstByteMs: 20_000, idleMs: 20_000, totalMs: 30_000, hedgeMs: HEDGE_MS }
const REST_SECONDS = 3
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
  redis = connectRedis(first.stores.redisUrl, { logger })
  await waitForRedis(redis, 20_000)
})
afterAll(async () => {
  redis.disconnect()
  await first.stop()
})

const soundly: Script = (call: UpstreamCall) => soundAnswer(FORMAT, call.body.stream === true)

const ask = (at: TestGateway, model: string, fallback: string[] = [], stream = false) =>
  world.ask({ at, format: FORMAT, model, fallback, stream })

/** Resolves once the second gateway has read all that the first one wrote until now: a key that rests is read last. */
async function untilHeard(): Promise<void> {
  const marker = world.modelWith(FORMAT, status(429))
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

test.concurrent.each([429, 503])('a pause asked for by a %p at one is kept by the other, to its end', async (code) => {
  const calledAtMs: number[] = []
  const model = world.modelWith(FORMAT, (call) => {
    calledAtMs.push(performance.now())
    return calledAtMs.length > 1 ? soundly(call) : status(code, { 'retry-after': String(REST_SECONDS) })(call)
  })
  const fallback = world.modelWith(FORMAT, soundly)
  expect((await ask(first, model)).response.headers.get('retry-after')).toBe(String(REST_SECONDS))
  await untilHeard()
  const { response, text } = await ask(second, model)
  expect(response.status).toBe(503)
  expect(JSON.parse(text).error.code).toBe('provider_resting')
  expect(Number(response.headers.get('retry-after'))).toBeWithin(1, REST_SECONDS + 1)
  const other = await ask(second, model, [fallback])
  expect([other.response.status, other.response.headers.get('x-svc-model')]).toEqual([200, fallback])
  expect(other.response.headers.get('x-svc-attempts')).toBe('1')
  await until(async () => (await ask(second, model)).response.status === 200, 'the pause to end')
  const [askedMs = 0, againMs = 0, ...more] = calledAtMs
  expect(againMs - askedMs).toBeGreaterThanOrEqual(REST_SECONDS * 1000)
  expect(more).toEqual([])
})

test.concurrent('a circuit that opened at one lets one call at a time through at each, until one is answered', async () => {
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

test.concurrent('how long a provider is usually silent is learned at one and known to the other', async () => {
  const model = world.modelWith(FORMAT, async (call) => {
    await Bun.sleep(SLOW_MS)
    return soundly(call)
  })
  const fallback = world.modelWith(FORMAT, soundly)
  const askSecond = async () => {
    const answers = await Promise.all([true, false].map((stream) => ask(second, model, [fallback], stream)))
    return answers.map(({ response }) => response.headers.get('x-svc-model'))
  }
  expect(await askSecond()).toEqual([fallback, fallback])
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
    20_000,
  )
  await untilHeard()
  expect(await askSecond()).toEqual([model, model])
})
