/** The watch detects a Redis that answers but accepts no writes, and one that is almost full. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { asGateway, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import { FORBIDDEN_EVENT, type RedisClient } from '@/ledger/store/connection'
import { createStoreWatch, type StoreWatch } from '@/ledger/store-watch'
import { type ClusterNode, startCluster } from './cluster-stores'
import { connect, createBench, memoryLogger, request } from './harness'

const ACCOUNT = 'acct_1'
const LIMIT = 60 * 1024 * 1024
let server: TestServer
let admin: RedisClient
let redis: RedisClient
let watch: StoreWatch
let logger: ReturnType<typeof memoryLogger>

beforeAll(async () => {
  server = await startRedis()
  admin = await connect(server.url)
  redis = await connect(asGateway(server.url))
})
beforeEach(() => {
  logger = memoryLogger()
  watch = createStoreWatch({ redis, logger, fullShare: 0.9 })
})
afterEach(() => watch.stop())
afterAll(async () => {
  admin.disconnect()
  redis.disconnect()
  await server.stop()
})

/** What the watch says within its own pace. */
async function becomes(fault: string | undefined): Promise<void> {
  await until(async () => (await watch.look()).fault === fault, `the fault ${fault}`)
}

/** Each state ends with the store sound again, and the watch with it. */
async function whileIt(begin: () => Promise<unknown>, end: () => Promise<unknown>, fault: string): Promise<void> {
  await becomes(undefined)
  expect(watch.isClosedTo(ACCOUNT)).toBe(false)
  await begin()
  try {
    await becomes(fault)
    expect(watch.isClosedTo(ACCOUNT)).toBe(true)
  } finally {
    await end()
  }
  await becomes(undefined)
  expect(watch.isClosedTo(ACCOUNT)).toBe(false)
  expect(logger.lines.map(({ level, event }) => `${level} ${event}`)).toEqual([
    'error store_refuses_requests',
    'info store_takes_requests',
  ])
  expect(logger.lines[0]?.fields).toMatchObject({ fault })
}

describe('the watch detects the state of Redis', () => {
  test('a nearly full Redis refuses new requests, while open ones settle', async () => {
    const limit = () => admin.config('SET', 'maxmemory', String(LIMIT))
    const fill = async () => {
      await limit()
      for (let index = 0; (await usedShare()) < 0.95; index++) await admin.set(`fill:${index}`, 'x'.repeat(100_000))
    }
    const clear = async () => {
      await admin.flushall()
      await admin.config('SET', 'maxmemory', '0')
    }
    await whileIt(
      async () => {
        await fill()
        const bench = createBench(admin)
        const payer = await bench.fund(100)
        expect(await bench.ledger.reserve(request(payer, 10))).toMatchObject({ kind: 'reserved' })
        await until(async () => (await watch.look()).memoryShare > 0.9, 'the share of memory')
      },
      clear,
      'full',
    )
  })

  test('without a maxmemory the machine’s memory is the limit', async () => {
    const total = Number(/^total_system_memory:(\d+)/m.exec(await admin.info('memory'))?.[1])
    const { memoryLimit, memoryShare, fault } = await watch.look()
    expect({ memoryLimit, fault }).toEqual({ memoryLimit: total, fault: undefined })
    expect(memoryShare).toBeGreaterThan(0)
  })

  test('a Redis out of memory is reported', async () => {
    await whileIt(
      async () => {
        watch = createStoreWatch({ redis, logger, fullShare: 1e9 })
        await admin.config('SET', 'maxmemory', '1')
      },
      () => admin.config('SET', 'maxmemory', '0'),
      'out_of_memory',
    )
  })

  test('a Redis that became a replica is reported', async () => {
    await whileIt(
      () => admin.call('REPLICAOF', '127.0.0.1', '1'),
      () => admin.call('REPLICAOF', 'NO', 'ONE'),
      'read_only',
    )
  })

  test('a Redis that cannot write to its disk is reported', async () => {
    const [, folder = ''] = (await admin.config('GET', 'dir')) as string[]
    const inTheWay = join(folder, 'dump.rdb')
    const save = async (isSaved: string) => {
      await admin.call('BGSAVE').catch(() => undefined)
      await until(
        async () =>
          (await admin.info('persistence')).includes(`rdb_last_bgsave_status:${isSaved}`) &&
          (await admin.info('persistence')).includes('rdb_bgsave_in_progress:0'),
        'the snapshot to end',
      )
    }
    await whileIt(
      async () => {
        await admin.config('SET', 'save', '3600 1')
        await rm(inTheWay, { force: true })
        await mkdir(join(inTheWay, 'full'), { recursive: true })
        await save('err')
      },
      async () => {
        await rm(inTheWay, { recursive: true })
        await save('ok')
        await admin.config('SET', 'save', '')
      },
      'disk_error',
    )
  })

  test('a Redis whose policy can evict balances is reported', async () => {
    await whileIt(
      () => admin.config('SET', 'maxmemory', '1gb', 'maxmemory-policy', 'allkeys-lru'),
      () => admin.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction'),
      'may_evict',
    )
  })

  test.each(['xadd', 'zadd', 'evalsha', 'info'])(
    'a store user without the right to %s is reported',
    async (command) => {
      await whileIt(
        () => admin.call('ACL', 'SETUSER', 'svc', `-${command}`),
        () => admin.call('ACL', 'SETUSER', 'svc', `+${command}`),
        'forbidden',
      )
    },
  )
})

test('a Redis that does not answer counts as unreachable, and each request tries it again', async () => {
  await becomes(undefined)
  process.kill(server.pid, 'SIGSTOP')
  try {
    await becomes('unreachable')
    expect(watch.isClosedTo(ACCOUNT)).toBe(false)
  } finally {
    process.kill(server.pid, 'SIGCONT')
  }
  await becomes(undefined)
})

test('concurrent checks of the watch read Redis once', async () => {
  await admin.config('RESETSTAT')
  await Promise.all(Array.from({ length: 200 }, () => watch.look()))
  for (let index = 0; index < 50; index++) await watch.look()
  expect(await admin.info('commandstats')).toMatch(/cmdstat_evalsha:calls=1,/)
})

describe('how often the watch checks', () => {
  /** So short that a watch which went on at it would be seen at once, and so long that nobody lives to see it. */
  const pace = { intervalMs: 5, idleIntervalMs: 3_600_000 }
  const ROUND_TRIPS = 2_000
  const probes = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0)
  const seen = (count: number) => until(async () => (await probes()) >= count, `${count} looks`)
  /** How many looks there were once the store has answered so many other questions. */
  async function probesLater(): Promise<number> {
    for (let index = 0; index < ROUND_TRIPS; index++) await admin.ping()
    return probes()
  }

  beforeEach(async () => {
    await watch.look()
    await watch.stop()
    watch = createStoreWatch({ redis, logger, fullShare: 0.9, ...pace })
    await admin.config('RESETSTAT')
  })

  test('while Redis is healthy and no request comes, one check is followed by a long pause', async () => {
    watch.start()
    await seen(1)
    expect(await probesLater()).toBe(1)
  })

  test('a request ends the long pause between checks, and repeated requests keep the checks frequent', async () => {
    watch.start()
    await seen(1)
    watch.isClosedTo(ACCOUNT)
    const later = await until(async () => {
      watch.isClosedTo(ACCOUNT)
      return (await probes()) >= 3
    }, 'looks while requests come')
    expect(later).toBe(true)
  })

  test('a command refused for a missing right ends the long pause between checks', async () => {
    watch.start()
    await seen(1)
    redis.emit(FORBIDDEN_EVENT)
    await seen(2)
  })

  test('while Redis is unhealthy, checks are frequent until it is repaired', async () => {
    watch.start()
    await seen(1)
    await admin.call('REPLICAOF', '127.0.0.1', '1')
    watch.isClosedTo(ACCOUNT)
    await until(() => watch.isClosedTo(ACCOUNT), 'the account to be closed')
    await admin.call('REPLICAOF', 'NO', 'ONE')
    // Nobody asks meanwhile: it looks by itself.
    await until(() => watch.state().partFault === undefined, 'the store to be sound again')
  })
})

test('the watch’s test write uses every write command of the ledger’s scripts', () => {
  const commandsOf = (text: string) => new Set([...text.matchAll(/\bcall\('([A-Z]+)'/g)].map(([, name]) => name))
  const probed = commandsOf(SCRIPTS.probe.text)
  const used = Object.values(SCRIPTS).flatMap(({ text }) => [...commandsOf(text)])
  expect(used.filter((name) => !probed.has(name))).toEqual([])
})

test('in a cluster, a node without memory closes only the accounts of that node', async () => {
  const cluster = await startCluster(3)
  const client = await connect(cluster.url)
  const own = createStoreWatch({ redis: client, logger, fullShare: 0.9 })
  try {
    const accounts = Array.from({ length: 60 }, (_, index) => `acct_${index}`)
    const [node] = cluster.nodes as [ClusterNode, ...ClusterNode[]]
    await node.admin.config('SET', 'maxmemory', '1')
    await until(async () => (await own.look()).partFault === 'full', 'the full node')
    expect(own.state().fault).toBeUndefined()
    const closed = accounts.filter((accountId) => own.isClosedTo(accountId))
    expect(closed.length).toBeGreaterThan(0)
    expect(closed.length).toBeLessThan(60)
  } finally {
    await own.stop()
    client.disconnect()
    await cluster.stop()
  }
})

async function usedShare(): Promise<number> {
  const info = await admin.info('memory')
  const [used, uncounted] = ['used_memory', 'mem_not_counted_for_evict'].map((name) =>
    Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]),
  )
  return (Number(used) - Number(uncounted)) / LIMIT
}
