/** Credit: one transaction writes an entry and an outbox row to Postgres; then the ledger applies the credit at once. */
import { and, eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { accounts, creditOutbox, ledgerEntries } from '@/db/schema'
import type { Ledger } from '@/ledger/ledger'
import { randomId } from '@/lib/ids'
import { formatUsd, MAX_NANO, type Nano, nano } from '@/lib/money'
import { type ChangedBy, OPERATOR, recordAudit } from './audit'
import { type DebitRefusal, endWithheld, withholdDebit } from './debits'
import { lockAccount } from './in-order'
import { applyCredit } from './outbox'

/** `amount` is not zero. A negative amount is a correction, and may make the balance negative. */
type NewCredit = {
  accountId: string
  amount: Nano /** 1 to 200 characters, unique within the account. */
  reference: string
}

/** `kind`: by default a credit, or a correction if `amount` is negative. `afterEntryId`: an entry that must reach the ledger first. */
type NewEntry = NewCredit & { kind?: 'transfer'; afterEntryId?: string }

/** `isUnique`: refused if another account has this reference. `isCovered`: refused if it debits more than the movable credit. */
type DirectCredit = NewCredit & { isUnique?: boolean; isCovered?: boolean }

type AddCreditOutcome =
  /** Written to Postgres and the ledger. `exists`: an earlier call with this reference and amount added it. */
  | { kind: 'credited' | 'exists'; entryId: string; available: Nano }
  /** Written to Postgres only: the ledger is unreachable, and the outbox will apply it later. */
  | { kind: 'recorded'; entryId: string; cause: unknown }
  | { kind: 'unknown_account' }
  /** The reference was used with another amount. */
  | { kind: 'reference_taken'; entryId: string; amount: Nano }
  /** `isUnique` was set, and another account was credited with this reference. */
  | { kind: 'reference_elsewhere'; accountId: string }
  /** The balance would leave the range of ±9,000,000 USD. */
  | { kind: 'out_of_range' }
  /** `isCovered` was set, and the account has too little credit, not counting credit that its payers can still take back. */
  | DebitRefusal

export interface Credits {
  /** Adds credit once per account and reference; repeated calls are safe. `by` defaults to the operator. */
  addCredit(credit: DirectCredit, by?: ChangedBy): Promise<AddCreditOutcome>
}

/** Writes credits to `database`, then applies them to `ledger`. */
export function createCredits(database: Database, ledger: Ledger): Credits {
  return {
    async addCredit(credit, by = OPERATOR) {
      const recorded = await recordCovered(database, ledger, credit, by)
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

type Recorded = RecordCreditOutcome | Extract<AddCreditOutcome, { kind: 'reference_elsewhere' }> | DebitRefusal

/** Records the credit. A debit is withheld in the ledger before it is written to Postgres, and returned if the write fails. */
async function recordCovered({ db }: Database, ledger: Ledger, credit: DirectCredit, by: ChangedBy): Promise<Recorded> {
  const { accountId, amount, isCovered = false } = credit
  const entryId = newEntryId()
  if (amount >= 0) return await db.transaction((transaction) => recordAudited(transaction, { credit, by, entryId }))
  const debit = { accountId, entryId, amount: nano(-amount), allowNegative: !isCovered, leavesReversible: true }
  // Loads the account into the ledger first, so that the transaction holds no connection during the load.
  if (isCovered) await ledger.readBalance(accountId)
  let isTaken = false
  try {
    const recorded = await db.transaction((transaction) =>
      recordAudited(transaction, { credit, by, entryId, withhold: () => withholdDebit(ledger, transaction, debit) }),
    )
    isTaken = recorded.kind === 'recorded' && recorded.isNew
    return recorded
  } finally {
    if (!isTaken) await endWithheld(ledger, debit)
  }
}

type Recording = {
  credit: DirectCredit
  by: ChangedBy
  entryId: string
  withhold?: () => Promise<DebitRefusal | undefined>
}

/** Records a credit once per reference, with its audit entry, inside a transaction. `withhold` first withholds a debit. */
export async function recordAudited(
  transaction: Transaction,
  { credit, by, entryId, withhold }: Recording,
): Promise<Recorded> {
  const other = credit.isUnique ? await otherOwner(transaction, credit) : undefined
  if (other !== undefined) return { kind: 'reference_elsewhere', accountId: other }
  if (withhold) {
    if (!(await lockAccount(transaction, credit.accountId))) return { kind: 'unknown_account' }
    const earlier = await findCredit(transaction, credit)
    if (earlier) return earlier
    const uncovered = await withhold()
    if (uncovered) return uncovered
  }
  const recorded = await recordCredit(transaction, credit, entryId)
  if (recorded.kind !== 'recorded' || !recorded.isNew) return recorded
  const { accountId, amount, reference } = credit
  const details = { amount: formatUsd(amount), reference, entryId: recorded.entryId }
  await recordAudit(transaction, { ...by, action: 'credit.add', subject: accountId, accountId, details })
  return recorded
}

/** Finds another account with this reference; undefined if this account has it. Calls with the same reference run one at a time. */
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

/** Writes the entry, balance and outbox row in a transaction. After the commit, the outbox worker applies the credit to the ledger. */
export async function recordCredit(
  transaction: Transaction,
  credit: NewEntry,
  entryId = newEntryId(),
): Promise<RecordCreditOutcome> {
  const { accountId, amount, reference, afterEntryId } = credit
  const { kind = amount > 0 ? 'credit' : 'correction' } = credit
  // The lock serialises credits of one account, also with the flusher's writes.
  const account = await lockAccount(transaction, accountId)
  if (!account) return { kind: 'unknown_account' }
  const earlier = await findCredit(transaction, credit)
  if (earlier) return earlier
  if (Math.abs(account.balance + amount) > MAX_NANO) return { kind: 'out_of_range' }
  const balance = nano(account.balance + amount)
  await transaction.insert(ledgerEntries).values({ id: entryId, accountId, kind, amount, reference })
  await transaction.update(accounts).set({ balance }).where(eq(accounts.id, accountId))
  await transaction.insert(creditOutbox).values({ entryId, accountId, amount, afterEntryId })
  return { kind: 'recorded', entryId, isNew: true }
}

/** Creates the id of a new entry. Credit withheld for the entry has the same id. */
export function newEntryId(): string {
  return randomId('entry')
}

async function findCredit(
  transaction: Transaction,
  { accountId, amount, reference }: NewCredit,
): Promise<RecordCreditOutcome | undefined> {
  const isThis = and(eq(ledgerEntries.accountId, accountId), eq(ledgerEntries.reference, reference))
  const earlier = await findRow(transaction, ledgerEntries, isThis)
  if (!earlier) return undefined
  return earlier.amount === amount
    ? { kind: 'recorded', entryId: earlier.id, isNew: false }
    : { kind: 'reference_taken', entryId: earlier.id, amount: earlier.amount }
}
