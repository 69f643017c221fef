/** People of organisations, without any gateway. */
import type { Fixture } from '@test/accounts/fixture'
import { accountsOf } from '@/accounts/members/memberships'
import { createUser } from '@/accounts/users'
import { ACCOUNT_ROLES, type AccountRole } from '@/db/auth-schema'
import { assert } from '@/lib/assert'
import { makeOrganisation } from '@/people/members/organisation'

export type User = { userId: string; email: string; accountId: string }

export const COMPANY = { name: 'Analytical Engines Ltd', country: 'GB', vatId: null }

/** Somebody with a verified address and an account of their own. */
export async function newUser({ database }: Fixture, address = `${crypto.randomUUID()}@example.test`): Promise<User> {
  const created = await createUser(database, { email: address, password: 'a horse on a battery' })
  assert(created.kind === 'created', created.kind)
  const [own] = await accountsOf(database, created.userId)
  assert(own, 'who is created has an account')
  return { userId: created.userId, email: address, accountId: own.accountId }
}

/** The person as the one who changes something. */
export const by = ({ userId, email }: User) => ({ actor: { userId, email } })

/** A new person who is a member of the account. */
export async function join(fixture: Fixture, accountId: string, role: AccountRole): Promise<User> {
  const user = await newUser(fixture)
  await fixture.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${accountId}, ${user.userId}, ${role})`
  return user
}

export type Organisation = { accountId: string; people: Record<AccountRole, User> }

/** An organisation with somebody in each role. */
export async function newOrganisation(fixture: Fixture): Promise<Organisation> {
  const owner = await newUser(fixture)
  const { accountId } = owner
  const made = await makeOrganisation(fixture.database, accountId, COMPANY, by(owner))
  assert(made.kind === 'done', made.kind)
  const others = await Promise.all(
    ACCOUNT_ROLES.slice(1).map(async (role) => [role, await join(fixture, accountId, role)]),
  )
  return { accountId, people: { owner, ...Object.fromEntries(others) } }
}
