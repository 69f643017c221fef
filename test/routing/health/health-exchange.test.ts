/** Gateways share what they learn of providers through a real Redis. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { catalogOf, modelOf, providerOf } from '@test/routing/world'
import { COMMAND_TIMEOUT_MS, redisUrl, startRedis } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { createLogger } from '@/lib/logger'
import {
  createHealthExchange,
  type HealthExchange,
  type HealthNote,
  providerAddresses,
} from '@/routing/health/health-exchange'

const logger = createLogger({ level: 'error', write: () => undefined, service: 'test' })
const HEALTH_KEY = 'routing:health'
const ADDRESSES = providerAddresses(catalogOf([modelOf('svc/alpha', [providerOf('p1')])]))
const exchanges: HealthExchange[] = []
let redis: RedisClient

beforeAll(async () => {
  redis = connectRedis(await redisUrl(), { logger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(redis, PATIENCE_MS)
  await redis.del(HEALTH_KEY)
})
afterEach(async () => {
  await Promise.all(exchanges.splice(0).map((exchange) => exchange.stop()))
  await redis.del(HEALTH_KEY)
})
afterAll(() => redis.disconnect())

/** A gateway's exchange, and what it heard last. */
function join(gatewayId: string, client: RedisClient = redis, addresses = ADDRESSES, idleIntervalMs = 10) {
  const exchange = createHealthExchange({
    run: (text, key, args) => client.eval(text, 1, key, ...args),
    gatewayId,
    addressOf: (provider) => addresses.get(provider),
    logger,
    ...{ intervalMs: 10, idleIntervalMs },
  })
  exchanges.push(exchange)
  const heard = { notes: [] as HealthNote[], times: 0 }
  exchange.start((notes) => {
    heard.notes = notes
    heard.times++
  })
  return { exchange, heard, note: (subject: string) => heard.notes.find((note) => note.subject === subject) }
}

test('a gateway’s health notes are read by the others, and recognized by itself', async () => {
  const [a, b] = [join('a'), join('b')]
  a.exchange.publish('target:p1/alpha', 'open', 60_000)
  a.exchange.publish('key:p1/k1', 'cooling', 30_000)
  await until(() => b.heard.notes.length === 2, 'both notes at b')
  expect(b.note('target:p1/alpha')).toMatchObject({ state: 'open', isOwn: false })
  expect(b.note('key:p1/k1')).toMatchObject({ state: 'cooling', isOwn: false })
  expect(b.note('key:p1/k1')?.remainingMs).toBeGreaterThan(20_000)
  expect(b.note('key:p1/k1')?.remainingMs).toBeLessThanOrEqual(30_000)
  await until(() => a.note('target:p1/alpha')?.isOwn, 'a’s own note')
})

test('without requests a gateway rarely reads the health notes; a request makes it read the current notes', async () => {
  const a = join('a')
  const b = join('b', redis, ADDRESSES, 3_600_000)
  await until(() => b.heard.times === 1, 'the first read of b')
  a.exchange.publish('target:p1/alpha', 'open', 60_000)
  await until(() => a.note('target:p1/alpha'), 'the note')
  expect(b.heard.times).toBe(1)
  b.exchange.stayClose()
  await until(() => b.note('target:p1/alpha'), 'the note at b')
})

test('the first gateway to open a circuit owns the circuit’s note; only this gateway may withdraw the note', async () => {
  const [a, b] = [join('a'), join('b')]
  a.exchange.publish('target:p1/alpha', 'open', 60_000)
  await until(() => b.note('target:p1/alpha'), 'the note at b')
  b.exchange.publish('target:p1/alpha', 'open', 90_000)
  b.exchange.withdraw('target:p1/alpha')
  const seen = b.heard.times
  await until(() => b.heard.times > seen + 2, 'two more reads')
  expect(b.note('target:p1/alpha')).toMatchObject({ isOwn: false })
  expect(b.note('target:p1/alpha')?.remainingMs).toBeLessThanOrEqual(60_000)
  a.exchange.withdraw('target:p1/alpha')
  await until(() => b.heard.notes.length === 0, 'the note to go')
})

test('the longer pause of a provider key applies, and any gateway may end the pause', async () => {
  const [a, b] = [join('a'), join('b')]
  a.exchange.publish('key:p1/k1', 'cooling', 40_000)
  b.exchange.publish('key:p1/k1', 'cooling', 10_000)
  await until(() => b.note('key:p1/k1'), 'the note')
  expect(b.note('key:p1/k1')?.remainingMs).toBeGreaterThan(30_000)
  b.exchange.publish('key:p1/k1', 'out', 300_000)
  await until(() => a.note('key:p1/k1')?.state === 'out', 'the longer rest')
  a.exchange.withdraw('key:p1/k1')
  await until(() => b.heard.notes.length === 0, 'the note to go')
})

test('an expired health note is ignored and can be replaced', async () => {
  const [a, b] = [join('a'), join('b')]
  a.exchange.publish('target:p1/alpha', 'open', 30)
  await until(async () => (await redis.hlen(HEALTH_KEY)) === 1, 'the note to be there')
  // It may be over before anybody has read it.
  const seen = b.heard.times
  await until(() => b.heard.times > seen + 1 && b.heard.notes.length === 0, 'the note to end')
  b.exchange.publish('target:p1/alpha', 'open', 60_000)
  await until(() => a.note('target:p1/alpha'), 'b’s note at a')
  expect(a.note('target:p1/alpha')?.isOwn).toBe(false)
  expect(await redis.hlen(HEALTH_KEY)).toBe(1)
})

test('one provider name with two addresses is two upstreams', async () => {
  const elsewhere = { ...providerOf('p1'), baseUrl: 'https://elsewhere.example' }
  const [a, b] = [
    join('a'),
    join('b', redis, providerAddresses(catalogOf([modelOf('svc/alpha', [elsewhere, providerOf('p2')])]))),
  ]
  a.exchange.publish('key:p1/k1', 'out', 60_000)
  b.exchange.publish('key:p1/k1', 'cooling', 30_000)
  b.exchange.publish('key:p2/k1', 'out', 30_000)
  await until(() => a.note('key:p1/k1') && b.note('key:p2/k1') && b.note('key:p1/k1'), 'each its own')
  expect([a.note('key:p1/k1')?.state, b.note('key:p1/k1')?.state]).toEqual(['out', 'cooling'])
  expect(a.note('key:p2/k1')).toBeUndefined()
})

test('health notes of another version are ignored', async () => {
  await redis.hset(
    HEALTH_KEY,
    'target:p1/x',
    'nonsense',
    `${ADDRESSES.get('p1')} target:p1/y`,
    `c|melting|${Date.now() + 60_000}`,
  )
  const { heard, exchange } = join('a')
  exchange.publish('key:p1/k1', 'out', 60_000)
  await until(() => heard.notes.length > 0, 'the sound note')
  expect(heard.notes.map((note) => note.subject)).toEqual(['key:p1/k1'])
})

test('while Redis is unreachable no call throws, and the exchange of health notes continues later', async () => {
  const server = await startRedis()
  const client = connectRedis(server.url, { logger, commandTimeoutMs: 500 })
  await waitForRedis(client, PATIENCE_MS)
  const { exchange, heard, note } = join('a', client)
  await until(() => heard.times > 0, 'a first read')
  await server.kill()
  exchange.publish('target:p1/lost', 'open', 60_000)
  exchange.withdraw('target:p1/lost')
  await server.restart()
  await waitForRedis(client, PATIENCE_MS)
  await until(() => {
    exchange.publish('target:p1/alpha', 'open', 60_000)
    return note('target:p1/alpha')
  }, 'the exchange to go on')
  await exchange.stop()
  client.disconnect()
  await server.stop()
})
