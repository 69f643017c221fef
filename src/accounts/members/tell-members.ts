/** The mails that tell people what they are in an account, written in the transaction that changes it. */
import { and, eq, inArray, isNull } from 'drizzle-orm'
import type { ChangedBy } from '@/accounts/audit'
import { writeMails } from '@/accounts/mails/outbox'
import { type AccountRole, memberships, users } from '@/db/auth-schema'
import type { Transaction } from '@/db/client'
import { accounts } from '@/db/schema'

type Change = { accountId: string; by: ChangedBy }

/** What happened to the membership of the person with the address `email`. */
type Told =
  | { kind: 'role_changed'; before: AccountRole; after: AccountRole }
  | { kind: 'member_added'; role: AccountRole }
  | { kind: 'member_removed' }

/** Tells a person of their own membership. */
export async function tellMember(
  transaction: Transaction,
  { accountId, by }: Change,
  email: string,
  { kind, ...told }: Told,
): Promise<void> {
  const facts = { accountName: await nameOf(transaction, accountId), by: by.actor.email, ...told }
  await writeMails(transaction, { kind, facts } as Parameters<typeof writeMails>[1], [email])
}

/** Tells the owners of an account, but the new one, that there is one more. */
export async function tellOfOwner(transaction: Transaction, { accountId, by }: Change, userId: string): Promise<void> {
  const owners = await addressesOf(transaction, accountId, ['owner'])
  const owner = owners.find((one) => one.userId === userId)?.email ?? ''
  const facts = { accountName: await nameOf(transaction, accountId), by: by.actor.email, owner }
  const others = owners.filter((one) => one.userId !== userId).map(({ email }) => email)
  await writeMails(transaction, { kind: 'owner_added', facts }, others)
}

/** The members of an account in these roles who may sign in, by their ids and addresses. */
export async function addressesOf(
  transaction: Transaction,
  accountId: string,
  roles: readonly AccountRole[],
): Promise<{ userId: string; email: string }[]> {
  return await transaction
    .select({ userId: users.id, email: users.email })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.accountId, accountId), inArray(memberships.role, [...roles]), isNull(users.disabledAt)))
}

/** How an account is called, in a transaction. */
export async function nameOf(transaction: Transaction, accountId: string): Promise<string> {
  const [account] = await transaction.select({ name: accounts.name }).from(accounts).where(eq(accounts.id, accountId))
  return account?.name ?? ''
}
