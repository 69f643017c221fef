/** Loading and rebuilding: Redis is made equal to the history without creating or losing money. */
import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { type Bench, connect, createBench, LIMITS, request, settlement } from '@test/ledger/harness'
import { accountState, keyState } from '@test/ledger/memory-history'
import { addToStored, readStored } from '@test/ledger/store/stored'
import { createRestorer } from '@/ledger/accounts/restore'
import { rebuildAll } from '@/ledger/check/rebuild'
import { createLedger } from '@/ledger/ledger'
import { accountName, keyName, loadedName, metaName, recordsName, shardOf } from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'
import { test } from './within-day'

let bench: Bench

beforeAll(async () => {
  bench = createBench(await connect())
})
afterAll(() => bench.redis.disconnect())

/** A ledger that has verified nothing yet, as after a start. */
const another = () => createBench(bench.redis, undefined, bench.history)

/** Makes the account unconfirmed, as a store that came back does. */
async function loseConfirmation(accountId: string): Promise<void> {
  await bench.redis.hset(metaName(shardOf(accountId)), 'epoch', randomId('epoch'))
}

async function settled(payer: { accountId: string; keyId: string }, cost: number) {
  const hold = request(payer, Math.max(cost, 1))
  await bench.ledger.reserve(hold)
  await bench.ledger.settle(settlement(hold, cost))
  return hold
}

describe('the first use of an account', () => {
  test('many concurrent first requests load an account once', async () => {
    const payer = await bench.fund(1_000)
    const before = bench.history.reads()
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => bench.ledger.reserve(request(payer, 1))))
    expect(outcomes.every((outcome) => outcome.kind === 'reserved')).toBe(true)
    expect(bench.history.reads() - before).toBeLessThan(10)
  })

  test('after Redis was emptied, each account is loaded once', async () => {
    const { redis, history, logger } = bench
    const loads: string[] = []
    const onCall = (operation: string) => void loads.push(operation)
    const ledger = createLedger({ redis, history, defaultLimits: LIMITS, logger, onCall })
    await ledger.reserve(request(await bench.fund(1_000), 1))
    const payers = await Promise.all(Array.from({ length: 50 }, () => bench.fund(1_000)))
    await redis.flushall()
    loads.length = 0
    const outcomes = await Promise.all(payers.map((payer) => ledger.reserve(request(payer, 1))))
    expect(outcomes.every(({ kind }) => kind === 'reserved')).toBe(true)
    expect(loads.filter((operation) => operation.startsWith('load-'))).toEqual(payers.map(() => 'load-payer'))
  })

  test.each([
    ['the account itself', (name: string) => !name.includes(':account:')],
    [
      'everything except its records and the mark that it was loaded',
      (name: string) => /:(events|loaded|meta)$/.test(name),
    ],
    ['everything except its open holds', (name: string) => /:(deadlines|meta)$/.test(name) || name.includes(':hold:')],
  ])('an account is loaded in full if the store has lost %s', async (_, isLeft) => {
    const payer = await bench.fund(1_000)
    await settled(payer, 150)
    const open = request(payer, 200)
    await bench.ledger.reserve(open)
    const own = (name: string) => [payer.accountId, open.holdId].some((id) => name.includes(id)) || isShared(name)
    const isShared = (name: string) => name === loadedName(shardOf(payer.accountId))
    const names = (await bench.redis.keys('*')).filter((name) => own(name) && !isLeft(name))
    if (names.length > 0) await bench.redis.unlink(...names)
    const isRecordLeft = isLeft(recordsName(shardOf(payer.accountId)))
    if (!isRecordLeft) await bench.history.flush(bench.redis, [payer.accountId])
    expect(await another().ledger.reserve(request(payer, 10))).toMatchObject({ kind: 'reserved', available: nano(640) })
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ held: nano(210), spent: nano(150) })
  })

  test('an account that was read before the epoch changed is not loaded', async () => {
    const payer = await bench.fund(1_000)
    const shard = shardOf(payer.accountId)
    await bench.ledger.readBalance((await bench.fund(1)).accountId)
    const epoch = String(await bench.redis.hget(metaName(shard), 'epoch'))
    const restorer = createRestorer({ ...bench.deps, history: bench.history })
    expect(await restorer.payer(payer, 'another')).toBe('changed')
    expect(await restorer.payer(payer, '')).toBe('changed')
    expect(await readStored(bench.redis, 'account', accountName(payer.accountId))).toBeUndefined()
    expect(await restorer.payer(payer, epoch)).toBe('loaded')
    expect(await restorer.payer(payer, epoch)).toBe('changed')
    expect(await restorer.payer({ ...payer, accountId: randomId('acct') }, epoch)).toBe('unknown')
  })

  test('while Postgres is down, an unloaded account is refused; it works once Postgres is back', async () => {
    const payer = await bench.fund(1_000)
    bench.history.setDown(true)
    await expect(bench.ledger.reserve(request(payer, 1))).rejects.toMatchObject({ kind: 'overloaded', status: 503 })
    await expect(bench.ledger.readBalance(payer.accountId)).rejects.toMatchObject({ status: 503 })
    bench.history.setDown(false)
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ kind: 'reserved' })
    bench.history.setDown(true)
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ kind: 'reserved' })
    bench.history.setDown(false)
  })

  test('a loaded account has the counts from Postgres', async () => {
    const payer = await bench.fund(1_000)
    const first = await settled(payer, 150)
    await bench.history.flush(bench.redis, [payer.accountId])
    for (const name of [accountName(payer.accountId), keyName(payer)]) await bench.redis.del(name)
    expect(await bench.ledger.readBalance(payer.accountId)).toEqual({
      ...{ available: nano(850), held: nano(0), spent: nano(150), spentThisMonth: nano(150), status: 'active', seq: 1 },
    })
    expect(await bench.ledger.readKey(payer)).toMatchObject({ spentThisMonth: nano(150), open: 0 })
    expect(await bench.ledger.settle(settlement(first, 150))).toEqual({ kind: 'already_settled' })
  })

  test('charges not yet in Postgres are counted, at whatever step the flusher stopped', async () => {
    const payer = await bench.fund(1_000)
    await settled(payer, 100)
    await bench.history.flush(bench.redis, [payer.accountId])
    await settled(payer, 30)
    await bench.history.flush(bench.redis, [payer.accountId], { crash: true })
    await settled(payer, 7)
    const open = request(payer, 200)
    await bench.ledger.reserve(open)
    for (const name of [accountName(payer.accountId), keyName(payer)]) await bench.redis.del(name)
    expect(await bench.ledger.readBalance(payer.accountId)).toEqual({
      ...{
        available: nano(663),
        held: nano(200),
        spent: nano(137),
        spentThisMonth: nano(137),
        status: 'active',
        seq: 3,
      },
    })
    expect(await bench.ledger.readKey(payer)).toMatchObject({ spentThisMonth: nano(137), open: 1, held: nano(200) })
    await bench.ledger.settle(settlement(open, 50))
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({
      available: nano(813),
      held: nano(0),
      seq: 4,
    })
  })
})

describe('Redis with old or missing data', () => {
  test('loading a correct account confirms it, and changes nothing', async () => {
    const payer = await bench.fund(1_000)
    await settled(payer, 100)
    await bench.ledger.reserve(request(payer, 50))
    const before = await readStored(bench.redis, 'account', accountName(payer.accountId))
    await loseConfirmation(payer.accountId)
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({
      available: nano(850),
      held: nano(50),
      seq: 1,
    })
    const after = await readStored(bench.redis, 'account', accountName(payer.accountId))
    expect({ ...after, epoch: '', version: '' }).toEqual({ ...before, epoch: '', version: '' })
    expect(after?.epoch).not.toBe(before?.epoch)
  })

  test('lost charges are restored before the account pays', async () => {
    const payer = await bench.fund(1_000)
    const { accountId } = payer
    await bench.ledger.readBalance(accountId)
    const old = await bench.redis.dumpBuffer(accountName(accountId))
    await settled(payer, 900)
    await bench.history.flush(bench.redis, [accountId])
    await bench.redis.restore(accountName(accountId), 0, old ?? '', 'REPLACE')
    await loseConfirmation(accountId)
    expect(await another().ledger.reserve(request(payer, 200))).toMatchObject({
      kind: 'insufficient',
      available: nano(100),
    })
    expect(await bench.ledger.readBalance(accountId)).toMatchObject({ available: nano(100), spent: nano(900), seq: 1 })
  })

  test('a lost credit is restored once', async () => {
    const { accountId } = await bench.fund(1_000)
    await bench.ledger.readBalance(accountId)
    bench.history.addCredit(accountId, 'entry_lost', 500)
    await loseConfirmation(accountId)
    expect(await bench.ledger.readBalance(accountId)).toMatchObject({ available: nano(1_500) })
    const credit = { accountId, entryId: 'entry_lost', amount: nano(500) }
    expect(await bench.ledger.credit(credit)).toEqual({ kind: 'exists', available: nano(1_500) })
  })

  test('a lost deactivation or suspension is restored before the account pays', async () => {
    const payer = await bench.fund(1_000)
    await bench.ledger.reserve(request(payer, 1))
    bench.history.setKey({ ...payer, status: 'deactivated' })
    await loseConfirmation(payer.accountId)
    expect(await bench.ledger.reserve(request(payer, 1))).toEqual({ kind: 'key_inactive', status: 'deactivated' })
    bench.history.setKey({ ...payer, status: 'active' })
    bench.history.setAccount(payer.accountId, { status: 'suspended' })
    await loseConfirmation(payer.accountId)
    expect(await bench.ledger.reserve(request(payer, 1))).toEqual({ kind: 'account_suspended' })
  })

  test('if Postgres lacks charges, the figures in Redis stay and an error is logged', async () => {
    const payer = await bench.fund(1_000)
    const { accountId } = payer
    await settled(payer, 300)
    const entries = await bench.redis.xrange(recordsName(shardOf(accountId)), '-', '+')
    const own = entries.filter(([, fields]) => fields.join(' ').includes(accountId)).map(([id]) => id)
    await bench.redis.xdel(recordsName(shardOf(accountId)), ...own)
    await loseConfirmation(accountId)
    expect(await bench.ledger.readBalance(accountId)).toMatchObject({ available: nano(700), spent: nano(300), seq: 1 })
    const logged = bench.logger.lines.filter((line) => line.event === 'ledger_history_behind')
    expect(logged.map((line) => line.fields?.accountId)).toContain(accountId)
  })
})

describe('a state that is set during a load', () => {
  test('a key state set during a load replaces the loaded one', async () => {
    const payer = await bench.fund(1_000)
    const read = bench.history.key
    bench.history.key = async (accountId, keyId) => {
      const snapshot = await read(accountId, keyId)
      if (keyId === payer.keyId && snapshot?.status === 'active') {
        bench.history.setKey({ ...payer, status: 'deactivated' })
        await bench.ledger.setKeyState(keyState(payer, { status: 'deactivated' }))
      }
      return snapshot
    }
    expect(await bench.ledger.reserve(request(payer, 1))).toEqual({ kind: 'key_inactive', status: 'deactivated' })
    bench.history.key = read
  })

  test('an account state set during a load replaces the loaded one', async () => {
    const payer = await bench.fund(1_000)
    await bench.ledger.reserve(request(payer, 1))
    await loseConfirmation(payer.accountId)
    const read = bench.history.accounts
    bench.history.accounts = async (ids) => {
      const snapshots = await read(ids)
      if (snapshots[0]?.accountId === payer.accountId && snapshots[0].status === 'active') {
        bench.history.setAccount(payer.accountId, { status: 'suspended' })
        await another().ledger.setAccountState(accountState(payer.accountId, { status: 'suspended' }))
      }
      return snapshots
    }
    expect(await bench.ledger.reserve(request(payer, 1))).toEqual({ kind: 'account_suspended' })
    bench.history.accounts = read
  })

  test('a state set during a load also applies to an account that is not yet loaded', async () => {
    const payer = await bench.fund(1_000)
    bench.history.setAccount(payer.accountId, { status: 'suspended' })
    expect(await bench.ledger.setAccountState(accountState(payer.accountId, { status: 'suspended' }))).toBe('updated')
    expect(await bench.ledger.reserve(request(payer, 1))).toEqual({ kind: 'account_suspended' })
    expect(await bench.ledger.setAccountState(accountState(randomId('acct'), { status: 'active' }))).toBe(
      'unknown_account',
    )
  })
})

describe('a rebuild', () => {
  test('a rebuild repairs wrong figures under traffic, without creating or losing money', async () => {
    const payers = await Promise.all(Array.from({ length: 20 }, () => bench.fund(100_000)))
    const ids = payers.map((payer) => payer.accountId)
    for (const payer of payers) await settled(payer, 10)
    for (const id of ids) await addToStored(bench.redis, 'account', accountName(id), { available: 12_345 })
    let isOver = false
    let charged = 0
    const traffic = payers.map(async (payer, index) => {
      while (!isOver) {
        const hold = request(payer, 500)
        await bench.ledger.reserve(hold)
        await bench.ledger.settle(settlement(hold, index))
        charged += index
      }
    })
    const flushing = (async () => {
      while (!isOver) {
        await bench.history.flush(bench.redis, ids)
        await bench.redis.ping()
      }
    })()
    const report = await rebuildAll({ redis: bench.redis, history: bench.history, logger: bench.logger })
    expect(report.accounts).toBeGreaterThanOrEqual(20)
    isOver = true
    await Promise.all([...traffic, flushing])
    await bench.history.flush(bench.redis, ids)
    let total = 0
    for (const id of ids) {
      const balance = await bench.ledger.readBalance(id)
      expect(balance).toMatchObject({ held: nano(0) })
      expect((await bench.history.account(id))?.balance).toBe(balance?.available ?? nano(-1))
      total += balance?.available ?? 0
    }
    expect(total).toBe(20 * 100_000 - 20 * 10 - charged)
  })
})
