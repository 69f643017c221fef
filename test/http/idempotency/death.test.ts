/** A gateway dies with a claimed idempotency key, at each step of the request: the outcome of the hold decides what a repetition gets. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, spawnGateway } from '@test/boot/process'
import { readStored } from '@test/ledger/store/stored'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, chatStream, liveStream, usageOf } from '@test/support/upstream'
import { Redis } from 'ioredis'
import { holdName } from '@/ledger/store/names'
import { codeOf, send, settledBalance } from './repeated'

const COST = 10 * 1_000 + 5 * 2_000
const EVENTS = chatStream(['one ', 'two ', 'three'], usageOf(10, 5)).map(
  (event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`,
)

/** Longer than a busy machine keeps a gateway from renewing. */
const HOLD_TTL_MS = '10000'

const live = liveStream()
/** Outlives the others, and answers what they left behind. */
let heir: TestGateway
let folder: string
let redis: Redis
const children: ReturnType<typeof spawnGateway>[] = []

beforeAll(async () => {
  heir = await startGateway({
    respond: ({ body }) => (body.stream ? live.response : Response.json(chatCompletion('Heir', usageOf(10, 5)))),
    environment: { HOLD_TTL_MS },
  })
  redis = new Redis(heir.stores.redisUrl)
  folder = await mkdtemp(join(tmpdir(), 'catalog-'))
  await writeFile(join(folder, 'catalog.json'), heir.catalogText)
})
afterAll(async () => {
  for (const child of children) if (!child.hasExited()) child.kill('SIGKILL')
  await Promise.all(children.map((child) => child.exited()))
  redis.disconnect()
  await heir.stop()
  await rm(folder, { recursive: true })
})

/** A gateway of its own process; `crashAt` is where it dies by itself. */
async function mortal(crashAt?: string) {
  const child = spawnGateway({
    CATALOG: join(folder, 'catalog.json'),
    PORT: '0',
    REDIS_URL: heir.stores.redisUrl,
    DATABASE_URL: heir.stores.databaseUrl,
    REDIS_COMMAND_TIMEOUT_MS: '10000',
    HOLD_TTL_MS,
    ...(crashAt !== undefined && { CRASH_AT: crashAt }),
  })
  children.push(child)
  return { child, url: await addressOf(child) }
}

/** Asks the heir until the key is no longer in use. */
async function askHeir(wish: Parameters<typeof send>[1]) {
  return until(async () => {
    const response = await send(heir, wish)
    const code = response.status === 409 ? await codeOf(response) : undefined
    if (code === 'idempotency_key_in_use') {
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      return undefined
    }
    return { status: response.status, code, isReplay: response.headers.get('idempotent-replayed') !== null }
  }, 'the key to be decided')
}

const ANSWERED = { status: 200, code: undefined, isReplay: false }
const LOST = { status: 409, code: 'idempotency_answer_lost', isReplay: false }

test.concurrent.each([
  ['claimed', ANSWERED, 1],
  ['reserved', ANSWERED, 1],
  ['settled', LOST, 1],
])('after a gateway died with a request %s, another gateway decides the key once', async (point, outcome, records) => {
  const { child, url } = await mortal(point)
  const customer = await heir.customer('1')
  const wish = { key: customer.key, idempotencyKey: `dead-when-${point}` }
  await expect(send(heir, { ...wish, url })).rejects.toThrow()
  await child.exited()
  expect(await askHeir(wish)).toEqual(outcome)
  expect(await askHeir(wish)).toEqual(outcome.status === 200 ? { ...outcome, isReplay: true } : outcome)
  expect(await paid(customer, records)).toBe(COST)
})

test.concurrent('if a gateway dies within a stream, the last renewed cost is charged, and the key is used up', async () => {
  const { child, url } = await mortal()
  const customer = await heir.customer('1')
  for (const event of EVENTS.slice(0, 2)) live.write(event)
  const wish = { key: customer.key, idempotencyKey: 'dead-in-the-middle', stream: true }
  const answer = await send(heir, { ...wish, url })
  const hold = holdName(customer.accountId, String(answer.headers.get('x-request-id')))
  await until(async () => (await readStored(redis, 'hold', hold))?.reached === '1', 'a renewal')
  child.kill('SIGKILL')
  await answer.text().catch(() => undefined)
  expect(await askHeir(wish)).toEqual(LOST)
  expect(heir.upstream.calls.filter(({ body }) => body.stream)).toHaveLength(1)
  expect(await paid(customer, 1)).toBeGreaterThan(0)
})

async function paid(customer: Customer, records: number): Promise<number> {
  const balance = await settledBalance(heir, customer)
  expect(balance.records).toBe(records)
  return balance.spent
}
