/** Clients that disconnect before the first byte: a few per hour are free, and their tokens stay counted. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readStored, setStored } from '@test/ledger/store/stored'
import type { Payer } from '@/ledger/outcomes'
import { accountName } from '@/ledger/store/names'
import { type Bench, connect, createBench, request, settlement, storeMs } from './harness'

const FREE = 3
const LIMITS = { requestsPerMinute: 1_000, tokensPerMinute: 1_000, concurrency: 100 }
const MS_PER_HOUR = 3_600_000
let bench: Bench

beforeAll(async () => {
  bench = createBench(await connect(), LIMITS)
})
afterAll(() => bench.redis.disconnect())

/** Makes the hour that is counted in one that does not end while the test runs. */
async function countIn(payer: Payer, hours: number, count: number): Promise<void> {
  const hour = Math.floor((await storeMs(bench.redis)) / MS_PER_HOUR) + hours
  await setStored(bench.redis, 'account', accountName(payer.accountId), { hangUpHour: hour, hangUps: count })
}

async function countedOf(payer: Payer): Promise<string | undefined> {
  return (await readStored(bench.redis, 'account', accountName(payer.accountId)))?.hangUps
}

async function hangUp(payer: Payer, tokens = 1): Promise<number> {
  const hold = request(payer, 50, { tokens })
  expect(await bench.ledger.reserve(hold)).toMatchObject({ kind: 'reserved' })
  const outcome = await bench.ledger.settle(settlement(hold, 20, { tokens, freePerHour: FREE }), { force: true })
  if (outcome.kind !== 'settled') throw new Error(outcome.kind)
  return outcome.record.cost
}

test('free disconnects are limited per account over all keys and processes; the next one is charged', async () => {
  const payer = await bench.fund(1_000)
  expect(await hangUp(payer)).toBe(0)
  await countIn(payer, 1, 1)
  const other = { ...payer, keyId: 'key_other' }
  bench.history.setKey(other)
  expect(await Promise.all([hangUp(payer), hangUp(other)])).toEqual([0, 0])
  expect([await hangUp(payer), await hangUp(other)]).toEqual([20, 20])
  expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ available: 960, held: 0, spent: 40, seq: 5 })
})

test('free disconnects are available again in the next hour', async () => {
  const payer = await bench.fund(1_000)
  await hangUp(payer)
  await countIn(payer, -1, 100)
  expect(await hangUp(payer)).toBe(0)
})

test('repeating a settle changes neither the charge nor the number of free disconnects', async () => {
  const payer = await bench.fund(1_000)
  const hold = request(payer, 50)
  await bench.ledger.reserve(hold)
  await countIn(payer, 1, FREE - 1)
  const wish = settlement(hold, 20, { freePerHour: FREE })
  expect(await bench.ledger.settle(wish)).toMatchObject({ kind: 'settled', record: { cost: 0 } })
  expect(await bench.ledger.settle(wish)).toEqual({ kind: 'already_settled' })
  expect(await countedOf(payer)).toBe(String(FREE))
  expect(await bench.ledger.fateOf(hold)).toEqual({ kind: 'free' })
})

test('tokens of a disconnect stay counted per minute, whether the disconnect was free or not', async () => {
  const payer = await bench.fund(1_000)
  expect(await hangUp(payer, 600)).toBe(0)
  const more = await bench.ledger.reserve(request(payer, 50, { tokens: 600 }))
  expect(more).toMatchObject({ kind: 'rate_limited', scope: 'tokens' })
})

test('a complete answer uses up no free disconnect and is charged', async () => {
  const payer = await bench.fund(1_000)
  const hold = request(payer, 50)
  await bench.ledger.reserve(hold)
  expect(await bench.ledger.settle(settlement(hold, 20))).toMatchObject({ kind: 'settled', record: { cost: 20 } })
  expect(await countedOf(payer)).toBe('0')
})
