/** A store that lost its last seconds is sent settlements again that the history has: none is charged twice, whenever it comes. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { LedgerHistory, Payer, ReserveRequest } from '@/ledger/outcomes'
import { accountName, deadlinesName, holdMember, holdName, keyName, metaName, shardOf } from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'
import { type Bench, connect, createBench, request, settlement } from './harness'

const CREDIT = 10_000
const COST = 300
let bench: Bench

beforeAll(async () => {
  bench = createBench(await connect())
})
afterAll(() => bench.redis.disconnect())

/** The moments of a load at which the settlement can come, each a read of the history, and before and after it. */
const MOMENTS = ['before', 'accounts', 'knownRecordIds', 'after'] as const

test.each(MOMENTS)('sent again %s the account is compared with the history', async (moment) => {
  const { payer, hold } = await chargedAndForgotten()
  const again = () => bench.ledger.settle(settlement(hold, COST), { force: true })
  if (moment === 'before') await again()
  const restore = moment === 'accounts' || moment === 'knownRecordIds' ? interrupt(moment, again) : () => undefined
  await bench.ledger.readBalance(payer.accountId)
  restore()
  if (moment === 'after') expect(await again()).toEqual({ kind: 'already_settled' })
  await bench.history.flush(bench.redis, [payer.accountId])
  const balance = await bench.ledger.readBalance(payer.accountId)
  expect(balance).toMatchObject({ available: nano(CREDIT - COST), held: nano(0), spent: nano(COST) })
  expect((await bench.history.account(payer.accountId))?.spent).toBe(nano(COST))
  const key = await bench.ledger.readKey(payer)
  expect(key).toMatchObject({ open: 0, held: nano(0), spentThisMonth: nano(COST) })
})

/** A charge that has reached the history, in a store that came back as it was before the charge. */
async function chargedAndForgotten(): Promise<{ payer: Payer; hold: ReserveRequest }> {
  const { redis, ledger, history } = bench
  const payer = await bench.fund(CREDIT)
  const hold = request(payer, 1_000)
  await ledger.reserve(hold)
  const names = [accountName(payer.accountId), keyName(payer), holdName(payer.accountId, hold.holdId)]
  const before = await Promise.all(names.map((name) => redis.hgetall(name)))
  await ledger.settle(settlement(hold, COST))
  await history.flush(redis, [payer.accountId])
  for (const [index, name] of names.entries()) {
    await redis.del(name)
    await redis.hset(name, before[index] ?? {})
  }
  const shard = shardOf(payer.accountId)
  await redis.zadd(deadlinesName(shard), Date.now() + 60_000, holdMember({ ...hold, amount: hold.amount }))
  await redis.hset(metaName(shard), 'epoch', randomId('epoch'))
  return { payer, hold }
}

/** Does `work` once, while the history is being read. Returns how to stop that. */
function interrupt(name: 'accounts' | 'knownRecordIds', work: () => Promise<unknown>): () => void {
  const { history } = bench
  const read: (ids: string[]) => Promise<unknown> = history[name]
  let isDone = false
  const interrupted = async (ids: string[]) => {
    const answer = await read(ids)
    if (!isDone) {
      isDone = true
      await work()
    }
    return answer
  }
  Object.assign(history, { [name]: interrupted } satisfies Partial<Record<keyof LedgerHistory, unknown>>)
  return () => void Object.assign(history, { [name]: read })
}
