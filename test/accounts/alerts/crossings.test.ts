/** Which alerts are due: one per fall below a threshold, again after a rise, and none lost to the pause between two mails. */
import { describe, expect, test } from 'bun:test'
import { type AlertState, EMPTY, type Figures, findCrossings, PAUSE_MS } from '@/accounts/alerts/crossings'
import { NANO_PER_USD } from '@/lib/money'

const NOON = Date.UTC(2026, 2, 4, 12)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const THRESHOLDS = [
  { name: 'balance:first', threshold: 10 * NANO_PER_USD },
  { name: 'balance:second', threshold: 2 * NANO_PER_USD },
  EMPTY,
]

/** An account that is looked at again and again. */
function watched(more: Partial<Figures> = {}) {
  const states = new Map<string, AlertState>()
  let last = { balance: 0, spent: 0 }
  const own = { balance: 0, spent: 0 }
  return {
    credit(usd: number): void {
      own.balance += usd * NANO_PER_USD
    },
    /** Spends, and looks at `nowMs`. */
    spend(usd: number, nowMs = NOON, now: Partial<Figures> = {}) {
      own.balance -= usd * NANO_PER_USD
      own.spent += usd * NANO_PER_USD
      const base = { accountId: 'acct_1', accountName: 'Ada', thresholds: THRESHOLDS, budgets: [], days: [] }
      const found = findCrossings({ ...base, ...own, ...more, ...now }, last, states, nowMs)
      for (const [name, state] of found.states) states.set(name, state)
      last = { ...own }
      return found.due.map(({ mail }) => mail)
    },
  }
}

const kinds = (mails: { kind: string; facts: object }[]) =>
  mails.map(({ kind, facts }) => ('threshold' in facts ? `${kind} ${facts.threshold}` : kind))

describe('the balance alert', () => {
  test('the balance alerts once when it falls below each threshold, and once when it reaches zero', () => {
    const account = watched()
    account.credit(20)
    expect(kinds(account.spend(5))).toEqual([])
    expect(kinds(account.spend(6))).toEqual(['balance_low 10.00 USD'])
    expect(kinds(account.spend(1))).toEqual([])
    expect(kinds(account.spend(6.5))).toEqual(['balance_low 2.00 USD'])
    expect(kinds(account.spend(1.499))).toEqual(['balance_empty'])
    expect(kinds(account.spend(0.001))).toEqual([])
  })

  test('a balance that falls below several thresholds at once alerts once, for the last threshold', () => {
    const account = watched()
    account.credit(20)
    expect(kinds(account.spend(19))).toEqual(['balance_low 2.00 USD'])
    expect(kinds(account.spend(0.5))).toEqual([])
  })

  test('a balance that was never above a threshold gives no alert for it', () => {
    const account = watched()
    account.credit(5)
    expect(kinds(account.spend(1))).toEqual([])
    expect(kinds(account.spend(3))).toEqual(['balance_low 2.00 USD'])
  })

  test('a threshold can alert again once the balance was 10 % above it', () => {
    const account = watched()
    const later = NOON + PAUSE_MS
    account.credit(12)
    expect(kinds(account.spend(3))).toEqual(['balance_low 10.00 USD'])
    account.credit(1.9)
    expect(kinds(account.spend(1, later))).toEqual([])
    account.credit(1.2)
    expect(kinds(account.spend(0.1, later))).toEqual([])
    account.credit(0.1)
    expect(kinds(account.spend(0.1, later))).toEqual([])
    expect(kinds(account.spend(2, later))).toEqual(['balance_low 10.00 USD'])
  })

  test('a balance that rose and fell again between two checks alerts again, also if an operator removed the credit', () => {
    const account = watched()
    account.credit(20)
    expect(kinds(account.spend(11))).toEqual(['balance_low 10.00 USD'])
    account.credit(30)
    expect(kinds(account.spend(30, NOON + PAUSE_MS))).toEqual(['balance_low 10.00 USD'])
    const other = watched()
    other.credit(20)
    expect(kinds(other.spend(1))).toEqual([])
    other.credit(-15)
    expect(kinds(other.spend(0.1))).toEqual(['balance_low 10.00 USD'])
  })

  test('the balance alerts at most once in six hours; a delayed alert is only sent if the balance is still low', () => {
    for (const isStillLow of [true, false]) {
      const account = watched()
      account.credit(20)
      expect(kinds(account.spend(11))).toEqual(['balance_low 10.00 USD'])
      account.credit(20)
      expect(kinds(account.spend(20, NOON + HOUR_MS))).toEqual([])
      if (!isStillLow) account.credit(10)
      expect(kinds(account.spend(0, NOON + PAUSE_MS))).toEqual(isStillLow ? ['balance_low 10.00 USD'] : [])
      expect(kinds(account.spend(0, NOON + 2 * PAUSE_MS))).toEqual([])
    }
  })

  test('an alert’s remaining time is computed from the usage of the last seven days', () => {
    const account = watched({ days: [9, 1, 1, 1, 1, 1, 1, 1, 50].map((usd) => usd * NANO_PER_USD) })
    account.credit(20)
    const [mail] = account.spend(11.5)
    expect(mail?.facts).toMatchObject({ balance: '8.50 USD', threshold: '10.00 USD', daysLeft: 8 })
  })
})

describe('the budget alert', () => {
  const budget = (spent: number, limit = 100, window: 'day' | 'total' = 'day') => ({
    budgets: [{ scope: 'key' as const, scopeId: 'key_1', scopeName: 'ci', memberId: 'user_1', window, spent, limit }],
  })
  const percents = (mails: { facts: object }[]) =>
    mails.map(({ facts }) => ('percent' in facts ? facts.percent : facts))

  test('a budget alerts at 50, 80 and 100 %, once in each window', () => {
    const account = watched()
    const at = (spent: number, nowMs = NOON) => percents(account.spend(0, nowMs, budget(spent)))
    expect([49, 50, 60, 80, 99, 100, 120].map((spent) => at(spent))).toEqual([[], [50], [], [80], [], [100], []])
    expect(at(49, NOON + DAY_MS)).toEqual([])
    expect(at(85, NOON + DAY_MS)).toEqual([80])
    expect(at(100, NOON + DAY_MS)).toEqual([100])
  })

  test('a raised budget alerts again when spending reaches a percentage of the new limit', () => {
    const account = watched()
    const at = (spent: number, limit: number) => percents(account.spend(0, NOON, budget(spent, limit, 'total')))
    expect(at(100, 100)).toEqual([100])
    expect(at(100, 200)).toEqual([])
    expect(at(160, 200)).toEqual([80])
  })

  test('a budget of 0 refuses requests from the start and does not alert', () => {
    expect(watched().spend(0, NOON, budget(0, 0))).toEqual([])
  })
})

describe('the alert of unusual spending', () => {
  const days = (today: number, ...before: number[]) => ({
    days: [today, ...before, ...Array<number>(14 - before.length).fill(0)].map((usd) => usd * NANO_PER_USD),
  })
  const usual = [2, 2, 2, 2, 2, 2, 2, 2]

  test('a day with more than three times the median spending alerts once', () => {
    const account = watched()
    expect(kinds(account.spend(0, NOON, days(6, ...usual)))).toEqual([])
    expect(kinds(account.spend(0, NOON, days(6.01, ...usual)))).toEqual(['spend_unusual'])
    expect(kinds(account.spend(0, NOON, days(9, ...usual)))).toEqual([])
    expect(kinds(account.spend(0, NOON + DAY_MS, days(9, ...usual)))).toEqual(['spend_unusual'])
  })

  test('a day with small spending, or of a rarely used account, gives no alert of unusual spending', () => {
    expect(watched().spend(0, NOON, days(50, 2, 2, 2))).toEqual([])
    expect(watched().spend(0, NOON, days(0.9, ...usual.map((usd) => usd / 100)))).toEqual([])
  })
})
