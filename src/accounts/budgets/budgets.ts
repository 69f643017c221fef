/** Budgets of accounts, members and keys. Written to Postgres and the audit log first, then sent to every gateway. */
import { and, eq, sql } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { lockAccount } from '@/accounts/in-order'
import { memberships } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { apiKeys, budgets, type StoredBudgetScope } from '@/db/schema'
import { BUDGET_WINDOWS, type BudgetWindow, windowNumbers } from '@/ledger/budgets'
import type { Ledger } from '@/ledger/ledger'
import { assert } from '@/lib/assert'
import { formatUsd, MAX_NANO, type Nano, nano } from '@/lib/money'
import { spentByHistory } from './budget-history'

/** The budget's owner. For `account` and `new_member`, `scopeId` is the account's id. */
export type BudgetOf = { accountId: string; scope: StoredBudgetScope; scopeId: string }

/** Missing windows stay unchanged; null: no limit. A key's monthly limit is not a budget but one of the key's limits. */
type BudgetChange = BudgetOf & {
  limits: Partial<Record<BudgetWindow, Nano | null>>
  /** Only for `new_member`: also gives the resulting budget to present members without one. */
  isForMembersToo?: boolean
  by: ChangedBy
  /** Gets the current limits, whose rows are locked. May throw to refuse the change. */
  check?: (before: Partial<Record<BudgetWindow, { limit: Nano }>>) => void
}

/** Adds `amount` to a window's limit until that window ends. Repeated calls add up. */
type BudgetGrant = BudgetOf & { window: BudgetWindow; amount: Nano; by: ChangedBy }

export type ChangeBudgetOutcome =
  | { kind: 'updated' }
  | { kind: 'unknown' }
  /** The window `smaller` would have a higher limit than the longer window `larger`. */
  | { kind: 'above_larger'; smaller: BudgetWindow; larger: BudgetWindow }
  | { kind: 'no_limit' }

type StoredLimit = { limit: Nano; grant: Nano; grantAt: number }
type BudgetRows = {
  scope: StoredBudgetScope
  scopeId: string
  limits: Partial<Record<BudgetWindow, StoredLimit>>
}

export type Budgets = ReturnType<typeof createBudgets>

export function createBudgets(database: Database, ledger: Pick<Ledger, 'reloadBudgets'>) {
  return {
    list: listBudgets.bind(null, database),
    change: changeBudgets.bind(null, database, ledger),
    grant: grantBudget.bind(null, database, ledger),
    spent: spentByHistory.bind(null, database),
  }
}

async function listBudgets({ db }: Database, accountId: string): Promise<BudgetRows[]> {
  const rows = await db
    .select()
    .from(budgets)
    .where(eq(budgets.accountId, accountId))
    .orderBy(budgets.scope, budgets.scopeId)
  const found = new Map<string, BudgetRows>()
  for (const { scope, scopeId, window, limit, grant, grantAt } of rows) {
    const name = `${scope}:${scopeId}`
    const budget = found.get(name) ?? { scope, scopeId, limits: {} }
    budget.limits[window] = { limit, grant, grantAt }
    found.set(name, budget)
  }
  return [...found.values()]
}

/** Sets limits, which must be ≥ 0. Throws if the ledger is unreachable: call it again. */
async function changeBudgets(
  database: Database,
  ledger: Pick<Ledger, 'reloadBudgets'>,
  change: BudgetChange,
): Promise<ChangeBudgetOutcome> {
  const { accountId, scope, scopeId, limits, by } = change
  const asked = BUDGET_WINDOWS.filter((window) => limits[window] !== undefined)
  for (const window of asked) assert((limits[window] ?? 0) >= 0, 'a budget is out of range')
  assert(scope !== 'key' || limits.month === undefined, "a key's budget of the month is one of its limits")
  const outcome = await database.db.transaction(async (transaction): Promise<ChangeBudgetOutcome> => {
    const present = await lockBudgets(transaction, change)
    if (!present) return { kind: 'unknown' }
    change.check?.(present)
    const after = Object.fromEntries(
      BUDGET_WINDOWS.map((window) => [window, limits[window] === undefined ? present[window]?.limit : limits[window]]),
    )
    const above = aboveLarger(after)
    if (above) return { kind: 'above_larger', ...above }
    for (const window of asked) await write(transaction, change, window, present[window])
    const given = change.isForMembersToo ? { givenToMembers: await giveToMembers(transaction, accountId) } : {}
    const details = asked.flatMap((window) => [
      [`before.${window}Usd`, usdOf(present[window]?.limit)],
      [`${window}Usd`, usdOf(limits[window])],
    ])
    const subject = scopeId
    await recordAudit(transaction, {
      ...{ ...by, action: 'budget.change', subject, accountId },
      details: { scope, ...Object.fromEntries(details), ...given },
    })
    return { kind: 'updated' }
  })
  if (outcome.kind === 'updated') await ledger.reloadBudgets(accountId)
  return outcome
}

/** Gives the budget for new members to all members without one. Returns their number. */
async function giveToMembers(transaction: Transaction, accountId: string): Promise<number> {
  const given = await transaction.execute<{ scope_id: string }>(sql`
    INSERT INTO budgets (account_id, scope, scope_id, "window", limit_nano, set_by)
    SELECT d.account_id, 'member', m.user_id, d."window", d.limit_nano, d.set_by
    FROM budgets d JOIN memberships m ON m.account_id = d.account_id
    WHERE d.account_id = ${accountId} AND d.scope = 'new_member' AND NOT EXISTS (
      SELECT FROM budgets own WHERE own.account_id = d.account_id AND own.scope = 'member' AND own.scope_id = m.user_id)
    RETURNING scope_id`)
  return new Set(given.map(({ scope_id }) => scope_id)).size
}

/** Adds a positive amount to a limit, only for the window that contains `nowMs`. Throws if the ledger is unreachable: call it again. */
async function grantBudget(
  database: Database,
  ledger: Pick<Ledger, 'reloadBudgets'>,
  grant: BudgetGrant,
  nowMs: number,
): Promise<ChangeBudgetOutcome> {
  const { accountId, scope, scopeId, window, amount, by } = grant
  assert(amount > 0, 'a grant is out of range')
  const grantAt = windowNumbers(nowMs)[window]
  const outcome = await database.db.transaction(async (transaction): Promise<ChangeBudgetOutcome> => {
    const present = await lockBudgets(transaction, grant)
    if (!present) return { kind: 'unknown' }
    const own = scope === 'key' && window === 'month' ? undefined : present[window]
    if (!own) return { kind: 'no_limit' }
    const granted = nano(Math.min(MAX_NANO - own.limit, amount + (own.grantAt === grantAt ? own.grant : 0)))
    await transaction.update(budgets).set({ grant: granted, grantAt }).where(rowOf(grant, window))
    const details = { scope, window, grantUsd: formatUsd(amount), grantedUsd: formatUsd(granted) }
    await recordAudit(transaction, { ...by, action: 'budget.grant', subject: scopeId, accountId, details })
    return { kind: 'updated' }
  })
  if (outcome.kind === 'updated') await ledger.reloadBudgets(accountId)
  return outcome
}

type Present = Partial<Record<BudgetWindow, StoredLimit>>

/** The current limits, locked until the transaction ends; undefined if there is no such member, key or account. */
async function lockBudgets(transaction: Transaction, of: BudgetOf): Promise<Present | undefined> {
  const { accountId, scope, scopeId } = of
  if (!(await lockAccount(transaction, accountId)) || !(await isThere(transaction, of))) return undefined
  const rows = await transaction
    .select()
    .from(budgets)
    .where(and(eq(budgets.accountId, accountId), eq(budgets.scope, scope), eq(budgets.scopeId, scopeId)))
  const present: Present = {}
  for (const { window, limit, grant, grantAt } of rows) present[window] = { limit, grant, grantAt }
  if (scope !== 'key') return present
  const [key] = await transaction.select({ limit: apiKeys.monthlyBudget }).from(apiKeys).where(eq(apiKeys.id, scopeId))
  return key?.limit == null ? present : { ...present, month: { limit: key.limit, grant: nano(0), grantAt: 0 } }
}

async function isThere(transaction: Transaction, { accountId, scope, scopeId }: BudgetOf): Promise<boolean> {
  if (scope === 'account' || scope === 'new_member') return scopeId === accountId
  const rows =
    scope === 'key'
      ? await transaction
          .select({ status: apiKeys.status })
          .from(apiKeys)
          .where(and(eq(apiKeys.id, scopeId), eq(apiKeys.accountId, accountId)))
      : await transaction
          .select({ status: memberships.role })
          .from(memberships)
          .where(and(eq(memberships.userId, scopeId), eq(memberships.accountId, accountId)))
  return rows.some(({ status }) => status !== 'deleted')
}

async function write(
  transaction: Transaction,
  { accountId, scope, scopeId, limits, by }: BudgetChange,
  window: BudgetWindow,
  present: StoredLimit | undefined,
): Promise<void> {
  const limit = limits[window]
  const of = { accountId, scope, scopeId }
  if (limit == null) {
    if (present) await transaction.delete(budgets).where(rowOf(of, window))
    return
  }
  const set = { limit, setBy: by.actor.userId, setAt: new Date() }
  await transaction
    .insert(budgets)
    .values({ ...of, window, ...set })
    .onConflictDoUpdate({ target: [budgets.accountId, budgets.scope, budgets.scopeId, budgets.window], set })
}

function rowOf({ accountId, scope, scopeId }: BudgetOf, window: BudgetWindow) {
  const own = [eq(budgets.accountId, accountId), eq(budgets.scope, scope), eq(budgets.scopeId, scopeId)]
  return and(...own, eq(budgets.window, window))
}

/** The first window whose limit is higher than that of a longer window. */
function aboveLarger(
  limits: Record<string, Nano | null | undefined>,
): { smaller: BudgetWindow; larger: BudgetWindow } | undefined {
  for (const [index, smaller] of BUDGET_WINDOWS.entries()) {
    const limit = limits[smaller]
    const larger = BUDGET_WINDOWS.slice(index + 1).find((one) => limit != null && (limits[one] ?? limit) < limit)
    if (larger) return { smaller, larger }
  }
  return undefined
}

function usdOf(limit: Nano | null | undefined): string | null {
  return limit == null ? null : formatUsd(limit)
}
