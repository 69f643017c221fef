/** Accounts: creation, suspension and activation, in the history and the ledger. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { type Fixture, openFixture } from './fixture'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
})
afterAll(() => fixture.close())

describe('accounts', () => {
  test('an account is created empty and active, one per e-mail address in any letter case', async () => {
    const { accounts, ledger } = fixture
    const created = await accounts.create({ email: 'Ada@Example.test', name: 'Ada' })
    if (created.kind !== 'created') throw new Error(created.kind)
    expect(created.accountId).toMatch(/^acct_[0-9A-Za-z]{22}$/)
    expect(await accounts.create({ email: 'ada@example.TEST', name: 'Other' })).toEqual({ kind: 'email_taken' })
    expect(await accounts.findByEmail('ADA@example.test')).toMatchObject({ accountId: created.accountId, name: 'Ada' })
    expect(await ledger.readBalance(created.accountId)).toMatchObject({ available: 0, held: 0, status: 'active' })
  })

  test('concurrent requests for one address create one account', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => fixture.accounts.create({ email: 'race@example.test', name: 'Race' })),
    )
    expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(1)
  })

  test('looking up an unknown account finds none', async () => {
    expect(await fixture.accounts.find('acct_none')).toBeUndefined()
    expect(await fixture.accounts.findByEmail("' OR 1=1 --")).toBeUndefined()
    expect(await fixture.accounts.setStatus('acct_none', 'suspended')).toBe('unknown_account')
  })

  test('suspending and activating an account changes history and ledger', async () => {
    const { accounts, ledger } = fixture
    const created = await accounts.create({ email: 'bob@example.test', name: 'Bob' })
    if (created.kind !== 'created') throw new Error(created.kind)
    const { accountId } = created
    expect(await accounts.setStatus(accountId, 'suspended')).toBe('updated')
    expect((await ledger.readBalance(accountId))?.status).toBe('suspended')
    expect((await accounts.find(accountId))?.status).toBe('suspended')
    await Promise.all([accounts.setStatus(accountId, 'suspended'), accounts.setStatus(accountId, 'active')])
    expect((await ledger.readBalance(accountId))?.status).toBe((await accounts.find(accountId))?.status)
  })
})
