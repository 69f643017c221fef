/** Memberships in the database: one per person and account, and never members without an owner. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { freshDatabase } from '@test/support/stores'
import { accountsOf, roleIn } from '@/accounts/members/memberships'
import { createUser } from '@/accounts/users'
import { connectDatabase, type Database } from '@/db/client'
import { assert } from '@/lib/assert'

let database: Database

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 4 })
})
afterAll(() => database.close(0))

type Owner = { userId: string; accountId: string }

async function newOwner(accountId?: string): Promise<Owner> {
  const email = `${crypto.randomUUID()}@example.test`
  const created = await createUser(database, {
    email,
    password: 'a horse on a battery',
    ...(accountId && { accountId }),
  })
  assert(created.kind === 'created', created.kind)
  const [own] = await accountsOf(database, created.userId)
  assert(own, 'who is created has an account')
  return { userId: created.userId, accountId: own.accountId }
}

function setRole({ accountId, userId }: Owner, role: string): Promise<unknown> {
  return database.sql`UPDATE memberships SET role = ${role} WHERE account_id = ${accountId} AND user_id = ${userId}`
}

describe('a person', () => {
  test('a person owns the account created for them, and can own one that has other owners', async () => {
    const first = await newOwner()
    const second = await newOwner(first.accountId)
    expect(second.accountId).toBe(first.accountId)
    for (const { accountId, userId } of [first, second]) {
      expect(await roleIn(database.db, accountId, userId)).toBe('owner')
      expect(await accountsOf(database, userId)).toMatchObject([{ accountId, kind: 'personal', role: 'owner' }])
    }
  })

  test('a person has no role in accounts of which they are not a member', async () => {
    const [{ userId }, other] = [await newOwner(), await newOwner()]
    for (const accountId of [other.accountId, 'acct_none', '', 'a b', "'", '\u0000', 'x'.repeat(1000)]) {
      expect(await roleIn(database.db, accountId, userId)).toBeUndefined()
    }
  })
})

describe('the last owner', () => {
  test('nobody can demote or remove the last owner', async () => {
    const owner = await newOwner()
    const { accountId, userId } = owner
    const refused = 'would be left without an owner'
    await database.sql`INSERT INTO memberships (account_id, user_id, role)
      VALUES (${accountId}, ${(await newOwner()).userId}, 'admin')`
    await expect(setRole(owner, 'viewer')).rejects.toThrow(refused)
    await expect(
      database.sql`DELETE FROM memberships WHERE account_id = ${accountId} AND user_id = ${userId}`.execute(),
    ).rejects.toThrow(refused)
    expect(await roleIn(database.db, accountId, userId)).toBe('owner')
  })

  test('if two owners demote each other at the same time, one remains owner, in 100 of 100 runs', async () => {
    const first = await newOwner()
    const pair = [first, await newOwner(first.accountId)]
    for (let round = 0; round < 100; round++) {
      await Promise.all(pair.map((owner) => setRole(owner, 'owner')))
      const outcomes = await Promise.allSettled(pair.map((owner) => setRole(owner, 'viewer')))
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const [{ owners } = { owners: 0 }] = await database.sql<{ owners: number }[]>`
        SELECT count(*)::int AS owners FROM memberships WHERE account_id = ${first.accountId} AND role = 'owner'`
      expect(owners).toBe(1)
    }
  })
})
