/** Accounts: they pay for all requests. They are created and suspended here; their balance belongs to the ledger. */
import { desc, eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '@/db/client'
import { accounts } from '@/db/schema'
import type { Ledger } from '@/ledger/ledger'
import type { AccountState, AccountStatus } from '@/ledger/outcomes'
import { randomId } from '@/lib/ids'
import { type ChangedBy, OPERATOR, recordAudit } from './audit'
import { isKept } from './email-addresses'
import { inOrder, lockAccount } from './in-order'

export type Account = AccountState & { name: string; email: string; createdAt: Date }

type CreateAccountOutcome = { kind: 'created'; accountId: string } | { kind: 'email_taken' }

/** `email` is unique without regard to case; `name` has 1 to 200 characters. */
type NewAccount = { email: string; name: string }

export type Accounts = ReturnType<typeof createAccounts>

/** Accounts in `database`. Changes are also sent to `ledger`. `by` is for the audit log; default: the operator. */
export function createAccounts(database: Database, ledger: Ledger) {
  const { db } = database
  return {
    async create(account: NewAccount, by: ChangedBy = OPERATOR): Promise<CreateAccountOutcome> {
      const accountId = await db.transaction(async (transaction) => {
        const created = await insertAccount(transaction, account)
        if (created === undefined) return undefined
        const entry = { action: 'account.create', subject: created, accountId: created, details: { ...account } }
        await recordAudit(transaction, { ...by, ...entry })
        return created
      })
      return accountId === undefined ? { kind: 'email_taken' } : { kind: 'created', accountId }
    },
    /** Sets the status in Postgres and the audit log, then on every gateway. Throws if the ledger is unreachable: call it again. */
    async setStatus(
      accountId: string,
      status: AccountStatus,
      why: { by: ChangedBy; reason: string } = { by: OPERATOR, reason: '' },
    ): Promise<'updated' | 'unknown_account'> {
      if (!(await writeStatus(database, accountId, status, why))) return 'unknown_account'
      await tellLedger(database, ledger, accountId)
      return 'updated'
    },
    find: find.bind(null, db),
    /** The account with this address. If a person and an organisation have the same, returns the person's. */
    async findByEmail(email: string): Promise<Account | undefined> {
      const [row] = await db
        .select(COLUMNS)
        .from(accounts)
        .where(eq(sql`lower(${accounts.email})`, email.toLowerCase()))
        .orderBy(desc(accounts.kind))
        .limit(1)
      return row
    },
  }
}

/** Sends the account's current status and limits from Postgres to the ledger. */
export async function tellLedger(database: Database, ledger: Ledger, accountId: string): Promise<void> {
  // Loads the account into the ledger first, so that the transaction below holds no connection during the load.
  await ledger.readBalance(accountId)
  await inOrder(database, `account ${accountId}`, async (transaction) => {
    const account = await find(transaction, accountId)
    if (!account) return
    const { status, requestsPerMinute, tokensPerMinute, concurrency } = account
    await ledger.setAccountState({ accountId, status, requestsPerMinute, tokensPerMinute, concurrency })
  })
}

async function writeStatus(
  { db }: Database,
  accountId: string,
  status: AccountStatus,
  { by, reason }: { by: ChangedBy; reason: string },
): Promise<boolean> {
  return await db.transaction(async (transaction) => {
    const account = await lockAccount(transaction, accountId)
    if (!account) return false
    if (account.status === status) return true
    await transaction.update(accounts).set({ status }).where(eq(accounts.id, accountId))
    const action = status === 'suspended' ? 'account.suspend' : 'account.activate'
    const details = { before: account.status, after: status, reason }
    await recordAudit(transaction, { ...by, action, subject: accountId, accountId, details })
    return true
  })
}

/** Inserts an active account without credit, and returns its id. Undefined if the address is taken or reserved. */
export async function insertAccount(
  db: Database['db'] | Transaction,
  { email, name }: NewAccount,
): Promise<string | undefined> {
  if (await isKept(db, email)) return undefined
  const [row] = await db
    .insert(accounts)
    .values({ id: randomId('acct'), email, name })
    .onConflictDoNothing()
    .returning({ id: accounts.id })
  return row?.id
}

const COLUMNS = {
  accountId: accounts.id,
  name: accounts.name,
  email: accounts.email,
  status: accounts.status,
  requestsPerMinute: accounts.requestsPerMinute,
  tokensPerMinute: accounts.tokensPerMinute,
  concurrency: accounts.concurrency,
  createdAt: accounts.createdAt,
}

async function find(db: Database['db'] | Transaction, accountId: string): Promise<Account | undefined> {
  const [row] = await db.select(COLUMNS).from(accounts).where(eq(accounts.id, accountId))
  return row
}
