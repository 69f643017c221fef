/** The rules for all keys of an account or of one member: reads and changes them, and writes them to the ledger for each key. */
import { and, eq } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { tellLedgerOfAll } from '@/accounts/edit-key'
import { lockAccount } from '@/accounts/in-order'
import type { AuditDetails } from '@/db/administration-schema'
import { memberships } from '@/db/auth-schema'
import type { Database } from '@/db/client'
import { accounts } from '@/db/schema'
import type { Ledger } from '@/ledger/ledger'
import { copyRules, type KeyRules, ofEachRule } from '@/people/keys/fields'
import { type KeyPolicy, MEMBER_POLICY_COLUMNS, POLICY_COLUMNS } from './effective-limits'

/** The rules for all keys of an account; undefined if the account doesn't exist. */
export async function readKeyPolicy({ db }: Database, accountId: string): Promise<KeyPolicy | undefined> {
  const [row] = await db.select(POLICY_COLUMNS).from(accounts).where(eq(accounts.id, accountId))
  return row
}

type Change<Policy> = {
  policy: Partial<Policy>
  by: ChangedBy
  /** Gets the current rules, whose row is locked. May throw to refuse the change. */
  check?: ((before: Policy) => void) | undefined
}
type PolicyChange = Change<KeyPolicy> & { accountId: string }

/** Changes the fields in `policy`, with an audit entry, and each key in the ledger. Throws if the ledger is unreachable: call it again. */
export async function changeKeyPolicy(
  database: Database,
  ledger: Ledger,
  { accountId, policy, by, check }: PolicyChange,
): Promise<'updated' | 'unknown_account'> {
  const isKnown = await database.db.transaction(async (transaction) => {
    const before = await lockAccount(transaction, accountId)
    if (!before) return false
    check?.({ ...copyRules(before), maxKeyAgeDays: before.maxKeyAgeDays })
    const after: KeyPolicy = { ...before, ...policy }
    const { maxKeyAgeDays } = after
    await transaction
      .update(accounts)
      .set({ ...copyRules(after), maxKeyAgeDays })
      .where(eq(accounts.id, accountId))
    const details = {
      ...{ ...describe(after), maxKeyAgeDays },
      ...{ ...prefixed(describe(before)), 'before.maxKeyAgeDays': before.maxKeyAgeDays },
    }
    await recordAudit(transaction, { ...by, action: 'account.key_policy', subject: accountId, accountId, details })
    return true
  })
  if (!isKnown) return 'unknown_account'
  await tellLedgerOfAll(database, ledger, accountId)
  return 'updated'
}

type Of = { accountId: string; userId: string }
export type MemberPolicyChange = Change<KeyRules> & Of

/** The rules for all keys of a member, besides those of the account. Undefined if there is no such member. */
export async function readMemberKeyPolicy({ db }: Database, of: Of): Promise<KeyRules | undefined> {
  const [row] = await db.select(MEMBER_POLICY_COLUMNS).from(memberships).where(isMembership(of))
  return row
}

/** Changes the rules for all keys of a member, and each key in the ledger. These rules end with the membership. */
export async function changeMemberKeyPolicy(
  database: Database,
  ledger: Ledger,
  { accountId, userId, policy, by, check }: MemberPolicyChange,
): Promise<'updated' | 'unknown_member'> {
  const isOne = isMembership({ accountId, userId })
  const isKnown = await database.db.transaction(async (transaction) => {
    const [before] = await transaction.select(MEMBER_POLICY_COLUMNS).from(memberships).where(isOne).for('no key update')
    if (!before) return false
    check?.(before)
    const after: KeyRules = { ...before, ...policy }
    await transaction.update(memberships).set(copyRules(after)).where(isOne)
    const details = { ...describe(after), ...prefixed(describe(before)) }
    await recordAudit(transaction, { ...by, action: 'member.key_policy', subject: userId, accountId, details })
    return true
  })
  if (!isKnown) return 'unknown_member'
  await tellLedgerOfAll(database, ledger, accountId, userId)
  return 'updated'
}

function isMembership({ accountId, userId }: Of) {
  return and(eq(memberships.accountId, accountId), eq(memberships.userId, userId))
}

function describe(rules: KeyRules) {
  return ofEachRule((name) => {
    const value = rules[name]
    return typeof value === 'boolean' ? value : (value?.join(', ') ?? 'every')
  })
}

function prefixed(details: ReturnType<typeof describe>): AuditDetails {
  return Object.fromEntries(Object.entries(details).map(([name, value]) => [`before.${name}`, value]))
}
