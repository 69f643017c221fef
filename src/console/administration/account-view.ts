import { desc, eq } from 'drizzle-orm'
import type { Account, Accounts } from '@/accounts/accounts'
import type { ApiKeys, KeyListing } from '@/accounts/api-keys'
import type { Orders } from '@/console/orders/orders'
import type { Order } from '@/console/orders/types'
import { memberships, type UserRole, users } from '@/db/auth-schema'
import type { Database } from '@/db/client'
import { type LedgerEntryKind, ledgerEntries } from '@/db/schema'
import type { Ledger } from '@/ledger/ledger'
import type { AccountBalance } from '@/ledger/outcomes'
import type { Nano } from '@/lib/money'

export type AccountView = Account & {
  /** The present balance in the ledger; undefined if the ledger does not answer. */
  balance: AccountBalance | undefined
  users: AccountUser[]
  keys: KeyListing[]
  entries: AccountEntry[]
  orders: Order[]
}

type AccountUser = { userId: string; name: string; email: string; role: UserRole; createdAt: Date }
type AccountEntry = { entryId: string; kind: LedgerEntryKind; amount: Nano; reference: string; createdAt: Date }

type AccountViewDeps = {
  database: Database
  ledger: Ledger
  accounts: Accounts
  apiKeys: ApiKeys
  orders: Pick<Orders, 'list'>
}

const ENTRY_COUNT = 50
const ORDER_COUNT = 20

/**
 * All data of one account for an administrator; undefined if it doesn't exist. If the ledger is unreachable, only the balance is missing.
 */
export async function viewAccount(deps: AccountViewDeps, accountId: string): Promise<AccountView | undefined> {
  const account = await deps.accounts.find(accountId)
  if (!account) return undefined
  const { db } = deps.database
  const [balance, people, keys, entries, orders] = await Promise.all([
    deps.ledger.readBalance(accountId).catch(() => undefined),
    db
      .select({
        userId: users.id,
        name: users.name,
        email: users.email,
        role: users.role,
        createdAt: users.createdAt,
      })
      .from(memberships)
      .innerJoin(users, eq(users.id, memberships.userId))
      .where(eq(memberships.accountId, accountId))
      .orderBy(users.createdAt),
    deps.apiKeys.list(accountId),
    db
      .select({
        entryId: ledgerEntries.id,
        kind: ledgerEntries.kind,
        amount: ledgerEntries.amount,
        reference: ledgerEntries.reference,
        createdAt: ledgerEntries.createdAt,
      })
      .from(ledgerEntries)
      .where(eq(ledgerEntries.accountId, accountId))
      .orderBy(desc(ledgerEntries.createdAt), desc(ledgerEntries.id))
      .limit(ENTRY_COUNT),
    deps.orders.list(accountId, { limit: ORDER_COUNT }),
  ])
  return { ...account, balance, users: people, keys, entries, orders: orders.items }
}
