/** reconcileHistory finds every kind of damage, and nothing in correct books. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { NOON_MS, usageRecord } from '@test/usage/sample-records'
import type { TransactionSql } from 'postgres'
import { type ReconcileDepth, reconcileHistory } from '@/accounts/reconcile'
import { nano } from '@/lib/money'
import { writeUsageBatch } from '@/usage/write-batch'
import { violationsAfter } from './damaged-books'
import { type Fixture, openFixture } from './fixture'
import { createTestAccount } from './test-account'

let fixture: Fixture
let accountId: string

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
  accountId = await createTestAccount(fixture)
  await fixture.credits.addCredit({ accountId, amount: nano(1_000), reference: 'first' })
  const late = usageRecord({ accountId, recordId: 'x:late', kind: 'late', cost: -2, held: 0, flags: ['late'] })
  const overrun = usageRecord({ accountId, cost: 50, held: 40, flags: ['overrun'], atMs: NOON_MS + 86_400_000 })
  await writeUsageBatch(fixture.database.sql, [
    usageRecord({ accountId, cost: 30, facts: { labels: { tags: ['team=a'] } } }),
    late,
    overrun,
  ])
})
afterAll(() => fixture.close())

describe('reconcileHistory', () => {
  test.each(['sums', 'records'] as const)(
    'reconcileHistory finds no violation in correct books, comparing %s',
    async (depth) => {
      expect(await reconcileHistory(fixture.database, depth)).toEqual({ violations: [], accounts: 1 })
    },
  )

  test.each<[string, ReconcileDepth, string]>([
    ['history_balance_differs', 'sums', 'UPDATE accounts SET balance_nano = balance_nano + 1'],
    ['history_balance_differs', 'sums', 'UPDATE accounts SET spent_nano = spent_nano - 1'],
    ['history_balance_differs', 'sums', 'DELETE FROM usage_daily'],
    ['daily_sum_differs', 'records', 'DELETE FROM usage_daily'],
    ['daily_sum_differs', 'records', 'UPDATE usage_daily SET output_tokens = output_tokens + 1'],
    ['daily_sum_differs', 'records', "DELETE FROM usage_records WHERE kind = 'late'"],
    ['tag_sum_differs', 'records', 'DELETE FROM usage_daily_tags'],
    ['tag_sum_differs', 'records', 'UPDATE usage_daily_tags SET cost_nano = cost_nano + 1'],
    ['tag_sum_differs', 'records', "UPDATE usage_daily_tags SET tags = 'team=b'"],
    [
      'event_counted_twice',
      'records',
      "CREATE TEMP TABLE again AS SELECT * FROM usage_records LIMIT 1; UPDATE again SET settled_at = settled_at + interval '30 days'; INSERT INTO usage_records SELECT * FROM again",
    ],
    [
      'hold_charged_twice',
      'records',
      "UPDATE usage_records SET event_id = 'x', hold_id = 'x' WHERE kind = 'settle' AND cost_nano = 30; UPDATE usage_records SET hold_id = 'x' WHERE kind = 'late'",
    ],
    ['charged_more_than_held', 'records', "UPDATE usage_records SET flags = '{}' WHERE 'overrun' = ANY(flags)"],
    ['charges_without_account', 'sums', "UPDATE usage_daily SET account_id = 'acct_gone'"],
    [
      'credit_not_applied',
      'sums',
      "UPDATE credit_outbox SET applied_at = NULL, created_at = now() - interval '2 minutes'",
    ],
    [
      'transfer_differs',
      'sums',
      "INSERT INTO ledger_entries (id, account_id, kind, amount_nano, reference) SELECT 'e', id, 'transfer', -5, 'transfer:x' FROM accounts",
    ],
    ['ledger_entries_not_protected', 'sums', 'ALTER TABLE ledger_entries DISABLE TRIGGER ledger_entries_append_only'],
    [
      'dead_letter',
      'sums',
      "INSERT INTO dead_letters (stream, entry_id, payload, error, is_booked) VALUES ('s', '1-0', '[]', 'torn', false)",
    ],
  ])('reconcileHistory reports %s, comparing %s, after: %s', async (kind, depth, damage) => {
    const violations = await violationsAfter(fixture.database, depth, (transaction) => transaction.unsafe(damage))
    expect(violations.map((violation) => violation.kind)).toContain(kind)
  })

  test('a reported violation names the account and both figures', async () => {
    const violations = await violationsAfter(
      fixture.database,
      'sums',
      (transaction) => transaction`UPDATE accounts SET balance_nano = 5`,
    )
    const detail = 'balance 5, spent 78; credits 1000, charges 78'
    expect(violations).toEqual([{ kind: 'history_balance_differs', accountId, detail }])
  })

  test('a charge in a dead letter that can still be booked is no violation', async () => {
    const bury = (transaction: TransactionSql) =>
      transaction`INSERT INTO dead_letters (stream, entry_id, payload, error, is_booked) VALUES ('s', '1-0', '[]', 'torn', true)`
    expect(await violationsAfter(fixture.database, 'records', bury)).toEqual([])
  })

  test('a hold that expired and was corrected late is charged once', async () => {
    await writeUsageBatch(fixture.database.sql, [
      usageRecord({ accountId, holdId: 'y', kind: 'expire', cost: 5 }),
      usageRecord({ accountId, holdId: 'y', recordId: 'y:late', kind: 'late', cost: 3, held: 0, flags: ['late'] }),
    ])
    expect((await reconcileHistory(fixture.database, 'records')).violations).toEqual([])
  })

  test('reconcileHistory reports no false violation under traffic', async () => {
    const { database } = fixture
    let isDone = false
    const writing = (async () => {
      for (let index = 0; index < 40; index++) {
        await writeUsageBatch(database.sql, [
          usageRecord({ accountId, cost: index }),
          usageRecord({ accountId, cost: 1 }),
        ])
        await fixture.credits.addCredit({ accountId, amount: nano(3), reference: `r${index}` })
      }
      isDone = true
    })()
    while (!isDone) expect((await reconcileHistory(database, 'records')).violations).toEqual([])
    await writing
  })
})
