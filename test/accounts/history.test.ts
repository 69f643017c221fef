/** The history that the ledger is loaded from: complete, and read at one moment. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { freshDatabase, redisUrl, startPostgres } from '@test/support/stores'
import { NOON_MS, usageRecord } from '@test/usage/sample-records'
import { signalServer } from '@test/usage/signal-server'
import { createLedgerHistory } from '@/accounts/history'
import { connectDatabase } from '@/db/client'
import { nano } from '@/lib/money'
import { writeUsageBatch } from '@/usage/write-batch'
import { type Fixture, openFixture } from './fixture'
import { createTestAccount } from './test-account'

let fixture: Fixture
let databaseUrl: string

beforeAll(async () => {
  databaseUrl = await freshDatabase()
  fixture = await openFixture(await redisUrl(), databaseUrl)
})
afterAll(() => fixture.close())

describe('the history of an account', () => {
  test('an account’s history balance is its credits minus charges, with the ids of those credits', async () => {
    const { history, credits, database } = fixture
    const accountId = await createTestAccount(fixture)
    for (const amount of [500, 300, -100]) {
      await credits.addCredit({ accountId, amount: nano(amount), reference: `r${amount}` })
    }
    await writeUsageBatch(database.sql, [
      usageRecord({ accountId, cost: 60, seq: 9 }),
      usageRecord({ accountId, cost: 5, seq: 4 }),
    ])
    const entries = await database.sql`SELECT id FROM ledger_entries WHERE account_id = ${accountId}`
    const snapshot = await history.account(accountId)
    expect(snapshot).toMatchObject({
      ...{ requestsPerMinute: null, tokensPerMinute: null, concurrency: null },
      ...{ accountId, status: 'active', balance: 635, spent: 65, spentThisMonth: 65, month: 202603, seq: 9 },
    })
    expect(snapshot?.creditedEntryIds.toSorted()).toEqual(entries.map((entry) => entry.id).sort())
    expect(await history.accounts([accountId, 'acct_none'])).toEqual(snapshot ? [snapshot] : [])
  })

  test('balance and credits of the history are always consistent, under concurrent inserts', async () => {
    const { history, credits } = fixture
    const accountId = await createTestAccount(fixture)
    let isDone = false
    const writing = (async () => {
      for (let index = 0; index < 60; index++) {
        await credits.addCredit({ accountId, amount: nano(1), reference: `r${index}` })
      }
      isDone = true
    })()
    let snapshots = 0
    while (!isDone) {
      const snapshot = await history.account(accountId)
      expect(snapshot?.creditedEntryIds).toHaveLength(Number(snapshot?.balance))
      snapshots += 1
    }
    await writing
    expect(snapshots).toBeGreaterThan(5)
  })

  test('the history finds usage records by their own id, in any month', async () => {
    const { history, database } = fixture
    const accountId = await createTestAccount(fixture)
    const records = [0, 40, 400].map((days) => usageRecord({ accountId, atMs: NOON_MS + days * 86_400_000 }))
    await writeUsageBatch(database.sql, records)
    const ids = records.map((record) => record.recordId)
    expect((await history.knownRecordIds([...ids, 'hold_none', 'a"b\\,{}'])).toSorted()).toEqual(ids.toSorted())
    expect(await history.knownRecordIds([])).toEqual([])
  })

  test('concurrent look-ups of settled holds share one statement', async () => {
    const { history, database } = fixture
    const accountId = await createTestAccount(fixture)
    const expired = usageRecord({ accountId, kind: 'expire' })
    const records = [usageRecord({ accountId }), usageRecord({ accountId }), expired]
    await writeUsageBatch(database.sql, records)
    let statements = 0
    const watched = connectDatabase(databaseUrl, { onStatement: () => void statements++ })
    try {
      const asked = createLedgerHistory(watched)
      const answers = await Promise.all(records.map(({ holdId }) => asked.settledHoldIds([holdId])))
      expect(answers).toEqual([[records[0]?.holdId], [records[1]?.holdId], []] as string[][])
      expect(statements).toBe(1)
    } finally {
      await watched.close()
    }
    const settled = await history.settledHoldIds(records.map(({ holdId }) => holdId))
    expect(settled).toEqual(records.slice(0, 2).map(({ holdId }) => holdId))
  })

  test('usage records are found within the time limit among thousands, without table statistics', async () => {
    const { history, database } = fixture
    const accountId = await createTestAccount(fixture)
    const records = Array.from({ length: 6_000 }, () => usageRecord({ accountId }))
    for (let start = 0; start < records.length; start += 2_000)
      await writeUsageBatch(database.sql, records.slice(start, start + 2_000))
    const ids = records.map(({ recordId }) => recordId)
    expect(await history.knownRecordIds(ids)).toHaveLength(ids.length)
    expect(await history.settledHoldIds(ids)).toEqual(ids)
  })

  test('paging through all accounts gives each account once', async () => {
    const { history, database } = fixture
    for (let index = 0; index < 5; index++) await createTestAccount(fixture)
    const seen: string[] = []
    for (let after = ''; ; after = seen.at(-1) ?? '') {
      const page = await history.accountIds(after, 2)
      if (page.length === 0) break
      seen.push(...page)
    }
    const rows = await database.sql`SELECT id FROM accounts`
    expect(seen.toSorted()).toEqual(rows.map((row) => row.id).sort())
  })
})

describe('the history of a key', () => {
  test('a key’s history has its state, its limits and the month’s usage', async () => {
    const { history, apiKeys, database } = fixture
    const accountId = await createTestAccount(fixture)
    const limits = {
      ...{ requestsPerMinute: 5, tokensPerMinute: 1_500_000_000, concurrency: null },
      ...{ monthlyBudget: nano(77), expiresAtMs: 1_800_000_000_123, allowedModels: ['svc/b', 'svc/a'] },
      allowedProviders: ['west', 'east'],
    }
    const created = await apiKeys.create({ accountId, name: 'k', ...limits })
    if (created.kind !== 'created') throw new Error(created.kind)
    const { keyId } = created
    await writeUsageBatch(database.sql, [usageRecord({ accountId, keyId, cost: 8 })])
    expect(await history.key(accountId, keyId)).toEqual({
      ...{ accountId, keyId, status: 'active', ...limits },
      ...{ spentThisMonth: nano(8), month: 202603, addresses: [], ownerId: null, secrets: undefined },
    })
    expect(await history.key('acct_other', keyId)).toBeUndefined()
  })
})

test('a history that does not answer soon counts as unreachable', async () => {
  const server = await startPostgres()
  const elsewhere = await openFixture(await redisUrl(), server.url)
  await elsewhere.database.sql`SELECT 1`
  await signalServer(server, 'SIGSTOP')
  try {
    const reading = createLedgerHistory(elsewhere.database, 100).account('acct_1')
    await expect(reading).rejects.toThrow('no answer in 100 ms')
  } finally {
    await signalServer(server, 'SIGCONT')
    await elsewhere.close()
    await server.stop()
  }
})
