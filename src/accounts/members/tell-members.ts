/** Mails about changes of a person's role or of an account, written in the transaction of the change. */
import { and, eq, inArray, isNull } from 'drizzle-orm'
import type { ChangedBy } from '@/accounts/audit'
import { describeAddresses } from '@/accounts/key-limits'
import { writeMails } from '@/accounts/mails/outbox'
import { ACCOUNT_ROLES, type AccountRole, memberships, users } from '@/db/auth-schema'
import type { Transaction } from '@/db/client'
import { accounts } from '@/db/schema'
import type { Addresses } from '@/ledger/address-lists'
import { mayDo } from './permissions'

type Change = { accountId: string; by: ChangedBy }

type Told =
  | { kind: 'role_changed'; before: AccountRole; after: AccountRole }
  | { kind: 'member_added'; role: AccountRole }
  | { kind: 'member_removed' }

/** Mails a person about a change of their own membership. */
export async function tellMember(
  transaction: Transaction,
  { accountId, by }: Change,
  email: string,
  { kind, ...told }: Told,
): Promise<void> {
  const facts = { accountName: await nameOf(transaction, accountId), by: by.actor.email, ...told }
  await writeMails(transaction, { kind, facts } as Parameters<typeof writeMails>[1], [email], { accountId })
}

/** Mails the owners of an account, except the new one, about the new owner. */
export async function tellOfOwner(transaction: Transaction, { accountId, by }: Change, userId: string): Promise<void> {
  const owners = await addressesOf(transaction, accountId, ['owner'])
  const owner = owners.find((one) => one.userId === userId)?.email ?? ''
  const facts = { accountName: await nameOf(transaction, accountId), by: by.actor.email, owner }
  const others = owners.filter((one) => one.userId !== userId).map(({ email }) => email)
  await writeMails(transaction, { kind: 'owner_added', facts }, others, { accountId })
}

/** Mails owners and admins the networks now allowed for the account's keys; for a single key, its member too. */
export async function tellOfAddresses(
  transaction: Transaction,
  { accountId, by }: Change,
  addresses: Addresses,
  key?: { name: string; createdBy: string | null },
): Promise<void> {
  const people = await addressesOf(transaction, accountId, ACCOUNT_ROLES)
  const concerned = people.filter(({ role, userId }) => mayDo(role, 'limits.raise') || userId === key?.createdBy)
  const after = describeAddresses(addresses)
  const facts = { accountName: await nameOf(transaction, accountId), after, by: by.actor.email }
  const mail = key
    ? ({ kind: 'key_addresses_changed', facts: { ...facts, key: key.name } } as const)
    : ({ kind: 'addresses_changed', facts } as const)
  await writeMails(
    transaction,
    mail,
    concerned.map(({ email }) => email),
    { accountId },
  )
}

/** The addresses of members with these roles who may sign in. */
export async function addressesOf(
  transaction: Transaction,
  accountId: string,
  roles: readonly AccountRole[],
): Promise<{ userId: string; email: string; role: AccountRole }[]> {
  return await transaction
    .select({ userId: users.id, email: users.email, role: memberships.role })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.accountId, accountId), inArray(memberships.role, [...roles]), isNull(users.disabledAt)))
}

/** The account's name, read in the transaction. */
export async function nameOf(transaction: Transaction, accountId: string): Promise<string> {
  const [account] = await transaction.select({ name: accounts.name }).from(accounts).where(eq(accounts.id, accountId))
  return account?.name ?? ''
}
