/**
 * Another Redis without the last writes takes over during calls: no call that relies on an account's figures runs
 * before they are compared with Postgres. Tested for each such call and each kind of change.
 */
import { describe, expect, test } from 'bun:test'
import { type ClusterNode, startCluster } from '@test/ledger/cluster-stores'
import { type Bench, connect, createBench, request, settlement } from '@test/ledger/harness'
import { countTurns } from '@test/support/loop-turns'
import { COMMAND_TIMEOUT_MS, startRedis } from '@test/support/stores'
import { until } from '@test/support/until'
import type { Socket } from 'bun'
import { Redis } from 'ioredis'
import { GatewayError } from '@/chat/error'
import { checkLedger } from '@/ledger/check/check'
import type { Payer } from '@/ledger/outcomes'
import { metaName } from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { nano, ZERO_NANO } from '@/lib/money'

const CREDIT = 1_000
/** Spent after the last write that the other store has. */
const LOST = 800
const LEFT = CREDIT - LOST
/** More than is left, and less than the other store believes. */
const TOO_MUCH = 500

type Call = (bench: Bench, payer: Payer) => Promise<unknown>

/** Each call that trusts an account's figures, and its right answer. */
const TRUSTING: Record<string, { call: Call; answer: object }> = {
  reserve: {
    call: ({ ledger }, payer) => ledger.reserve(request(payer, TOO_MUCH)),
    answer: { kind: 'insufficient', available: LEFT },
  },
  refusalOf: {
    call: ({ ledger }, payer) => ledger.refusalOf(payer, nano(TOO_MUCH)),
    answer: { kind: 'insufficient', available: LEFT },
  },
  withhold: {
    call: ({ ledger }, { accountId }) =>
      ledger.withhold({
        ...{ accountId, entryId: randomId('entry'), amount: nano(TOO_MUCH), ttlMs: 60_000 },
        ...{ allowNegative: false, debits: [] },
      }),
    answer: { kind: 'insufficient', available: LEFT },
  },
  readBalance: {
    call: ({ ledger }, { accountId }) => ledger.readBalance(accountId),
    answer: { available: LEFT, spent: LOST },
  },
  readKey: { call: ({ ledger }, payer) => ledger.readKey(payer), answer: { spentThisMonth: LOST } },
  readBudgets: {
    call: async ({ ledger }, { accountId }) =>
      (await ledger.readBudgets(accountId))?.entries.get('account')?.windows.total,
    answer: { spent: LOST },
  },
}

type Stores = {
  url: string
  /** From now on the other store learns nothing. */
  cut(): Promise<void>
  /** Has the other store take over while `calls` are under way. */
  change<T>(calls: () => Promise<T>): Promise<T>
  stop(): Promise<void>
}

/** A cluster of one master and one replica, and the moment in which the replica takes over. */
async function cluster(change: (master: ClusterNode, takeOver: () => Promise<void>) => Changing): Promise<Stores> {
  const nodes = await startCluster(1)
  const [master] = nodes.nodes as [ClusterNode]
  const replica = await nodes.addReplica(master)
  return {
    url: `${nodes.url},${nodes.url.replace(`:${master.port}`, `:${replica.port}`)}`,
    async cut() {
      await until(async () => {
        const sent = /master_repl_offset:(\d+)/.exec(await master.admin.info('replication'))?.[1]
        return (await replica.admin.info('replication')).includes(`slave_repl_offset:${sent}`)
      }, 'the replica to have everything')
      await replica.admin.config('SET', 'masterauth', 'cut')
      await master.admin.call('CLIENT', 'KILL', 'TYPE', 'replica')
    },
    change: change(master, async () => {
      await replica.admin.call('CLUSTER', 'FAILOVER', 'TAKEOVER')
      await until(async () => (await replica.admin.info('replication')).includes('role:master'), 'the replica')
    }),
    stop: nodes.stop,
  }
}

type Changing = Stores['change']

/** What was called is written to the sockets by then. */
async function writtenOut(): Promise<void> {
  const turns = countTurns()
  await until(() => turns.now() > 3, 'the calls to be written')
  turns.stop()
}

/** Two servers behind one address that leads to the first, and once they changed to the second. */
async function oneAddress(): Promise<Stores> {
  const servers = [await startRedis(), await startRedis()] as const
  const [first, second] = servers.map(({ url }) => new Redis(url)) as [Redis, Redis]
  const port = Number(new URL(servers[0].url).port)
  const { password } = new URL(servers[0].url)
  const login = decodeURIComponent(password)
  await second.config('SET', 'masterauth', login)
  await second.call('REPLICAOF', '127.0.0.1', port)
  await until(async () => (await second.info('replication')).includes('master_link_status:up'), 'the replica')
  let target = port
  const clients = new Set<Socket<{ server?: Promise<Socket> }>>()
  const proxy = Bun.listen<{ server?: Promise<Socket> }>({
    hostname: '127.0.0.1',
    port: 0,
    data: {},
    socket: {
      open(client) {
        clients.add(client)
        client.data = {
          server: Bun.connect({
            hostname: '127.0.0.1',
            port: target,
            socket: { data: (_, data) => void client.write(data), close: () => void client.end() },
          }),
        }
      },
      data: (client, data) => void client.data.server?.then((server) => server.write(data)),
      close: (client) => {
        clients.delete(client)
        void client.data.server?.then((server) => server.end())
      },
    },
  })
  return {
    url: `redis://default:${password}@127.0.0.1:${proxy.port}`,
    async cut() {
      await second.call('REPLICAOF', 'NO', 'ONE')
      await second.config('SET', 'requirepass', login)
    },
    async change(calls) {
      process.kill(servers[0].pid, 'SIGSTOP')
      const answers = calls()
      await writtenOut()
      target = Number(new URL(servers[1].url).port)
      for (const client of clients) client.terminate()
      return await answers
    },
    async stop() {
      process.kill(servers[0].pid, 'SIGCONT')
      proxy.stop(true)
      first.disconnect()
      second.disconnect()
      await Promise.all(servers.map((server) => server.stop()))
    },
  }
}

const WAYS: Record<string, () => Promise<Stores>> = {
  'a master dies with the calls under way': () =>
    cluster((master, takeOver) => async (calls) => {
      process.kill(master.server.pid, 'SIGSTOP')
      const answers = calls()
      await writtenOut()
      await takeOver()
      process.kill(master.server.pid, 'SIGKILL')
      return await answers
    }),
  'a master that was replaced redirects the calls': () =>
    cluster((master, takeOver) => async (calls) => {
      await takeOver()
      await until(
        () =>
          master.admin.get(metaName(0)).then(
            () => false,
            (error: Error) => error.message.startsWith('MOVED'),
          ),
        'the master to know',
      )
      return await calls()
    }),
  'another server answers at the same address': oneAddress,
}

async function spend({ ledger }: Bench, payer: Payer, cost: number): Promise<void> {
  const hold = request(payer, cost)
  expect(await ledger.reserve(hold)).toMatchObject({ kind: 'reserved' })
  expect(await ledger.settle(settlement(hold, cost))).toMatchObject({ kind: 'settled' })
}

const unavailable = (error: unknown) =>
  error instanceof GatewayError && error.kind === 'overloaded' ? undefined : Promise.reject(error)

describe.each(Object.entries(WAYS))('a Redis without its last writes: %s', (_, start) => {
  test('no call is answered from a Redis without its last writes, and each charge is booked once', async () => {
    const stores = await start()
    const redis = await connect(stores.url, COMMAND_TIMEOUT_MS)
    try {
      const bench = createBench(redis)
      const { history, ledger } = bench
      const payers = await Promise.all(Object.keys(TRUSTING).map(() => bench.fund(CREDIT)))
      for (const payer of payers) {
        const { accountId } = payer
        const limits = { total: { limit: nano(10 * CREDIT), grant: ZERO_NANO, grantAt: 0 } }
        history.setBudgets(accountId, [{ scope: 'account', scopeId: accountId, limits }])
        await ledger.reloadBudgets(accountId)
        expect(await ledger.refusalOf(payer, nano(1))).toBeUndefined()
      }
      const late = await bench.fund(CREDIT)
      const hold = request(late, LOST)
      await ledger.reserve(hold)
      await stores.cut()
      for (const payer of payers) await spend(bench, payer, LOST)
      await history.flush(
        redis,
        payers.map(({ accountId }) => accountId),
      )

      const entries = Object.entries(TRUSTING)
      const settle = () => ledger.settle(settlement(hold, LOST), { force: true }).catch(unavailable)
      const [settled, answers] = await stores.change(() =>
        Promise.all([
          settle(),
          Promise.all(entries.map(([, { call }], index) => call(bench, payers[index] as Payer).catch(unavailable))),
        ]),
      )
      for (const [index, [name, { call, answer }]] of entries.entries()) {
        const first = answers[index]
        if (first !== undefined) expect({ name, ...first }).toMatchObject({ name, ...answer })
        const next = await until(() => call(bench, payers[index] as Payer).catch(unavailable), `an answer to ${name}`)
        expect({ name, ...(next as object) }).toMatchObject({ name, ...answer })
      }
      if (settled === undefined) await until(settle, 'the settlement')
      await history.flush(redis, [late.accountId])
      expect(await ledger.readBalance(late.accountId)).toMatchObject({ available: LEFT, spent: LOST, held: 0 })
      const { violations } = await checkLedger({ redis, history, logger: bench.logger })
      expect(violations).toEqual([])
    } finally {
      redis.disconnect()
      await stores.stop()
    }
  })
})
