/** The throttle and its script on a real Redis: windows, counts, and an unreachable store. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { COMMAND_TIMEOUT_MS, redisUrl, startRedis } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import { createThrottle, type Limit, type Throttle } from '@/console/auth/throttle'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { createLogger } from '@/lib/logger'
import { refusalOf } from './desk'

const logger = createLogger({ level: 'error', service: 'test', write: () => {} })
const TOO_MANY = { kind: 'rate_limited', code: 'too_many_attempts' }

let redis: RedisClient
let throttle: Throttle

beforeAll(async () => {
  redis = connectRedis(await redisUrl(), { logger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(redis, PATIENCE_MS)
  throttle = createThrottle(redis, async () => 'a secret')
})
afterAll(() => redis.disconnect())

/** A limit that no other test counts against. */
function limit(max: number, changes: Partial<Limit> = {}): Limit {
  return { name: 'test', subject: crypto.randomUUID(), max, seconds: 100, ...changes }
}

/** The one name that counting against `one` adds to the store. */
async function keyOf(one: Limit): Promise<string> {
  const before = new Set(await redis.keys('sign-in:*'))
  await throttle.attempt(one)
  const added = (await redis.keys('sign-in:*')).filter((key) => !before.has(key))
  expect(added).toHaveLength(1)
  return added[0] ?? ''
}

async function attempts(count: number, one: Limit): Promise<unknown[]> {
  return Promise.all(Array.from({ length: count }, () => refusalOf(throttle.attempt(one))))
}

describe('a limit', () => {
  test('a limit admits exactly its number, also concurrently', async () => {
    const outcomes = await attempts(20, limit(7))
    expect(outcomes.filter((outcome) => outcome === 'nothing was refused')).toHaveLength(7)
    expect(outcomes.filter((outcome) => outcome !== 'nothing was refused')).toEqual(Array(13).fill(TOO_MANY))
  })

  test('a limit starts at the first attempt, and further attempts do not prolong it', async () => {
    const one = limit(1)
    const key = await keyOf(one)
    expect(await redis.ttl(key)).toBeWithin(95, 101)
    await redis.expire(key, 40)
    await attempts(3, one)
    expect(await redis.ttl(key)).toBeWithin(30, 41)
  })

  test('a limit starts again after its time', async () => {
    const one = limit(1)
    const key = await keyOf(one)
    expect(await refusalOf(throttle.attempt(one))).toEqual(TOO_MANY)
    await redis.pexpire(key, 1)
    await until(async () => (await redis.exists(key)) === 0)
    await throttle.attempt(one)
    expect(await redis.ttl(key)).toBeWithin(95, 101)
  })

  test('a refusal has the waiting time in whole minutes, at least one', async () => {
    for (const [seconds, minutes] of [
      [1, '1 minute'],
      [55, '1 minute'],
      [90, '2 minutes'],
      [600, '10 minutes'],
    ] as const) {
      const one = limit(0, { seconds })
      const failure = throttle.attempt(one)
      await expect(failure).rejects.toThrow(`Too many attempts. Try again in ${minutes}.`)
      const error = await failure.catch((thrown) => thrown)
      expect(error.options.retryAfterSeconds).toBeWithin(Math.max(1, seconds - 20), seconds + 1)
    }
  })

  test('an attempt above one limit does not count in the limits that are checked after it', async () => {
    const [first, second] = [limit(0), limit(1)]
    expect(await refusalOf(throttle.attempt(first, second))).toEqual(TOO_MANY)
    await throttle.attempt(second)
    expect(await refusalOf(throttle.attempt(second))).toEqual(TOO_MANY)
  })

  test('limits are separate by name and by subject', async () => {
    const one = limit(1)
    await throttle.attempt(one)
    await throttle.attempt({ ...one, name: 'other' })
    await throttle.attempt({ ...one, subject: `${one.subject} ` })
    expect(await refusalOf(throttle.attempt(one))).toEqual(TOO_MANY)
  })

  test('resetting one limit leaves other limits unchanged', async () => {
    const [one, other] = [limit(1), limit(1)]
    await throttle.attempt(one, other)
    await throttle.forgive(one)
    await throttle.attempt(one)
    expect(await refusalOf(throttle.attempt(other))).toEqual(TOO_MANY)
  })
})

describe('the store', () => {
  test('the throttle’s store contains no address and no person’s name', async () => {
    const key = await keyOf(limit(1, { subject: '203.0.113.7 ada@example.test' }))
    expect(key).toMatch(/^sign-in:test:[\w-]{43}$/)
  })

  test('installations with different secrets have separate counts in the throttle', async () => {
    const one = limit(1)
    await throttle.attempt(one)
    await createThrottle(redis, async () => 'another secret').attempt(one)
    expect(await refusalOf(throttle.attempt(one))).toEqual(TOO_MANY)
  })
})

describe('remembered values', () => {
  test('a remembered value has its own name and time', async () => {
    const subject = crypto.randomUUID()
    expect(await throttle.isRemembered('known', subject)).toBe(false)
    const before = new Set(await redis.keys('sign-in:*'))
    await throttle.remember('known', subject, 50)
    expect(await throttle.isRemembered('known', subject)).toBe(true)
    expect(await throttle.isRemembered('other', subject)).toBe(false)
    const [key = ''] = (await redis.keys('sign-in:*')).filter((name) => !before.has(name))
    expect(await redis.ttl(key)).toBeWithin(45, 51)
  })

  test('a remembered value is read once by concurrent readers, and can be written again later', async () => {
    const subject = crypto.randomUUID()
    const takers = await Promise.all(Array.from({ length: 10 }, () => throttle.takeOnce('code', subject, 1)))
    expect(takers.filter((taken) => taken)).toHaveLength(1)
    await until(() => throttle.takeOnce('code', subject, 1))
  })
})

describe('an unreachable store', () => {
  test('without the store every guess and code is refused at once', async () => {
    const server = await startRedis()
    const client = connectRedis(server.url, { logger, commandTimeoutMs: 500 })
    await waitForRedis(client, PATIENCE_MS)
    const away = createThrottle(client, async () => 'a secret')
    await away.remember('known', 'somebody', 100)
    await server.kill()
    const refused = { kind: 'overloaded' }
    expect(await refusalOf(away.attempt(limit(100)))).toEqual(refused)
    expect(await refusalOf(away.takeOnce('code', 'a', 10))).toEqual(refused)
    expect(await away.isRemembered('known', 'somebody')).toBe(false)
    await away.forgive(limit(1))
    await away.remember('known', 'a', 10)
    client.disconnect()
  })
})
