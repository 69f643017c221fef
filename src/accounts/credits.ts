/** Credit: a ledger entry in the history and its message to the ledger in one transaction, then the ledger at once. */
import { and, eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '@/db/client'
import { accounts, creditOutbox, ledgerEntries } from '@/db/schema'
import type { Ledger } from '@/ledger/ledger'
import { randomId } from '@/lib/ids'
import { formatUsd, MAX_NANO, type Nano, nano } from '@/lib/money'
import { type ChangedBy, OPERATOR, recordAudit } from './audit'
import { applyCredit } from './outbox'

/** `amount` is not zero; a negative one is a correction that takes credit back and may leave a negative balance. */
type NewCredit = {
  accountId: string
  amount: Nano /** 1 to 200 characters, unique within the account. */
  reference: string
}

/** `isUnique`: the reference may stand for a credit of this account only, as an invoice number does. */
type DirectCredit = NewCredit & { isUnique?: boolean }

type AddCreditOutcome =
  /** In the history and in the ledger. `exists`: an earlier call with this reference and amount had added it. */
  | { kind: 'credited' | 'exists'; entryId: string; available: Nano }
  /** In the history; the ledger can't be told now, and the outbox does it as soon as it can. */
  | { kind: 'recorded'; entryId: string; cause: unknown }
  | { kind: 'unknown_account' }
  /** The reference belongs to another amount. */
  | { kind: 'reference_taken'; entryId: string; amount: Nano }
  /** The reference was to be unique, and another account was credited by it. */
  | { kind: 'reference_elsewhere'; accountId: string }
  /** The balance would leave the range of ±9,000,000 USD. */
  | { kind: 'out_of_range' }

export interface Credits {
  /** Adds credit once per account and reference, however often and from wherever it is called. `by`: left out = the operator. */
  addCredit(credit: DirectCredit, by?: ChangedBy): Promise<AddCreditOutcome>
}

/** Credits in `database`, applied to `ledger`. */
export function createCredits(database: Database, ledger: Ledger): Credits {
  return {
    async addCredit(credit, by = OPERATOR) {
      const recorded = await database.db.transaction((transaction) => recordAudited(transaction, credit, by))
      if (recorded.kind !== 'recorded') return recorded
      const { entryId, isNew } = recorded
      try {
        const outcome = await applyCredit(database, ledger, { ...credit, entryId })
        if (outcome.kind === 'unknown_account') throw new Error('the ledger does not know the account')
        return { kind: isNew ? 'credited' : 'exists', entryId, available: outcome.available }
      } catch (cause) {
        return { kind: 'recorded', entryId, cause }
      }
    },
  }
}

async function recordAudited(
  transaction: Transaction,
  credit: DirectCredit,
  by: ChangedBy,
): Promise<RecordCreditOutcome | Extract<AddCreditOutcome, { kind: 'reference_elsewhere' }>> {
  const other = credit.isUnique ? await otherOwner(transaction, credit) : undefined
  if (other !== undefined) return { kind: 'reference_elsewhere', accountId: other }
  const recorded = await recordCredit(transaction, credit)
  if (recorded.kind !== 'recorded' || !recorded.isNew) return recorded
  const { accountId, amount, reference } = credit
  const details = { amount: formatUsd(amount), reference, entryId: recorded.entryId }
  await recordAudit(transaction, { ...by, action: 'credit.add', subject: accountId, accountId, details })
  return recorded
}

/** The other account that was credited by this reference, where this one was not. Calls with one reference take turns. */
async function otherOwner(transaction: Transaction, { accountId, reference }: NewCredit): Promise<string | undefined> {
  await transaction.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`credit ${reference}`}, 0))`)
  const rows = await transaction
    .select({ accountId: ledgerEntries.accountId })
    .from(ledgerEntries)
    .where(eq(ledgerEntries.reference, reference))
  return rows.some((row) => row.accountId === accountId) ? undefined : rows[0]?.accountId
}

export type RecordCreditOutcome =
  | { kind: 'recorded'; entryId: string; isNew: boolean }
  | Extract<AddCreditOutcome, { kind: 'unknown_account' | 'reference_taken' | 'out_of_range' }>

/**
 * Writes the entry, the balance and the outbox row; a step of a larger transaction where the credit depends on one (the
 * state of an order). The outbox worker applies it after the commit.
 */
export async function recordCredit(transaction: Transaction, credit: NewCredit): Promise<RecordCreditOutcome> {
  const { accountId, amount, reference } = credit
  const entryId = randomId('entry')
  const kind = amount > 0 ? 'credit' : 'correction'
  // The account's row first: two credits of one account take turns here, and so does the flusher.
  const [account] = await transaction
    .select({ balance: accounts.balance })
    .from(accounts)
    .where(eq(accounts.id, accountId))
    .for('no key update')
  if (!account) return { kind: 'unknown_account' }
  const [earlier] = await transaction
    .select({ entryId: ledgerEntries.id, amount: ledgerEntries.amount })
    .from(ledgerEntries)
    .where(and(eq(ledgerEntries.accountId, accountId), eq(ledgerEntries.reference, reference)))
  if (earlier && earlier.amount !== amount) return { kind: 'reference_taken', ...earlier }
  if (earlier) return { kind: 'recorded', entryId: earlier.entryId, isNew: false }
  if (Math.abs(account.balance + amount) > MAX_NANO) return { kind: 'out_of_range' }
  const balance = nano(account.balance + amount)
  await transaction.insert(ledgerEntries).values({ id: entryId, accountId, kind, amount, reference })
  await transaction.update(accounts).set({ balance }).where(eq(accounts.id, accountId))
  await transaction.insert(creditOutbox).values({ entryId, accountId, amount })
  return { kind: 'recorded', entryId, isNew: true }
}
