/** If the store's user lacks a right, readiness fails and names it. Slow: each right is removed from and returned to a running gateway. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { readinessOf } from '@test/support/readiness'
import { asGateway, COMMAND_TIMEOUT_MS, freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { Glob } from 'bun'
import { Redis } from 'ioredis'
import acl from '#deploy/redis/gateway.acl' with { type: 'text' }
import { neededRights } from '@/boot/readiness/needed-rights'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { LEDGER_RIGHTS } from '@/ledger/store-rights'
import { createStoreWatch } from '@/ledger/store-watch'
import { createLogger } from '@/lib/logger'

const ROOT = join(import.meta.dir, '..', '..', '..')
const RIGHTS = [...LEDGER_RIGHTS, ...neededRights({ hasIdempotencyKeys: true })]
const commandOf = (line: string) => {
  const [command = '', subcommand] = line.toLowerCase().split(' ')
  return ['xgroup', 'xinfo'].includes(command) ? `${command}|${subcommand}` : command
}
const COMMANDS = [...new Set([...RIGHTS.map(({ line }) => commandOf(line)), 'eval', 'evalsha'])]
const FAMILIES = [...new Set(RIGHTS.map(({ family }) => (family === '' ? '{l*}:*' : `${family}*`)))]
const OPTIONAL = new Set(RIGHTS.filter(({ isOptional }) => isOptional).map(({ line }) => commandOf(line)))
for (const { line, isOptional } of RIGHTS) if (!isOptional) OPTIONAL.delete(commandOf(line))

let redis: TestServer
let admin: Redis
let client: RedisClient
let gateway: TestGateway

beforeAll(async () => {
  redis = await startRedis()
  admin = new Redis(redis.url)
  const logger = createLogger({ level: 'error', write: () => undefined, service: 'svc' })
  client = connectRedis(asGateway(redis.url), { logger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(client, PATIENCE_MS)
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello')),
    redisUrl: redis.url,
    databaseUrl: await freshDatabase(),
    environment: { LOG_LEVEL: 'warn' },
  })
})
afterAll(async () => {
  await gateway.stop()
  client.disconnect()
  admin.disconnect()
  await redis.stop()
})

const setUser = (...rules: string[]) => admin.call('ACL', 'SETUSER', 'svc', ...rules)
const restore = () => setUser('resetkeys', ...acl.trim().split(' '))

const readiness = () => readinessOf(gateway.url)

/** What a paid request meets: in a store that knows nothing, neither its account nor any script. */
async function payAnew(key: string): Promise<number[]> {
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'svc/alpha', ...body }),
    })
    await response.text()
    return response.status
  }
  const chat = { messages: [{ role: 'user', content: 'Hi' }] }
  return [
    await post('/v1/chat/completions', chat),
    await post('/v1/chat/completions', chat, { 'idempotency-key': crypto.randomUUID() }),
    await post('/v1/responses', { input: 'Hi' }),
  ]
}

async function emptied(): Promise<string> {
  const { key } = await gateway.customer('1')
  await until(async () => (await gateway.gateway.deps.ledger.unsyncedRecordCount()) === 0, 'the records to be booked')
  await admin.flushall()
  await admin.script('FLUSH')
  return key
}

/** Takes a right away and asks as a customer does; if that fails for want of the store, readiness has to name the right. */
async function without(take: () => Promise<unknown>, rule: string): Promise<boolean> {
  await until(async () => (await readiness()).status === 200, 'the gateway to be ready')
  const key = await emptied()
  await take()
  try {
    const statuses = await payAnew(key)
    for (const status of statuses) expect([200, 503]).toContain(status)
    if (!statuses.includes(503)) return false
    const { status, reasons } = await readiness()
    expect({ rule, status, reasons }).toMatchObject({
      status: 503,
      reasons: { redis_writes: expect.stringContaining(rule) },
    })
    return true
  } finally {
    await restore()
  }
}

test('each missing Redis command that a paid request needs is reported by name', async () => {
  const refused: string[] = []
  for (const command of COMMANDS) {
    if (await without(() => setUser(`-${command}`), `+${command}`)) refused.push(command)
  }
  expect(refused).toEqual(expect.arrayContaining(['info', 'eval', 'evalsha', 'mget', 'mset', 'zadd', 'time', 'zcard']))
  expect(refused.filter((command) => OPTIONAL.has(command))).toEqual([])
})

test('each missing kind of Redis key is reported by name', async () => {
  const refused: string[] = []
  for (const family of FAMILIES) {
    const others = FAMILIES.filter((other) => other !== family).map((other) => `~${other}`)
    if (await without(() => setUser('resetkeys', ...others), `~${family}`)) refused.push(family)
  }
  expect(refused).toEqual(expect.arrayContaining(['{l*}:*', 'idempotency:*']))
})

test.each(['@read', '@write', '@scripting', '@hash', '@stream'])(
  'a missing category of Redis commands (%s) is reported too',
  async (category) => {
    expect(await without(() => setUser(`-${category}`), '+')).toBe(true)
  },
)

test('each new connection checks all Redis rights, also those that no request has needed yet', async () => {
  const logger = createLogger({ level: 'error', write: () => undefined, service: 'svc' })
  const rights = neededRights({ hasIdempotencyKeys: true })
  const look = async () => {
    const watch = createStoreWatch({ redis: client, logger, fullShare: 1, rights })
    const state = await watch.look()
    await watch.stop()
    return state
  }
  expect(await look()).toMatchObject({ fault: undefined, missing: { required: [], optional: [] } })
  for (const command of COMMANDS) {
    await setUser(`-${command}`)
    const { fault, missing } = await look()
    await restore()
    const kind = OPTIONAL.has(command) ? 'optional' : 'required'
    expect({ command, missing }).toMatchObject({ missing: { [kind]: [`+${command}`] } })
    expect(fault).toBe(kind === 'required' ? 'forbidden' : undefined)
  }
  for (const family of FAMILIES) {
    await setUser('resetkeys', ...FAMILIES.filter((other) => other !== family).map((other) => `~${other}`))
    const { missing } = await look()
    await restore()
    expect([...missing.required, ...missing.optional]).toEqual([`~${family}`])
  }
})

test('the checked Redis rights are those that the code uses and the files of deploy/ grant', async () => {
  await payAnew(await emptied())
  await until(async () => (await gateway.gateway.deps.ledger.unsyncedRecordCount()) === 0, 'the records to be booked')
  const used = [...(await admin.info('commandstats')).matchAll(/^cmdstat_(\S+?):/gm)].map(([, name = '']) => name)
  const administration = [
    'acl|setuser',
    'flushall',
    'script|flush',
    'auth',
    'client|setname',
    'client|setinfo',
    'hello',
    'ping',
  ]
  expect(used.filter((name) => ![...COMMANDS, ...administration].includes(name))).toEqual([])
  expect(
    acl
      .split(' ')
      .flatMap((rule) => (rule.startsWith('~') ? [rule.slice(1)] : []))
      .sort(),
  ).toEqual(FAMILIES.sort())
})

test('each Redis command of a Lua script is a checked right', async () => {
  const called = new Set<string>()
  for (const path of new Glob('src/**/*.lua').scanSync(ROOT)) {
    const text = await Bun.file(join(ROOT, path)).text()
    for (const [, name = ''] of text.matchAll(/\bcall\('([A-Z]+)'/g)) called.add(name.toLowerCase())
  }
  expect(called.size).toBeGreaterThan(30)
  expect([...called].filter((name) => !COMMANDS.includes(name))).toEqual([])
})

test('checking Redis rights writes nothing', async () => {
  // One that no gateway asks, whose other workers come when they like.
  const quiet = await startRedis()
  const logger = createLogger({ level: 'error', write: () => undefined, service: 'svc' })
  const looker = connectRedis(asGateway(quiet.url), { logger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(looker, PATIENCE_MS)
  const watch = createStoreWatch({ redis: looker, logger, fullShare: 1 })
  await watch.look()
  await watch.stop()
  looker.disconnect()
  const teller = new Redis(quiet.url)
  const used = await teller.info('commandstats')
  teller.disconnect()
  await quiet.stop()
  expect(used).toContain('cmdstat_eval:')
  // What only the look at rights names; the probe beside it writes to names of its own.
  expect(used).not.toMatch(/cmdstat_(del|xgroup\|create|xreadgroup):calls=[1-9]/)
})
