/** The fate of a request whose gateway may be dead: decided by its hold and its records, and then final. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Bench, connect, createBench, FACTS, passDeadline, request, settlement } from '@test/ledger/harness'
import { holdName } from '@/ledger/store/names'
import { nano } from '@/lib/money'

let bench: Bench
beforeAll(async () => {
  bench = createBench(await connect())
})
afterAll(() => bench.redis.disconnect())

const GONE_FOR_EVER = { kind: 'charged', sinceMs: Number.POSITIVE_INFINITY } as const

test('the fate of a hold is open, recently charged, or free', async () => {
  const { ledger } = bench
  const payer = await bench.fund(10_000)
  const [charged, released] = [request(payer, 400), request(payer, 300)]
  for (const hold of [charged, released]) await ledger.reserve(hold)
  expect(await ledger.fateOf(charged)).toEqual({ kind: 'open' })
  expect(await ledger.sealFate(charged)).toEqual({ kind: 'open' })
  await ledger.settle(settlement(charged, 100))
  await ledger.release(released)
  const fate = await ledger.fateOf(charged)
  expect(fate.kind === 'charged' && fate.sinceMs).toBeLessThan(5_000)
  expect(await ledger.fateOf(released)).toEqual({ kind: 'free' })
})

test('an expired hold was charged if its provider was reached, otherwise it was free', async () => {
  const { ledger, redis } = bench
  const payer = await bench.fund(10_000)
  const [reached, early] = [request(payer, 400), request(payer, 300)]
  for (const hold of [reached, early]) await ledger.reserve(hold)
  const { accountId } = payer
  await ledger.renew([{ accountId, holdId: reached.holdId, ttlMs: 1_000, facts: FACTS, cost: nano(60), reached: true }])
  for (const hold of [reached, early]) await passDeadline(redis, hold)
  await ledger.expireDue(1_000)
  expect(await ledger.fateOf(reached)).toEqual(GONE_FOR_EVER)
  // A gateway that was only stuck may still charge it.
  expect(await ledger.fateOf(early)).toEqual({ kind: 'unknown' })
})

test('after a hold expired for free, a late settle charges nothing', async () => {
  const { ledger, redis } = bench
  const payer = await bench.fund(10_000)
  const [sealed, woken] = [request(payer, 400), request(payer, 300)]
  for (const hold of [sealed, woken]) {
    await ledger.reserve(hold)
    await passDeadline(redis, hold)
  }
  await ledger.expireDue(1_000)
  expect(await ledger.sealFate(sealed)).toEqual({ kind: 'free' })
  expect(await ledger.settle(settlement(sealed, 100), { force: true })).toEqual({ kind: 'already_released' })
  expect(await ledger.settle(settlement(woken, 100), { force: true })).toMatchObject({ kind: 'late' })
  expect((await ledger.sealFate(woken)).kind).toBe('charged')
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({ available: 9_900, held: 0, spent: 100 })
})

test('a charge that Redis lost is found among the usage records', async () => {
  const { ledger, redis, history } = bench
  const payer = await bench.fund(10_000)
  const hold = request(payer, 400)
  const name = holdName(payer.accountId, hold.holdId)
  await ledger.reserve(hold)
  await ledger.settle(settlement(hold, 100))
  await redis.del(name)
  expect(await ledger.fateOf(hold)).toEqual({ kind: 'unknown' })
  expect(await ledger.sealFate(hold)).toEqual(GONE_FOR_EVER)
  await history.flush(redis, [payer.accountId])
  await redis.del(name)
  expect(await ledger.sealFate(hold)).toEqual(GONE_FOR_EVER)
})

test('a hold that was never made is reported as free, and its id can never be reserved', async () => {
  const { ledger } = bench
  const payer = await bench.fund(10_000)
  const hold = request(payer, 400)
  expect(await ledger.fateOf(hold)).toEqual({ kind: 'unknown' })
  expect(await ledger.sealFate(hold)).toEqual({ kind: 'free' })
  expect(await ledger.reserve(hold)).toEqual({ kind: 'exists', state: 'released' })
  expect((await ledger.readBalance(payer.accountId))?.available).toBe(nano(10_000))
})
