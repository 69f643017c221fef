/**
 * The administrator named in the environment: unchanged settings do nothing at a start, a changed password ends
 * sessions. Also memberships: one per person and account, and never members without an owner.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { freshDatabase } from '@test/support/stores'
import { accountsOf, roleIn } from '@/accounts/members/memberships'
import { resetTotp, setPassword, upsertAdministrator } from '@/accounts/operator-access'
import { verifyPassword } from '@/accounts/passwords'
import { createUser } from '@/accounts/users'
import { connectDatabase, type Database } from '@/db/client'
import { assert } from '@/lib/assert'

const FIRST = 'a horse on a battery'
const SECOND = 'another horse entirely'

let database: Database

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 4 })
})
afterAll(() => database.close(0))

function newEmail(): string {
  return `${crypto.randomUUID()}@example.test`
}

async function stateOf(email: string) {
  const [row] = await database.sql<{ id: string; hash: string; role: string; sessions: number; actions: string[] }[]>`
    SELECT users.id, role, password_hash AS hash,
      (SELECT count(*)::int FROM sessions WHERE user_id = users.id) AS sessions,
      (SELECT coalesce(json_agg(action ORDER BY seq), '[]') FROM audit_entries WHERE subject = users.id) AS actions
    FROM users JOIN credentials ON user_id = users.id WHERE email = ${email}`
  if (!row) throw new Error(`there is no ${email}`)
  return row
}

async function openSession(userId: string): Promise<void> {
  const id = crypto.randomUUID()
  await database.sql`INSERT INTO sessions (id, token, user_id, expires_at)
    VALUES (${id}, ${id}, ${userId}, now() + interval '1 day')`
}

describe('the administrator from ADMIN_EMAIL', () => {
  test('ADMIN_EMAIL creates its administrator once; unchanged settings keep sessions and password', async () => {
    const email = newEmail()
    await upsertAdministrator(database, email, FIRST)
    const before = await stateOf(email)
    await openSession(before.id)
    await upsertAdministrator(database, email.toUpperCase(), FIRST)
    expect(await stateOf(email)).toEqual({ ...before, sessions: 1, actions: ['user.create'] })
  })

  test('a changed ADMIN_PASSWORD ends all sessions, with an audit entry without the password', async () => {
    const email = newEmail()
    await upsertAdministrator(database, email, FIRST)
    const { id } = await stateOf(email)
    await openSession(id)
    await upsertAdministrator(database, email, SECOND)
    const after = await stateOf(email)
    expect(after).toMatchObject({ sessions: 0, actions: ['user.create', 'user.make_admin'] })
    expect(await verifyPassword(SECOND, after.hash)).toBe(true)
    const [entry] =
      await database.sql`SELECT details FROM audit_entries WHERE subject = ${id} ORDER BY seq DESC LIMIT 1`
    expect(entry?.details).toEqual({ email, role: 'admin', isPasswordNew: true })
  })

  test('a member whose address is set as ADMIN_EMAIL becomes administrator and loses former sessions', async () => {
    const email = newEmail()
    const created = await createUser(database, { email, password: FIRST })
    if (created.kind !== 'created') throw new Error(created.kind)
    await openSession(created.userId)
    await upsertAdministrator(database, email, FIRST)
    expect(await stateOf(email)).toMatchObject({
      role: 'admin',
      sessions: 0,
      actions: ['user.create', 'user.make_admin'],
    })
  })
})

test('if a change of a person fails, its audit entry is not written either', async () => {
  const email = newEmail()
  await createUser(database, { email, password: FIRST })
  const before = await stateOf(email)
  expect(await createUser(database, { email, password: SECOND })).toEqual({ kind: 'email_taken' })
  expect(await createUser(database, { email: newEmail(), password: FIRST, accountId: 'acct_none' })).toEqual({
    kind: 'unknown_account',
  })
  expect(await stateOf(email)).toEqual(before)
  const [orphans] = await database.sql`SELECT count(*)::int AS count FROM audit_entries
    WHERE action = 'user.create' AND subject NOT IN (SELECT id FROM users)`
  expect(orphans?.count).toBe(0)
})

test('changing an unknown person is refused', async () => {
  expect(await setPassword(database, newEmail(), FIRST)).toBe('unknown_user')
  expect(await resetTotp(database, newEmail())).toBe('unknown_user')
})

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

  test('if two owners demote each other at the same time, one remains owner, in 30 of 30 runs', async () => {
    const first = await newOwner()
    const pair = [first, await newOwner(first.accountId)]
    for (let round = 0; round < 30; round++) {
      await Promise.all(pair.map((owner) => setRole(owner, 'owner')))
      const outcomes = await Promise.allSettled(pair.map((owner) => setRole(owner, 'viewer')))
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const [{ owners } = { owners: 0 }] = await database.sql<{ owners: number }[]>`
        SELECT count(*)::int AS owners FROM memberships WHERE account_id = ${first.accountId} AND role = 'owner'`
      expect(owners).toBe(1)
    }
  })
})
