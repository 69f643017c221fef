/** Scripts that only run on a verified Redis, and that each attempt is verified again. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from '@test/ledger/harness'
import { startRedis, type TestServer } from '@test/support/stores'
import { Redis } from 'ioredis'
import { SCRIPTS, type Script, script } from '@/ledger/scripts/scripts'
import { accountName } from '@/ledger/store/names'
import { createScriptRunner } from '@/ledger/store/script-runner'
import { assert } from '@/lib/assert'

const NAME = accountName('acct')
const WRITES: Script = { ...script('probe', 'write', [], "return call('INCR', KEYS[1])"), trusts: true }

let server: TestServer
let redis: Redis
beforeAll(async () => {
  server = await startRedis()
  const client = await connect(server.url)
  assert(client instanceof Redis, 'one server')
  redis = client
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

/** A runner whose store is verified for the first `times` sends, and then no more. */
function createRunner(times: number) {
  let sends = 0
  const verifier = {
    verified: () => (sends++ < times ? redis : undefined),
    ensure: () => Promise.reject(new Error('another store')),
  }
  return createScriptRunner(redis, 5_000, undefined, verifier)
}

test('a script that relies on Redis’ figures is not sent to a Redis that was not compared with Postgres', async () => {
  await redis.del(NAME)
  await expect(createRunner(0).run(WRITES, [NAME], [])).rejects.toMatchObject({ kind: 'overloaded' })
  expect(await redis.exists(NAME)).toBe(0)
})

test('a script that Redis has lost is sent again with its text only if Redis is still verified', async () => {
  await redis.del(NAME)
  await redis.script('FLUSH')
  const answers = await Promise.allSettled([1, 2].map(() => createRunner(1).run(WRITES, [NAME], [])))
  expect(answers).toMatchObject([1, 2].map(() => ({ reason: { kind: 'overloaded' } })))
  expect(await redis.exists(NAME)).toBe(0)
  const runner = createRunner(Number.POSITIVE_INFINITY)
  expect((await Promise.all([1, 2, 3].map(() => runner.run(WRITES, [NAME], [])))).sort()).toEqual([1, 2, 3])
})

test('all scripts rely on Redis’ figures, except those that decide nothing or write values valid after any loss', () => {
  const others = Object.entries(SCRIPTS).filter(([, { trusts }]: [string, Script]) => !trusts)
  expect(others.map(([name]) => name).sort()).toEqual([
    ...['acknowledge', 'credit', 'due', 'epoch', 'probe', 'release', 'releaseInBudgets', 'renew', 'rights'],
    ...['setAccount', 'setKey', 'settle', 'settleInBudgets', 'viewHold'],
  ])
})
