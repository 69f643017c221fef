/** The ledger on a Redis Cluster: each script in one slot, a dead master only stops its own accounts, resharding is not noticed. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import { checkLedger } from '@/ledger/check/check'
import type { Payer } from '@/ledger/outcomes'
import { slotOf } from '@/ledger/store/cluster-slot'
import { deadlinesName, holdMember, metaName, SHARD_COUNT, shardOf } from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'
import { type ClusterNode, startCluster, type TestCluster } from './cluster-stores'
import { type Bench, connect, createBench, FACTS, request, settlement } from './harness'

/** Longer than a busy machine keeps a command waiting, since only what is cut off may fail. */
const COMMAND_TIMEOUT_MS = 10_000

let cluster: TestCluster
let bench: Bench
let payers: Payer[]

beforeAll(async () => {
  cluster = await startCluster(3)
  bench = createBench(await connect(cluster.url, COMMAND_TIMEOUT_MS))
  payers = await Promise.all(Array.from({ length: 60 }, () => bench.fund(1_000_000)))
})
afterAll(async () => {
  bench.redis.disconnect()
  await cluster.stop()
})

/** Two debits, of which the history takes one. */
async function takeBack({ accountId }: Payer, amount: number): Promise<void> {
  for (const isBooked of [true, false]) {
    const withheld = { accountId, entryId: randomId('entry'), amount: nano(amount) }
    const outcome = await bench.ledger.withhold({ ...withheld, ttlMs: 60_000, allowNegative: false, debits: [] })
    expect(outcome.kind).toBe('withheld')
    if (isBooked) bench.history.addCredit(accountId, withheld.entryId, -amount)
    expect(await bench.ledger.resolveWithheld(withheld)).toBe(isBooked ? 'taken' : 'returned')
  }
}

const check = () => checkLedger({ redis: bench.redis, history: bench.history, logger: bench.logger })

test('every ledger call works on every shard, concurrently', async () => {
  const holds = payers.map((payer) => request(payer, 100, { inputCost: nano(3) }))
  const reserved = await Promise.all(holds.map((hold) => bench.ledger.reserve(hold)))
  expect(reserved.every((outcome) => outcome.kind === 'reserved')).toBe(true)
  const progress = { ttlMs: 1_000, cost: nano(5), facts: FACTS, reached: true }
  const renewals = holds.map(({ accountId, holdId }) => ({ accountId, holdId, ...progress }))
  expect(new Set(await bench.ledger.renew(renewals))).toEqual(new Set(['renewed']))
  const thirds = [0, 1, 2].map((part) => holds.filter((_, index) => index % 3 === part))
  const settled = await Promise.all((thirds[0] ?? []).map((hold) => bench.ledger.settle(settlement(hold, 40))))
  expect(settled.every((outcome) => outcome.kind === 'settled')).toBe(true)
  for (const hold of thirds[1] ?? []) expect(await bench.ledger.release(hold)).toBe('released')
  for (const hold of thirds[2] ?? [])
    await bench.redis.zadd(deadlinesName(shardOf(hold.accountId)), 1, holdMember(hold))
  expect(await bench.ledger.expireDue(100)).toHaveLength(20)
  expect(await bench.ledger.openHoldCount()).toBe(0)
  expect(await bench.ledger.unsyncedRecordCount()).toBe(40)
  for (const payer of payers.slice(0, 3)) {
    bench.history.addCredit(payer.accountId, 'entry_more', 10)
    expect(await bench.ledger.credit({ ...payer, entryId: 'entry_more', amount: nano(10) })).toMatchObject({
      kind: 'credited',
    })
  }
  for (const payer of payers) await takeBack(payer, 10)
  expect(await check()).toMatchObject({ ok: true, accounts: 60, openHolds: 0, unsyncedRecords: 40 })
})

test('scripts that a node lost are sent again, on every node', async () => {
  for (const node of cluster.nodes) await node.admin.script('FLUSH')
  const outcomes = await Promise.all(payers.map((payer) => bench.ledger.reserve(request(payer, 1))))
  expect(outcomes.every((outcome) => outcome.kind === 'reserved')).toBe(true)
})

test('moving slots under load fails no request and loses no money', async () => {
  let isOver = false
  let turns = 0
  const traffic = payers.slice(0, 20).map(async (payer) => {
    while (!isOver) {
      const hold = request(payer, 100)
      expect(await bench.ledger.reserve(hold)).toMatchObject({ kind: 'reserved' })
      expect(await bench.ledger.settle(settlement(hold, 1))).toMatchObject({ kind: 'settled' })
      await takeBack(payer, 2)
      turns++
    }
  })
  for (const payer of payers.slice(0, 6)) {
    const shard = shardOf(payer.accountId)
    const owner = await cluster.ownerOf(shard)
    await cluster.moveShard(shard, cluster.nodes.find((node) => node !== owner) as ClusterNode)
    const until_ = turns + 20
    await until(() => turns > until_, 'traffic to go on')
  }
  isOver = true
  await Promise.all(traffic)
  expect((await check()).violations).toEqual([])
})

test('a slot that two nodes claim blocks no other slot, and works once the nodes agree', async () => {
  const used = new Set(payers.map((payer) => shardOf(payer.accountId)))
  const shard = Array.from({ length: SHARD_COUNT }, (_, index) => index).find((index) => !used.has(index)) as number
  const stray = await until(async () => {
    const payer = await bench.fund(1_000)
    return shardOf(payer.accountId) === shard && payer
  }, 'an account of that shard')
  await bench.ledger.reserve(request(stray, 1))
  const slot = slotOf(metaName(shard))
  const owner = await cluster.ownerOf(shard)
  const other = cluster.nodes.find((node) => node !== owner) as ClusterNode
  const names = (await owner.admin.call('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[]
  await owner.admin.del(...names)
  await owner.admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', other.id)
  // A guard that has verified nothing yet has to ask about every shard, also about that one.
  const redis = await connect(cluster.url, COMMAND_TIMEOUT_MS)
  const another = createBench(redis, undefined, bench.history)
  let isWaiting = true
  const late = another.ledger
    .reserve(request(stray, 1))
    .catch((error) => error)
    .finally(() => {
      isWaiting = false
    })
  const served = await Promise.all(payers.map((payer) => another.ledger.reserve(request(payer, 1))))
  expect(new Set(served.map((outcome) => outcome.kind))).toEqual(new Set(['reserved']))
  expect(isWaiting).toBe(true)
  await owner.admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', owner.id)
  await late
  await until(() => another.ledger.reserve(request(stray, 1)).catch(() => undefined), 'the slot to be found again')
  redis.disconnect()
})

test('if a master dies, only its own accounts stop, and work again when it is back', async () => {
  const dead = cluster.nodes[0] as ClusterNode
  const owners = await Promise.all(payers.map((payer) => cluster.ownerOf(shardOf(payer.accountId))))
  await dead.server.kill()
  const attempt = async (payer: Payer) => {
    return await bench.ledger.reserve(request(payer, 1)).then(
      (outcome) => outcome.kind,
      (error) => error.kind as string,
    )
  }
  const outcomes = await Promise.all(payers.map(attempt))
  for (const [index, outcome] of outcomes.entries()) {
    if (owners[index] === dead) expect(outcome).toBe('overloaded')
  }
  const alive = payers.filter((_, index) => owners[index] !== dead)
  await until(async () => {
    const again = await Promise.all(alive.map(attempt))
    return again.every((outcome) => outcome === 'reserved')
  }, 'the others to go on')
  expect(await bench.ledger.expireDue(100)).toEqual([])
  await dead.restart()
  await until(async () => {
    const again = await Promise.all(payers.map(attempt))
    return again.every((outcome) => outcome === 'reserved')
  }, 'everybody to be back')
  expect((await check()).violations).toEqual([])
})

test('a promoted replica without the last writes is corrected before its accounts pay', async () => {
  const payer = payers.find((one) => one) as Payer
  const shard = shardOf(payer.accountId)
  const master = await cluster.ownerOf(shard)
  const replica = await cluster.addReplica(master)
  const before = await bench.ledger.readBalance(payer.accountId)
  const offsets = () => Promise.all([master, replica].map((node) => node.admin.info('replication').then(offsetOf)))
  await until(async () => new Set(await offsets()).size === 1, 'the replica to have everything')
  await replica.admin.config('SET', 'masterauth', 'cut')
  await master.admin.call('CLIENT', 'KILL', 'TYPE', 'replica')
  const hold = request(payer, 500_000)
  await bench.ledger.reserve(hold)
  await bench.ledger.settle(settlement(hold, 500_000))
  await bench.history.flush(bench.redis, [payer.accountId])
  await master.server.kill()
  await replica.admin.call('CLUSTER', 'FAILOVER', 'TAKEOVER')
  await until(async () => (await cluster.ownerOf(shard)) === replica, 'the replica to take over')
  const balance = await until(() => bench.ledger.readBalance(payer.accountId).catch(() => undefined), 'an answer')
  expect(balance.available).toBe(nano((before?.available ?? 0) - 500_000))
})

function offsetOf(info: string): string {
  return /slave_repl_offset:(\d+)/.exec(info)?.[1] ?? /master_repl_offset:(\d+)/.exec(info)?.[1] ?? ''
}
