/** Keeping holds alive: when each is renewed, with which cost, and failed rounds. */
import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { FACTS, memoryLogger } from '@test/ledger/harness'
import { type ManualClock, manualClock } from '@test/routing/world'
import { createHoldKeeper, type HoldKeeper, type Renewable } from '@/gateway/hold/hold-keeper'
import type { Renewal } from '@/ledger/outcomes'
import { shardOf } from '@/ledger/store/names'
import { nano } from '@/lib/money'

const TTL_MS = 20_000

let clock: ManualClock
let batches: Renewal[][]
let isDown: boolean
let failures: number
let keeper: HoldKeeper
/** Ends while the first batch is under way. */
let forgetAtFirst: Renewable | undefined

beforeEach(() => {
  jest.useFakeTimers()
  clock = manualClock()
  batches = []
  isDown = false
  failures = 0
  forgetAtFirst = undefined
  keeper = keeperFor(TTL_MS)
})
afterEach(() => {
  jest.useRealTimers()
})

function keeperFor(ttlMs: number): HoldKeeper {
  const ledger = {
    async renew(renewals: readonly Renewal[]) {
      if (isDown) throw new Error('gone')
      batches.push([...renewals])
      if (forgetAtFirst) keeper.forget(forgetAtFirst)
      return []
    },
  }
  return createHoldKeeper(ledger, clock, memoryLogger(), ttlMs, { renewalFailed: () => void failures++ })
}

function keep(holdId: string, costOf: () => number = () => 1, accountId = 'acct_1'): Renewable {
  const hold = {
    renewAtMs: 0,
    accountId,
    renewal: () => ({ accountId, holdId, ttlMs: TTL_MS, facts: FACTS, reached: true, cost: nano(costOf()) }),
  }
  keeper.keep(hold)
  return hold
}

/** Lets so many seconds pass, one look at a time. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    clock.advance(1_000)
    jest.advanceTimersByTime(1_000)
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  }
}

const renewed = () => batches.flat().map(({ holdId, cost }) => `${holdId} ${cost}`)

test('a new hold is renewed at the next tick, then every five seconds, with the current cost of the answer', async () => {
  let cost = 0
  keep('a', () => ++cost)
  keeper.start()
  await pass(1)
  expect(renewed()).toEqual(['a 1'])
  await pass(4)
  expect(renewed()).toEqual(['a 1'])
  await pass(7)
  expect(renewed()).toEqual(['a 1', 'a 2', 'a 3'])
})

test('a short hold is renewed four times in its life', async () => {
  keeper = keeperFor(8_000)
  keep('a')
  keeper.start()
  await pass(9)
  expect(renewed()).toHaveLength(5)
})

test('a hold that ended is no longer renewed', async () => {
  const forgotten = keep('a')
  keep('b')
  keeper.start()
  await pass(1)
  keeper.forget(forgotten)
  expect(keeper.openCount()).toBe(1)
  await pass(6)
  expect(renewed()).toEqual(['a 1', 'b 1', 'b 1'])
})

test('holds are renewed in batches of a hundred, without holds that ended', async () => {
  const made: number[] = []
  const holds = Array.from({ length: 250 }, (_, index) => keep(`h${index}`, () => made.push(batches.length)))
  keeper.start()
  forgetAtFirst = holds[249]
  await pass(1)
  expect(batches.map((batch) => batch.length)).toEqual([100, 100, 49])
  expect(made).toEqual([...Array(100).fill(0), ...Array(100).fill(1), ...Array(49).fill(2)])
})

test('holds of one shard are renewed together, in any order', async () => {
  const accounts = ['acct_1', 'acct_2', 'acct_3']
  expect(new Set(accounts.map(shardOf)).size).toBe(3)
  for (let index = 0; index < 300; index++) keep(`h${index}`, () => 1, accounts[index % 3])
  keeper.start()
  await pass(1)
  const shards = batches.map((batch) => [...new Set(batch.map(({ accountId }) => shardOf(accountId)))])
  expect(shards).toEqual(accounts.map((accountId) => [shardOf(accountId)]))
})

test('a failed renewal is counted, and the next one is sent on time', async () => {
  keep('a')
  isDown = true
  keeper.start()
  await pass(1)
  expect([failures, renewed()]).toEqual([1, []])
  isDown = false
  await pass(5)
  expect([failures, renewed()]).toEqual([1, ['a 1']])
})

test('a new attempt of a request replaces the renewal of the earlier attempt', async () => {
  let cost = 1
  const hold = keep('a', () => cost)
  cost = 2
  keeper.keep(hold)
  keeper.start()
  await pass(1)
  expect(renewed()).toEqual(['a 2'])
})
