/** A Redis written by another version: start and commands end with one line and change nothing. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { asGateway, freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { Redis } from 'ioredis'
import { ALL_SHARDS } from '@/ledger/store/all-shards'
import { metaName } from '@/ledger/store/names'
import { spawnGateway } from './process'

const ADMIN = [process.execPath, join(import.meta.dir, '..', '..', 'src', 'cli', 'main.ts')]

let server: TestServer
let redis: Redis
let environment: Record<string, string>

beforeAll(async () => {
  server = await startRedis()
  redis = new Redis(server.url)
  environment = { REDIS_URL: server.url, DATABASE_URL: asGateway(await freshDatabase()), PORT: '0' }
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

async function content(): Promise<(string | Buffer | null)[][]> {
  const names = (await redis.keys('*')).sort()
  return Promise.all(names.map(async (name) => [name, await redis.dumpBuffer(name)]))
}

async function endOf(command?: string[]): Promise<{ code: number | null; output: string }> {
  const started = spawnGateway(environment, undefined, command)
  return { code: await started.exited(), output: started.output().trim() }
}

test.each([
  ['hashes', { shards: '64' }, 'a version before 1.0'],
  ['packed strings', { shards: '64 packed' }, 'a version before 1.0'],
  ['a layout of a newer version', { layout: '2' }, 'a newer version'],
])('the start refuses a store in %s and does not change it', async (_, words, version) => {
  await redis.flushall()
  for (const shard of ALL_SHARDS) await redis.hset(metaName(shard), { identity: 'a', epoch: 'b', ...words })
  await redis.hset('{l5}:account:acct_1', { status: 'active', available: '5' })
  const before = await content()
  const expected = `Redis holds balances of ${version}, which this version cannot read.`
  const start = await endOf()
  const said = start.output.split('\n').filter((line) => !line.startsWith('{'))
  expect({ code: start.code, lines: said.length }).toEqual({ code: 1, lines: 1 })
  expect(said[0]).toStartWith(expected)
  const command = await endOf([...ADMIN, 'ledger', 'check'])
  expect(command.code).toBe(2)
  expect(command.output).toContain(expected)
  expect(await content()).toEqual(before)
})
