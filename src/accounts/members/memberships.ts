/** Reads memberships: a person's accounts, and the person's role in each. */
import { and, asc, eq } from 'drizzle-orm'
import type { ChangedBy } from '@/accounts/audit'
import { type AccountRole, memberships } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { type AccountKind, accounts, apiKeys } from '@/db/schema'
import type { Payer } from '@/ledger/outcomes'
import { mayDo, seesAllUsage } from './permissions'

export type OwnAccount = { accountId: string; name: string; kind: AccountKind; role: AccountRole }

const MAX_LISTED = 200
const ID = /^[\w-]{1,100}$/

/** The person's role; undefined if they are no member or there is no such account. */
export async function roleIn(
  db: Database['db'] | Transaction,
  accountId: string,
  userId: string,
): Promise<AccountRole | undefined> {
  // The id comes from a URL, and Postgres rejects some characters in a text, so it is checked first.
  if (!ID.test(accountId)) return undefined
  const isTheirs = and(eq(memberships.accountId, accountId), eq(memberships.userId, userId))
  return (await findRow(db, memberships, isTheirs))?.role
}

export type Membership = { role: AccountRole; seesAllUsage: boolean }

/** The person's membership, including whether the account shows developers all usage. */
export async function membershipIn(
  { db }: Database,
  accountId: string,
  userId: string,
): Promise<Membership | undefined> {
  if (!ID.test(accountId)) return undefined
  const [found] = await db
    .select({ role: memberships.role, settings: accounts.settings })
    .from(memberships)
    .innerJoin(accounts, eq(accounts.id, memberships.accountId))
    .where(and(eq(memberships.accountId, accountId), eq(memberships.userId, userId)))
  return found && { role: found.role, seesAllUsage: seesAllUsage(found.role, found.settings) }
}

/** The role that decides which changes of members an actor may make. A management key acts as admin; an operator has no role. */
export async function roleOfActor(
  db: Database['db'] | Transaction,
  accountId: string,
  { actor, managementKeyId }: ChangedBy,
): Promise<AccountRole | undefined> {
  if (managementKeyId !== undefined) return 'admin'
  return actor.userId === null ? undefined : await roleIn(db, accountId, actor.userId)
}

/** The person's accounts, oldest membership first. */
export async function accountsOf({ db }: Database, userId: string): Promise<OwnAccount[]> {
  return await db
    .select({ accountId: accounts.id, name: accounts.name, kind: accounts.kind, role: memberships.role })
    .from(memberships)
    .innerJoin(accounts, eq(accounts.id, memberships.accountId))
    .where(eq(memberships.userId, userId))
    .orderBy(asc(memberships.createdAt), asc(accounts.id))
    .limit(MAX_LISTED)
}

/**
 * The rights of the key's member: whether the member sees the balance, and whether all usage or only that of `madeBy`. A departed member
 * has no role.
 */
export async function sightOfKey(
  { db }: Database,
  { accountId, keyId }: Pick<Payer, 'accountId' | 'keyId'>,
): Promise<{ seesBalance: boolean; madeBy?: string }> {
  const membership = and(eq(memberships.accountId, apiKeys.accountId), eq(memberships.userId, apiKeys.createdBy))
  const [key] = await db
    .select({
      createdBy: apiKeys.createdBy,
      role: memberships.role,
      settings: accounts.settings,
    })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .leftJoin(memberships, membership)
    .where(and(eq(apiKeys.id, keyId), eq(apiKeys.accountId, accountId)))
  if (!key) return { seesBalance: false, madeBy: '' }
  const { createdBy, role, settings } = key
  if (!createdBy) return { seesBalance: true }
  if (!role) return { seesBalance: false, madeBy: createdBy }
  return {
    seesBalance: mayDo(role, 'billing.read'),
    ...(!seesAllUsage(role, settings) && { madeBy: createdBy }),
  }
}
