/** Settlements reach the ledger: sent until acknowledged, and again if Redis failed soon afterwards. */
import { beforeEach, describe, expect, jest, test } from 'bun:test'
import { FACTS, memoryLogger } from '@test/ledger/harness'
import { type ManualClock, manualClock } from '@test/routing/world'
import { until } from '@test/support/until'
import { usageRecord } from '@test/usage/sample-records'
import { createSettler, type Settler } from '@/gateway/hold/settler'
import type { Settlement, SettleOutcome } from '@/ledger/outcomes'
import type { SentListener } from '@/ledger/store-calls'
import { nano } from '@/lib/money'

type Call = {
  id: string
  force: boolean | undefined
  isRepeat?: boolean | undefined
  cost?: number
  freePerHour?: number | undefined
}

let clock: ManualClock
let logger: ReturnType<typeof memoryLogger>
let calls: Call[]
let outcome: SettleOutcome
/** What each call waits for before it is answered, and how: as asked for by the test. */
let answer: () => Promise<void>
let flags: string[]
let failures: number
/** What the journal was told: a settlement's id and cost, or an id that it may forget. */
let journalled: unknown[]
/** The journal's file; undefined if it takes nothing. */
let file: { isSound: boolean } | undefined
/** Whether commands reach the connection to the store. */
let isConnected: boolean
/** Holds whose settlements the history has. */
let booked: Set<string>
let settler: Settler

beforeEach(() => {
  clock = manualClock()
  logger = memoryLogger()
  calls = []
  flags = []
  failures = 0
  booked = new Set()
  outcome = { kind: 'settled', overrun: false, record: usageRecord() }
  answer = async () => undefined
  const ledger = {
    async settle(
      { holdId, cost, freePerHour }: Settlement,
      options?: { force?: boolean; isRepeat?: boolean },
      sent?: SentListener,
    ) {
      calls.push({ id: holdId, cost, force: options?.force, isRepeat: options?.isRepeat, freePerHour })
      if (isConnected) sent?.onSent()
      await answer()
      return outcome
    },
    async isBooked({ holdId }: { holdId: string }) {
      await answer()
      return booked.has(holdId)
    },
    async release({ holdId }: { holdId: string }) {
      calls.push({ id: holdId, force: undefined })
      await answer()
      return 'released' as const
    },
  }
  const metrics = { flagged: (flag: string) => void flags.push(flag), settlementFailed: () => void failures++ }
  journalled = []
  file = undefined
  isConnected = true
  const journal = {
    add({ holdId, cost }: Settlement) {
      journalled.push([holdId, cost, calls.length])
      return file
    },
    flush: () => void journalled.push('flush'),
    forget: (holdId: string) => void journalled.push(holdId),
  }
  settler = createSettler(ledger, clock, logger, metrics, journal)
})

const payer = { accountId: 'acct_1', keyId: 'key_1' }
const settle = (holdId: string) =>
  settler.resolve({ kind: 'settle', settlement: { ...payer, holdId, cost: nano(5), tokens: 1, facts: FACTS } })
const release = (holdId: string) => settler.resolve({ kind: 'release', ...payer, holdId })
const ids = () => calls.map((call) => call.id)
const gone = async () => {
  throw new Error('gone')
}

test('a settlement also charges a hold that Redis lost after it had acknowledged the reserve', async () => {
  await settle('a')
  await release('b')
  expect(calls).toMatchObject([
    { id: 'a', force: true },
    { id: 'b', force: undefined },
  ])
  expect(settler.pendingCount()).toBe(0)
})

describe('unacknowledged settlements', () => {
  test('an unacknowledged settlement is sent again until it is acknowledged, counted and logged each time', async () => {
    let left = 2
    answer = async () => {
      if (left-- > 0) throw new Error('gone')
    }
    await settle('a')
    expect([ids(), failures]).toEqual([['a', 'a', 'a'], 2])
    // The store may have charged it, and forgotten part of that since.
    expect(calls.map(({ isRepeat }) => isRepeat)).toEqual([undefined, true, true])
    expect(logger.lines.map((line) => line.event)).toEqual([
      'settlement_unacknowledged',
      'settlement_unacknowledged',
      'settlement_acknowledged',
    ])
  })

  test('a settlement delays its caller only for a limited time, and continues in the background', async () => {
    const store = Promise.withResolvers<void>()
    answer = () => store.promise
    await settle('a')
    expect(settler.pendingCount()).toBe(1)
    store.resolve()
    await until(() => settler.pendingCount() === 0, 'the ledger to know')
    expect(ids()).toEqual(['a'])
  })

  test('an unacknowledged settlement is sent as soon as the store is back', async () => {
    // No time goes by but what the test lets pass.
    jest.useFakeTimers()
    answer = gone
    void settle('a')
    while (failures < 6) {
      jest.advanceTimersByTime(100)
      await Promise.resolve()
    }
    answer = async () => undefined
    settler.storeReturned()
    jest.useRealTimers()
    await until(() => settler.pendingCount() === 0, 'the ledger to know')
    expect(ids()).toHaveLength(7)
  })

  test('settlements that are unacknowledged when the gateway stops are counted', async () => {
    const store = Promise.withResolvers<void>()
    answer = () => store.promise
    void settle('a')
    void release('b')
    expect(await settler.drain(20)).toBe(2)
    store.resolve()
    expect(await settler.drain(5_000)).toBe(0)
  })
})

describe('acknowledged settlements', () => {
  test('an acknowledged settlement is sent again if the store failed within the next seconds', async () => {
    await settle('a')
    await release('b')
    clock.advance(5_000)
    settler.storeReturned()
    await until(() => calls.length === 4, 'both again')
    expect(new Map(calls.slice(2).map(({ id, isRepeat }) => [id, isRepeat]))).toEqual(
      new Map([
        ['a', true],
        ['b', undefined],
      ]),
    )
  })

  test('an acknowledged settlement that is in the history is not sent again', async () => {
    await settle('a')
    await settle('b')
    booked.add('a')
    settler.storeReturned()
    expect(settler.pendingCount()).toBe(2)
    await until(() => settler.pendingCount() === 0, 'the ledger to know')
    expect([ids(), logger.lines]).toEqual([['a', 'b', 'b'], []])
    booked.clear()
    settler.storeReturned()
    await until(() => settler.pendingCount() === 0, 'the ledger to know')
    expect(ids()).toEqual(['a', 'b', 'b', 'b'])
  })

  test('an acknowledged settlement is checked again if the store fails again', async () => {
    await settle('a')
    booked.add('a')
    answer = gone
    settler.storeReturned()
    await until(() => failures > 0, 'a failure')
    answer = async () => undefined
    settler.storeReturned()
    expect(await settler.drain(5_000)).toBe(0)
    expect(ids()).toEqual(['a'])
    const events = logger.lines.map((line) => line.event)
    expect([events.at(0), events.at(-1)]).toEqual(['settlement_unacknowledged', 'settlement_acknowledged'])
  })

  test('a settlement of a disconnect that may be free is sent again with the first decision about its cost', async () => {
    outcome = { kind: 'settled', overrun: false, record: usageRecord({ cost: nano(0) }) }
    const settlement = { ...payer, holdId: 'a', cost: nano(5), tokens: 1, facts: FACTS, freePerHour: 3 }
    expect(await settler.resolve({ kind: 'settle', settlement })).toEqual(outcome)
    settler.storeReturned()
    await until(() => calls.length === 2, 'it again')
    expect(calls).toEqual([
      { id: 'a', cost: 5, force: true, freePerHour: 3 },
      { id: 'a', cost: 0, force: true, isRepeat: true, freePerHour: undefined },
    ])
  })

  test('a settlement after its hold’s expiry stays charged in full, even if Redis forgot the expiry', async () => {
    outcome = { kind: 'late', expiredCost: nano(3), record: usageRecord({ cost: nano(2), kind: 'late' }) }
    const settlement = { ...payer, holdId: 'a', cost: nano(5), tokens: 1, facts: FACTS, freePerHour: 3 }
    await settler.resolve({ kind: 'settle', settlement })
    settler.storeReturned()
    await until(() => calls.length === 2, 'it again')
    expect(calls[1]).toEqual({ id: 'a', cost: 5, force: true, isRepeat: true, freePerHour: undefined })
  })

  test('a settlement that a repeated call found settled is checked once, not twice', async () => {
    await settle('a')
    outcome = { kind: 'already_settled' }
    await settle('a')
    settler.storeReturned()
    await until(() => settler.pendingCount() === 0 && calls.length >= 3, 'it again')
    expect(ids()).toEqual(['a', 'a', 'a'])
    // Found settled after the first break, it may be lost with the next.
    settler.storeReturned()
    await until(() => settler.pendingCount() === 0 && calls.length >= 4, 'it once more')
    expect(ids()).toEqual(['a', 'a', 'a', 'a'])
  })

  test('after some seconds an acknowledged settlement is not checked again', async () => {
    await settle('old')
    clock.advance(5_001)
    await settle('new')
    settler.storeReturned()
    await until(() => settler.pendingCount() === 0 && calls.length >= 3, 'the new one again')
    expect(ids()).toEqual(['old', 'new', 'new'])
  })
})

describe('the ledger’s reply', () => {
  test('a charge that the ledger flagged is counted', async () => {
    outcome = { kind: 'settled', overrun: true, record: usageRecord({ flags: ['overrun', 'forced'] }) }
    await settle('a')
    expect(flags).toEqual(['overrun', 'forced'])
    expect(logger.lines).toMatchObject([{ event: 'settlement_outcome', fields: { outcome: 'settled' } }])
  })

  test.each([['already_settled'], ['already_released'], ['unknown_hold']] as const)(
    'the ledger’s reply %s to a settlement is logged as a warning',
    async (kind) => {
      outcome = { kind }
      await settle('a')
      expect(logger.lines).toMatchObject([{ level: 'warn', event: 'settlement_outcome', fields: { outcome: kind } }])
      expect(ids()).toEqual(['a'])
    },
  )
})

describe('when an answer may end', () => {
  /** Whether a call has ended although the store has not replied. No time passes meanwhile. */
  async function endsUnanswered(ending: Promise<unknown>): Promise<boolean> {
    let hasEnded = false
    void ending.then(() => {
      hasEnded = true
    })
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    return hasEnded
  }
  const mayBeFree = () =>
    settler.resolve({
      kind: 'settle',
      settlement: { ...payer, holdId: 'a', cost: nano(5), tokens: 1, facts: FACTS, freePerHour: 3 },
    })

  beforeEach(() => {
    answer = () => new Promise(() => undefined)
    file = { isSound: true }
  })

  test('a settlement ends the answer once it is flushed to the journal and sent, before the reply', async () => {
    expect(await endsUnanswered(settle('a'))).toBe(true)
    expect(journalled).toEqual([['a', nano(5), 0], 'flush'])
    expect(settler.pendingCount()).toBe(1)
  })

  test.each<[string, () => void, () => Promise<unknown>]>([
    ['a settlement without a journal', () => (file = undefined), () => settle('a')],
    ['a settlement whose journal the disk refused', () => (file = { isSound: false }), () => settle('a')],
    ['a settlement without a connection', () => (isConnected = false), () => settle('a')],
    ['a disconnect that may be free', () => undefined, mayBeFree],
    ['a release', () => undefined, () => release('a')],
  ])('%s waits for the reply', async (_, arrange, resolve) => {
    const reply = Promise.withResolvers<void>()
    answer = () => reply.promise
    arrange()
    const ending = resolve()
    expect(await endsUnanswered(ending)).toBe(false)
    reply.resolve()
    await ending
    expect(settler.pendingCount()).toBe(0)
  })

  test('an answer that was sent is charged even if Redis failed before its reply', async () => {
    let left = 2
    answer = async () => {
      if (left-- > 0) throw new Error('gone')
    }
    await settle('a')
    expect(await settler.drain(5_000)).toBe(0)
    expect(ids()).toEqual(['a', 'a', 'a'])
  })
})

describe('the journal', () => {
  test('the journal gets a settlement before the ledger does, is flushed before the answer ends, and gets no releases', async () => {
    await settle('a')
    await release('b')
    expect(journalled).toEqual([['a', nano(5), 0], 'flush', 'flush'])
  })

  test('the journal gets the decision on a disconnect that may be free', async () => {
    outcome = { kind: 'settled', overrun: false, record: usageRecord({ cost: nano(0) }) }
    const settlement = { ...payer, holdId: 'a', cost: nano(5), tokens: 1, facts: FACTS, freePerHour: 1 }
    await settler.resolve({ kind: 'settle', settlement })
    expect(journalled).toEqual([['a', nano(5), 0], ['a', nano(0), 1], 'flush'])
  })

  test.each([
    ['already_released', ['a']],
    ['unknown_hold', []],
  ] as const)('the journal forgets settlements that are never charged: %s %j', async (kind, forgotten) => {
    outcome = { kind }
    await settle('a')
    expect(journalled).toEqual([['a', nano(5), 0], ...forgotten, 'flush'])
  })

  test('settlements in another process’s journal are sent again unless the history has them', async () => {
    booked.add('a')
    const left = ['a', 'b'].map((holdId) => ({ ...payer, holdId, cost: nano(5), tokens: 1, facts: FACTS }))
    settler.resend(left)
    await settler.drain(60_000)
    expect(calls).toMatchObject([{ id: 'b', force: true, isRepeat: true }])
    expect(journalled.filter((word) => word !== 'flush')).toEqual(['a'])
  })
})
