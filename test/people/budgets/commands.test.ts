/** The operator command of budgets, as a process on real stores. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Fixture, openFixture } from '@test/accounts/fixture'
import { run } from '@test/cli/run'
import { request } from '@test/ledger/harness'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { nano } from '@/lib/money'

let redis: TestServer
let databaseUrl: string
let fixture: Fixture

beforeAll(async () => {
  redis = await startRedis()
  databaseUrl = await freshDatabase()
  fixture = await openFixture(redis.url, databaseUrl)
})
afterAll(async () => {
  await fixture.close()
  await redis.stop()
})

const command = (line: string) => run(line.split(' '), { REDIS_URL: redis.url, DATABASE_URL: databaseUrl })

test('account budgets sets, removes and lists budgets, which apply at once', async () => {
  const made = await fixture.accounts.create({ email: 'ada@example.test', name: 'Ada' })
  const accountId = made.kind === 'created' ? made.accountId : ''
  await fixture.credits.addCredit({ accountId, amount: nano(10_000_000_000), reference: 'start' })
  const created = await fixture.apiKeys.create({ accountId, name: 'ci' })
  const keyId = created.kind === 'created' ? created.keyId : ''
  await command(`account budgets --account ${accountId} --day 2 --total 50`)
  const { json } = await command(`account budgets --account ${accountId} --key ${keyId} --week 1`)
  expect(json).toEqual({
    accountId,
    budgets: [
      { scope: 'account', scopeId: accountId, dayUsd: '2', totalUsd: '50' },
      { scope: 'key', scopeId: keyId, weekUsd: '1' },
    ],
  })
  const asked = request({ accountId, keyId }, 1_000_000_001)
  expect(await fixture.ledger.reserve(asked)).toMatchObject({ kind: 'over_budget', scope: 'key', window: 'week' })
  const left = await command(`account budgets --account ${accountId} --key ${keyId} --week none`)
  expect(left.json).toMatchObject({ budgets: [{ scope: 'account' }] })
  for (const wrong of ['--day 51', '--day -1', '--day NaN', '--member nobody --day 1', `--key ${keyId} --month 1`])
    expect((await command(`account budgets --account ${accountId} ${wrong}`)).code).not.toBe(0)
})
