/**
 * The ledger check: silent for correct books, also under traffic, and an error for each kind of damage. Slow: each
 * fault has its own books.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from 'bun:test'
import { type Bench, connect, createBench, passDeadline, request, settlement } from '@test/ledger/harness'
import { keyState } from '@test/ledger/memory-history'
import { addToStored, setStored } from '@test/ledger/store/stored'
import { monitorRedis } from '@test/support/redis-monitor'
import { startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { checkLedger } from '@/ledger/check/check'
import { rebuildAll } from '@/ledger/check/rebuild'
import { findNames, listNames } from '@/ledger/check/store-names'
import { createSweeper } from '@/ledger/holds/sweeper'
import type { Payer, ReserveRequest } from '@/ledger/outcomes'
import { startEpoch } from '@/ledger/store/epoch'
import {
  accountName,
  creditedName,
  deadlinesName,
  holdMember,
  holdName,
  keyName,
  loadedName,
  metaName,
  payerText,
  recordsName,
  shardOf,
} from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'

let server: TestServer
let bench: Bench
let payer: Payer
let open: ReserveRequest

beforeAll(async () => {
  server = await startRedis()
})
afterAll(async () => {
  bench.redis.disconnect()
  await server.stop()
})

const addToAccount = (sums: Record<string, number>) =>
  addToStored(bench.redis, 'account', accountName(payer.accountId), sums)
const addToKey = (sums: Record<string, number>) => addToStored(bench.redis, 'key', keyName(payer), sums)

/** One account with an open hold, a charge that the history has, and one that it lacks. */
beforeEach(async () => {
  bench?.redis.disconnect()
  bench = createBench(await connect(server.url))
  await bench.redis.flushall()
  payer = await bench.fund(10_000)
  for (const cost of [100, 30]) {
    const hold = request(payer, 500)
    await bench.ledger.reserve(hold)
    await bench.ledger.settle(settlement(hold, cost))
    if (cost === 100) await bench.history.flush(bench.redis, [payer.accountId])
  }
  open = request(payer, 700)
  await bench.ledger.reserve(open)
})

const noRest = async () => {}
const check = () => checkLedger({ redis: bench.redis, history: bench.history, logger: bench.logger })
async function kinds(): Promise<string[]> {
  const { ok, violations } = await check()
  expect(ok).toBe(violations.length === 0)
  return [...new Set(violations.map((violation) => violation.kind))].sort()
}

describe('the check of correct books', () => {
  test('the check finds no violation in a correct ledger, and reports its counts', async () => {
    expect(await check()).toEqual({ ok: true, violations: [], accounts: 1, openHolds: 1, unsyncedRecords: 1 })
    bench.history.addAccount('acct_never_used')
    expect(await check()).toMatchObject({ ok: true, accounts: 2 })
  })

  test('a correct ledger has no violations, at whatever step the flusher stopped', async () => {
    await bench.history.flush(bench.redis, [payer.accountId], { crash: true })
    expect(await check()).toMatchObject({ ok: true, unsyncedRecords: 1 })
    await bench.history.flush(bench.redis, [payer.accountId])
    expect(await check()).toMatchObject({ ok: true, unsyncedRecords: 0 })
  })

  test('a correct ledger has no violations after overruns, corrections, late and forced settlements', async () => {
    await bench.ledger.settle(settlement(open, 20_000))
    bench.history.addCredit(payer.accountId, 'entry_back', -50)
    await bench.ledger.credit({ accountId: payer.accountId, entryId: 'entry_back', amount: nano(-50) })
    await bench.ledger.settle(settlement({ ...payer, holdId: 'hold_lost' }, 77), { force: true })
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({
      available: nano(10_000 - 130 - 20_000 - 127),
    })
    expect(await check()).toMatchObject({ ok: true })
  })

  test('a correct ledger has no violations under traffic, flusher and sweeper', async () => {
    const payers = await Promise.all(Array.from({ length: 10 }, () => bench.fund(1_000_000)))
    const ids = payers.map((one) => one.accountId)
    const sweeper = createSweeper({ ledger: bench.ledger, logger: bench.logger, intervalMs: 2 })
    sweeper.start()
    let isOver = false
    const traffic = payers.map(async (one, index) => {
      for (let turn = 0; !isOver; turn++) {
        const hold = request(one, 500, { inputCost: nano(3) })
        await bench.ledger.reserve(hold)
        if ((turn + index) % 7 === 0) await passDeadline(bench.redis, hold)
        else if (turn % 5 === 0) await bench.ledger.release(hold)
        else await bench.ledger.settle(settlement(hold, turn % 600))
        if (turn % 11 !== 0) continue
        bench.history.addCredit(one.accountId, `entry_${turn}`, 5)
        await bench.ledger.credit({ accountId: one.accountId, entryId: `entry_${turn}`, amount: nano(5) })
      }
    })
    const flushing = (async () => {
      for (let turn = 0; !isOver; turn++) await bench.history.flush(bench.redis, ids, { crash: turn % 3 === 0 })
    })()
    for (let round = 0; round < 3; round++) expect((await check()).violations).toEqual([])
    const [found, listed] = await Promise.all([findNames(bench.redis, noRest), listNames(bench.redis, noRest)])
    expect(listed.accounts).toEqual(found.accounts)
    expect(found.accounts.size).toBe(11)
    isOver = true
    await Promise.all([...traffic, flushing])
    await sweeper.stop()
    await bench.ledger.expireDue(1_000)
    await bench.history.flush(bench.redis, [...ids, payer.accountId])
    const { ok, unsyncedRecords, openHolds } = await check() // One was left open before, and may have run out.
    expect([ok, unsyncedRecords, openHolds < 2]).toEqual([true, 0, true])
  })
})

describe('a check that reads only the shards’ lists', () => {
  const listed = () =>
    checkLedger({ redis: bench.redis, history: bench.history, logger: bench.logger, search: 'listed' })
  const list = () => loadedName(shardOf(payer.accountId))

  test('a check of the shards’ lists finds every account without reading tombstones', async () => {
    await bench.redis.config('RESETSTAT')
    expect(await listed()).toEqual({ ok: true, violations: [], accounts: 1, openHolds: 1, unsyncedRecords: 1 })
    const commands = await bench.redis.info('commandstats')
    expect(commands).toContain('cmdstat_sscan:')
    expect(commands).not.toContain('cmdstat_scan:')
    const [open, tombstones] = [1, 2]
    // Once for each hold that is open, and never for the others.
    expect(await holdReads(listed)).toBe(open)
    expect(await holdReads(check)).toBe(2 * open + tombstones)
  })

  test.each<[string, string[], () => Promise<unknown>]>([
    ['money appears', ['balance_differs'], () => addToAccount({ available: 1 })],
    [
      'a hold loses its deadline',
      ['account_open_count', 'held_differs_from_open_holds', 'key_held', 'key_open_count'],
      () => bench.redis.zrem(deadlinesName(shardOf(payer.accountId)), holdMember(open)),
    ],
    [
      'a deadline loses its hold',
      ['deadline_without_hold'],
      () => bench.redis.del(holdName(payer.accountId, open.holdId)),
    ],
    ['a key leaks a slot', ['key_open_count'], () => addToKey({ open: 1 })],
  ])('a check of the shards’ lists finds the violation if %s: %p', async (_, expected, spoil) => {
    await spoil()
    expect([...new Set((await listed()).violations.map(({ kind }) => kind))].sort()).toEqual(expected)
  })

  test('a check of the shards’ lists includes keys that changed before their first use', async () => {
    const keyId = randomId('key')
    await bench.ledger.setKeyState(keyState({ accountId: payer.accountId, keyId }, { requestsPerMinute: 5 }))
    const members = [payer.accountId, payerText(payer), payerText({ ...payer, keyId })]
    expect((await bench.redis.smembers(list())).sort()).toEqual(members.sort())
  })

  test('accounts missing from the shards’ lists are found by the next full scan only', async () => {
    await bench.redis.del(list())
    await addToAccount({ available: 1 })
    expect(await listed()).toMatchObject({ ok: true })
    await checkLedger({
      ...{ redis: bench.redis, history: bench.history, logger: bench.logger },
      search: 'accounts-and-keys',
    })
    expect(await listed()).toMatchObject({ ok: false })
    expect((await bench.redis.smembers(list())).sort()).toEqual([payer.accountId, payerText(payer)].sort())
  })

  /** How often `work` looks at the state of a hold. */
  async function holdReads(work: () => Promise<unknown>): Promise<number> {
    let reads = 0
    let isOver = false
    const monitor = await monitorRedis(server.url, ([command = '', name = '']) => {
      if (command.toUpperCase() === 'GET' && name.includes(':hold:')) reads++
      isOver ||= command.toUpperCase() === 'ECHO'
    })
    await work()
    await bench.redis.echo('over')
    await until(() => isOver, 'the monitor to have seen all')
    monitor.stop()
    return reads
  }
})

describe('violations found by the check', () => {
  const account = () => accountName(payer.accountId)
  const shard = () => shardOf(payer.accountId)

  test.each<[string, string[], () => Promise<unknown>]>([
    ['money appears', ['balance_differs'], () => addToAccount({ available: 1 })],
    ['money vanishes', ['balance_differs'], () => addToAccount({ available: -1 })],
    ['a charge is not counted in the sums', ['spent_differs'], () => addToAccount({ spent: -1 })],
    ['held credit has no hold', ['balance_differs', 'held_differs_from_open_holds'], () => addToAccount({ held: 5 })],
    ['a key leaks a slot', ['key_open_count'], () => addToKey({ open: 1 })],
    ['an account leaks a slot', ['account_open_count'], () => addToAccount({ open: 1 })],
    ['a key leaks budget', ['key_held'], () => addToKey({ held: 1 })],
    [
      'a hold loses its deadline',
      ['account_open_count', 'held_differs_from_open_holds', 'hold_without_deadline', 'key_held', 'key_open_count'],
      () => bench.redis.zrem(deadlinesName(shard()), holdMember(open)),
    ],
    [
      'a deadline loses its hold',
      ['deadline_without_hold'],
      () => bench.redis.del(holdName(payer.accountId, open.holdId)),
    ],
    [
      'the amount of a hold changes',
      ['hold_amount', 'hold_without_deadline'],
      () => setStored(bench.redis, 'hold', holdName(payer.accountId, open.holdId), { amount: 1 }),
    ],
    ['no sweeper runs', ['hold_overdue'], () => passDeadline(bench.redis, open, 120_000)],
    ['an event is deleted unread', ['balance_differs', 'spent_differs'], () => bench.redis.del(recordsName(shard()))],
    [
      'the history forgets an account',
      ['unknown_to_history'],
      async () => {
        bench.history.accounts = async () => []
      },
    ],
    [
      'an account is in the wrong shard',
      ['misplaced'],
      () => bench.redis.hset(`{l${(shard() + 1) % 64}}:key:${payer.accountId}:k`, 'a', '1'),
    ],
    [
      'available is negative without a reason',
      ['balance_differs', 'overdrawn'],
      () => setStored(bench.redis, 'account', account(), { available: -1 }),
    ],
    [
      'a credit never arrives',
      ['credit_missing'],
      async () => bench.history.addCredit(payer.accountId, 'entry_stuck', 5),
    ],
    [
      'a credit is marked but not added',
      ['balance_differs'],
      async () => {
        bench.history.addCredit(payer.accountId, 'entry_marked', 5)
        await bench.redis.sadd(creditedName(payer.accountId), 'entry_marked')
      },
    ],
  ])('the check finds the violation if %s: %p', async (_, expected, spoil) => {
    await spoil()
    expect(await kinds()).toEqual(expected)
  })

  test('a Redis with another layout is a violation', async () => {
    await bench.redis.hset(metaName(shard()), 'layout', '2')
    await expect(check()).rejects.toThrow('a newer version, which this version cannot read')
  })

  test('a rebuild repairs the violations that the check found', async () => {
    await addToAccount({ available: 500, held: 5 })
    await addToKey({ open: 3 })
    await rebuildAll({ redis: bench.redis, history: bench.history, logger: bench.logger })
    expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 1, held: nano(700) })
    expect(await check()).toMatchObject({ ok: true })
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(9_170), held: nano(700) })
  })
})

test('if Redis returned with old figures, accounts are corrected and not reported', async () => {
  const old = await bench.redis.dumpBuffer(accountName(payer.accountId))
  const hold = request(payer, 50)
  await bench.ledger.reserve(hold)
  await bench.ledger.settle(settlement(hold, 50))
  await bench.history.flush(bench.redis, [payer.accountId])
  await bench.redis.restore(accountName(payer.accountId), 0, old ?? '', 'REPLACE')
  expect(await kinds()).toEqual(['balance_differs', 'spent_differs'])
  await bench.redis.hset(metaName(shardOf(payer.accountId)), 'identity', 'another process')
  expect(await check()).toMatchObject({ ok: true })
})

test('an unconfirmed account that Postgres lacks is reported at once', async () => {
  const look = jest.spyOn(bench.history, 'accounts').mockResolvedValue([])
  await startEpoch(bench.redis, shardOf(payer.accountId))
  expect(await kinds()).toEqual(['unknown_to_history'])
  // Of one round: one look to compare it, and those of one load. Nineteen more rounds would not make it known.
  expect(look.mock.calls.length).toBeLessThan(8)
})
