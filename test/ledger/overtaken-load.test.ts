/** A load of an account that reads, is overtaken by another load or a change, and then writes: its outdated values are not used. */
import { afterAll, beforeAll, expect } from 'bun:test'
import { test } from '@test/ledger/accounts/within-day'
import type { RestoreMode } from '@/ledger/accounts/restore'
import type { RedisClient } from '@/ledger/store/connection'
import { accountName, keyName, metaName, shardOf } from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'
import { connect, createBench, request, settlement } from './harness'
import { createMemoryHistory, keyState } from './memory-history'

const CREDIT = 1_000
const COST = 150

let redis: RedisClient

beforeAll(async () => {
  redis = await connect()
})
afterAll(() => redis.disconnect())

/** Runs `work` on an account whose store came back without its last charge, and another load right after its first look. */
async function overtake(mode: RestoreMode): Promise<void> {
  const memory = createMemoryHistory()
  const other = createBench(redis, undefined, memory)
  let isFirst = true
  const history = {
    ...memory,
    async knownRecordIds(ids: string[]) {
      const known = await memory.knownRecordIds(ids)
      if (isFirst) {
        isFirst = false
        await other.ledger.readBalance(payer.accountId)
        await other.ledger.readKey(payer)
      }
      return known
    },
  }
  const payer = await other.fund(CREDIT)
  const open = request(payer, 10)
  await other.ledger.reserve(open)
  const names = [accountName(payer.accountId), keyName(payer)]
  const old = await Promise.all(names.map((name) => redis.dumpBuffer(name)))
  const hold = request(payer, 400)
  await other.ledger.reserve(hold)
  await other.ledger.settle(settlement(hold, COST))
  await memory.flush(redis, [payer.accountId])
  for (const [index, name] of names.entries()) await redis.restore(name, 0, old[index] ?? '', 'REPLACE')
  await redis.hset(metaName(shardOf(payer.accountId)), 'epoch', randomId('epoch'))
  const slow = createBench(redis, undefined, history)
  await slow.deps.restorer.account(payer.accountId, mode)
  await slow.deps.restorer.key(payer, mode)
  expect(isFirst).toBe(false)
  const balance = { available: nano(CREDIT - COST - 10), held: nano(10), spent: nano(COST) }
  expect(await other.ledger.readBalance(payer.accountId)).toMatchObject(balance)
  expect(await other.ledger.readKey(payer)).toMatchObject({ open: 1, held: nano(10), spentThisMonth: nano(COST) })
}

test.each<RestoreMode>(['load', 'rebuild'])('if another load overtakes a %s, no charge is counted twice', overtake)

test.each(['while the history is read', 'after the history was read'])(
  'a key deactivated %s stays deactivated',
  async (when) => {
    const memory = createMemoryHistory()
    const other = createBench(redis, undefined, memory)
    const payer = { accountId: randomId('acct'), keyId: randomId('key') }
    memory.addAccount(payer.accountId)
    memory.addCredit(payer.accountId, 'credit', CREDIT)
    memory.setKey(payer)
    let isFirst = true
    async function deactivate(): Promise<void> {
      if (!isFirst) return
      isFirst = false
      const state = keyState(payer, { status: 'deactivated' })
      memory.setKey(state)
      await other.ledger.setKeyState(state)
    }
    const history = {
      ...memory,
      async account(id: string) {
        const found = await memory.account(id)
        if (when === 'while the history is read') await deactivate()
        return found
      },
      async key(accountId: string, keyId: string) {
        const found = await memory.key(accountId, keyId)
        if (when === 'after the history was read') await deactivate()
        return found
      },
    }
    const slow = createBench(redis, undefined, history)
    expect(await slow.ledger.reserve(request(payer, 10))).toEqual({ kind: 'key_inactive', status: 'deactivated' })
  },
)

test('the first request of an account loads account and key from Postgres concurrently', async () => {
  const memory = createMemoryHistory()
  const payer = { accountId: randomId('acct'), keyId: randomId('key') }
  memory.addAccount(payer.accountId)
  memory.addCredit(payer.accountId, 'credit', CREDIT)
  memory.setKey(payer)
  const { ledger } = createBench(redis, undefined, memory)
  expect(await ledger.reserve(request(payer, 10))).toMatchObject({ kind: 'reserved', available: nano(CREDIT - 10) })
  expect(memory.reads()).toBe(2)
})
