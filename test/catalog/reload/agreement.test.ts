/** Agreement of processes on a catalogue, over a real Redis: processes that die, start late, were away, or propose together. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { startCluster } from '@test/ledger/cluster-stores'
import { catalogOf, modelOf, providerOf } from '@test/routing/world'
import { COMMAND_TIMEOUT_MS, startRedis, type TestServer } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import { hashCatalog } from '@/catalog/changes'
import type { CatalogReading } from '@/catalog/reload/catalog-file'
import { reloadGateways } from '@/catalog/reload/coordinate'
import { createReloadExchange, type ReloadExchange } from '@/catalog/reload/exchange'
import { createLiveCatalog } from '@/catalog/reload/live-catalog'
import { createReloadParticipant, type ReloadParticipant } from '@/catalog/reload/participant'
import type { Catalog } from '@/catalog/types'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { systemClock } from '@/lib/clock'
import { createLogger } from '@/lib/logger'

const selling = (id: string) => catalogOf([modelOf(id, [providerOf('p1')])])
const OLD = selling('svc/old')
const NEW = selling('svc/new')
const logger = createLogger({ level: 'error', write: () => undefined, service: 'test' })

let server: TestServer
let redis: RedisClient
let exchange: ReloadExchange
const running: ReloadParticipant[] = []

beforeAll(async () => {
  server = await startRedis()
  redis = connectRedis(server.url, { logger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(redis, PATIENCE_MS)
  exchange = createReloadExchange((text, name, args) => redis.eval(text, 1, name, ...args))
})
beforeEach(() => redis.flushall())
afterEach(async () => {
  await Promise.all(running.splice(0).map((participant) => participant.stop()))
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

type Process = { participant: ReloadParticipant; file: { now: Catalog | undefined }; sells(): string[] }

/** A process that uses `OLD`, and whose file says `says`. */
function join(gateway: string, says: Catalog | undefined, isListening = true): Process {
  const catalog = createLiveCatalog(OLD)
  const file = { now: says }
  const hashOf = (one: Catalog) => hashCatalog(one, false)
  const read = async (): Promise<CatalogReading> =>
    file.now
      ? { kind: 'loaded', catalog: file.now, hash: hashOf(file.now) }
      : { kind: 'refused', faults: [{ place: 'models', message: 'is missing' }] }
  const participant = createReloadParticipant({
    ...{ exchange, catalog, gateway, clock: systemClock, logger },
    file: { read, hashOf },
    learnSecrets: () => undefined,
  })
  if (isListening) {
    running.push(participant)
    participant.start()
  }
  return { participant, file, sells: () => [...catalog.current.models.keys()] }
}

const present = (count: number) => until(async () => (await exchange.members()).length === count, 'all to be there')

test('a reload of one gateway does not change the others', async () => {
  const [one, other] = [join('a', NEW), join('b', NEW)]
  await present(2)
  await one.participant.reload()
  expect([one.sells(), other.sells()]).toEqual([['svc/new'], ['svc/old']])
})

test('a process that was disconnected uses the agreed catalogue if its file is the same', async () => {
  const [one, away, astray] = [join('a', NEW), join('b', NEW, false), join('c', OLD, false)]
  await present(1)
  expect(await reloadGateways({ exchange, gateway: null })).toMatchObject({ kind: 'agreed' })
  expect([one.sells(), away.sells()]).toEqual([['svc/new'], ['svc/old']])
  for (const { participant } of [away, astray]) {
    running.push(participant)
    participant.start()
  }
  await until(() => away.sells()[0] === 'svc/new', 'the latecomer to follow')
  await until(() => astray.participant.state().reloads.missed === 1, 'the other one to say that it cannot')
  expect(astray.sells()).toEqual(['svc/old'])
})

test('two concurrent reloads run one after the other, and both succeed', async () => {
  const [one, other] = [join('a', NEW), join('b', NEW)]
  await present(2)
  await Promise.all([one.participant.reload(), other.participant.reload()])
  expect([one.sells(), other.sells()]).toEqual([['svc/new'], ['svc/new']])
})

test('a process that has just started takes part in a reload', async () => {
  const one = join('a', NEW, false)
  const reloading = one.participant.reload()
  await until(async () => (await redis.hlen('routing:catalog')) === 2, 'its proposal, and its word that it lives')
  running.push(one.participant)
  one.participant.start()
  await reloading
  expect(one.sells()).toEqual(['svc/new'])
})

test('the proposal of a killed process expires, and later reloads work', async () => {
  const one = join('a', NEW)
  await present(1)
  expect(await exchange.propose({ id: 'orphan', gateway: null })).toBe(true)
  await until(async () => (await exchange.members())[0]?.answer?.kind === 'ready', 'the answer')
  expect(await reloadGateways({ exchange, gateway: null })).toMatchObject({ kind: 'agreed' })
  expect(one.sells()).toEqual(['svc/new'])
})

test('a reload’s proposal stays valid while its process waits for the answers of others', async () => {
  const proposal = { id: 'slow', gateway: null }
  const [first, again] = [await exchange.propose(proposal), await exchange.propose(proposal)]
  expect([first, again, await exchange.propose({ ...proposal, id: 'other' })]).toEqual([true, true, false])
  const openMs = Number((await redis.hget('routing:catalog', 'proposal'))?.split('|')[0])
  await until(async () => {
    await exchange.propose(proposal)
    return Number((await redis.hget('routing:catalog', 'proposal'))?.split('|')[0]) > openMs
  }, 'a longer time')
})

test('a process that dies during a reload delays the reload by its lease at most', async () => {
  const one = join('a', NEW)
  await exchange.beat({ id: 'dead', gateway: 'b', pid: 1, hash: 'x' })
  await present(2)
  const outcome = await reloadGateways({ exchange, gateway: null })
  expect(outcome).toMatchObject({ kind: 'agreed', processes: [{ gateway: 'a', state: 'taken' }] })
  expect(one.sells()).toEqual(['svc/new'])
})

test('a reload whose process died changes nothing', async () => {
  const one = join('a', NEW)
  await present(1)
  const proposal = { id: 'orphan', gateway: null }
  expect(await exchange.propose(proposal)).toBe(true)
  await until(async () => (await exchange.members())[0]?.answer?.kind === 'ready', 'the answer')
  await exchange.decide(proposal, undefined)
  await until(() => one.participant.state().reloads.abandoned === 1, 'the end of it')
  expect(one.sells()).toEqual(['svc/old'])
  expect(await exchange.decide(proposal, hashCatalog(NEW, false))).toBe(false)
})

test('a faulty file at one process stops the reload for all', async () => {
  const [one, other] = [join('a', NEW), join('b', undefined)]
  await present(2)
  const outcome = await reloadGateways({ exchange, gateway: null })
  expect(outcome).toMatchObject({
    kind: 'unagreed',
    processes: [{ state: 'ready' }, { state: 'refused', faults: [{ place: 'models' }] }],
  })
  expect([one.sells(), other.sells()]).toEqual([['svc/old'], ['svc/old']])
  other.file.now = NEW
  expect(await reloadGateways({ exchange, gateway: null })).toMatchObject({ kind: 'agreed' })
})

test('a reload works on a cluster too', async () => {
  const cluster = await startCluster(3)
  const client = connectRedis(cluster.url, { logger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(client, PATIENCE_MS)
  const shared = createReloadExchange((text, name, args) => client.eval(text, 1, name, ...args))
  await shared.beat({ id: 'one', gateway: 'a', pid: 1, hash: 'x' })
  expect(await shared.members()).toEqual([{ id: 'one', gateway: 'a', pid: 1, hash: 'x' }])
  const proposal = { id: 'p', gateway: null }
  expect([await shared.propose(proposal), await shared.propose({ ...proposal, id: 'q' })]).toEqual([true, false])
  expect(await shared.decide(proposal, 'y')).toBe(true)
  const plans = await shared.beat({ id: 'one', gateway: 'a', pid: 1, hash: 'x' })
  expect(plans).toEqual({ proposal: undefined, agreements: [{ ...proposal, hash: 'y' }] })
  await shared.leave('one')
  expect(await shared.members()).toEqual([])
  client.disconnect()
  await cluster.stop()
})

test('a reload’s decision is written last: if the write fails, nothing has changed', async () => {
  const one = join('a', NEW)
  await present(1)
  const agree = async () => {
    throw new Error('no room in the audit log')
  }
  await expect(reloadGateways({ exchange, gateway: null, agree })).rejects.toThrow('no room')
  expect(one.sells()).toEqual(['svc/old'])
  // Nor does it keep the next one waiting.
  expect(await exchange.propose({ id: 'next', gateway: null })).toBe(true)
})
