/** Who is a member of which account, and in which role. */
import { and, asc, eq } from 'drizzle-orm'
import type { ChangedBy } from '@/accounts/audit'
import { type AccountRole, memberships } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { type AccountKind, accounts, apiKeys } from '@/db/schema'
import type { Payer } from '@/ledger/outcomes'
import { mayDo, seesAllUsage } from './permissions'

/** An account of a person, as they are shown it. */
export type OwnAccount = { accountId: string; name: string; kind: AccountKind; role: AccountRole }

/** A person may be a member of so many accounts that are listed; no person is of more. */
const MAX_LISTED = 200
const ID = /^[\w-]{1,100}$/

/** The person's membership; undefined for others, and for unknown accounts. */
export async function roleIn(
  db: Database['db'] | Transaction,
  accountId: string,
  userId: string,
): Promise<AccountRole | undefined> {
  // Comes out of an address as it is: nothing that Postgres can't take as a text reaches it.
  if (!ID.test(accountId)) return undefined
  const isTheirs = and(eq(memberships.accountId, accountId), eq(memberships.userId, userId))
  return (await findRow(db, memberships, isTheirs))?.role
}

/** A person's role in an account, and whether they see all of its usage or only their own keys'. */
export type Membership = { role: AccountRole; seesAllUsage: boolean }

/** Likewise, with what the account lets its developers see. */
export async function membershipIn(
  { db }: Database,
  accountId: string,
  userId: string,
): Promise<Membership | undefined> {
  if (!ID.test(accountId)) return undefined
  const [found] = await db
    .select({ role: memberships.role, developersSeeAllUsage: accounts.developersSeeAllUsage })
    .from(memberships)
    .innerJoin(accounts, eq(accounts.id, memberships.accountId))
    .where(and(eq(memberships.accountId, accountId), eq(memberships.userId, userId)))
  return found && { role: found.role, seesAllUsage: seesAllUsage(found.role, found.developersSeeAllUsage) }
}

/** The role by which somebody changes members: a management key has that of an admin; an operator has none. */
export async function roleOfActor(
  db: Database['db'] | Transaction,
  accountId: string,
  { actor, managementKeyId }: ChangedBy,
): Promise<AccountRole | undefined> {
  if (managementKeyId !== undefined) return 'admin'
  return actor.userId === null ? undefined : await roleIn(db, accountId, actor.userId)
}

/** The accounts that the person is a member of, the oldest membership first. */
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
 * Whether the key's member sees the balance, and whose own usage alone (`madeBy`) they see; all, where it is the account's own key. A
 * former member has no role.
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
      developersSeeAllUsage: accounts.developersSeeAllUsage,
    })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .leftJoin(memberships, membership)
    .where(and(eq(apiKeys.id, keyId), eq(apiKeys.accountId, accountId)))
  if (!key) return { seesBalance: false, madeBy: '' }
  const { createdBy, role, developersSeeAllUsage } = key
  if (!createdBy) return { seesBalance: true }
  if (!role) return { seesBalance: false, madeBy: createdBy }
  return {
    seesBalance: mayDo(role, 'billing.read'),
    ...(!seesAllUsage(role, developersSeeAllUsage) && { madeBy: createdBy }),
  }
}
