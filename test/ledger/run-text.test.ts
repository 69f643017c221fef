/** Lua scripts outside the ledger are sent to Redis by their digests. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { COMMAND_TIMEOUT_MS, startRedis, type TestServer } from '@test/support/stores'
import { PATIENCE_MS } from '@test/support/until'
import { runText } from '@/ledger/run-text'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { memoryLogger } from './harness'

const TEXT = "return redis.call('INCRBY', KEYS[1], ARGV[1])"
let server: TestServer
let redis: RedisClient

beforeAll(async () => {
  server = await startRedis()
  redis = connectRedis(server.url, { logger: memoryLogger(), commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(redis, PATIENCE_MS)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

async function calls(command: string): Promise<number> {
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await redis.info('commandstats'))?.[1] ?? 0)
}

test('a script’s text is sent once, and again only to a Redis without it', async () => {
  for (const expected of [2, 4, 6]) expect(await runText(redis, TEXT, ['sum'], [2])).toBe(expected)
  expect(await calls('eval')).toBe(1)
  await redis.script('FLUSH')
  for (const expected of [8, 10]) expect(await runText(redis, TEXT, ['sum'], [2])).toBe(expected)
  expect(await calls('eval')).toBe(2)
})

test('a script error is returned, and the script is not run twice', async () => {
  await redis.set('word', 'no number')
  const before = await calls('incrby')
  await expect(runText(redis, TEXT, ['word'], [1])).rejects.toThrow('not an integer')
  expect((await calls('incrby')) - before).toBe(1)
})
