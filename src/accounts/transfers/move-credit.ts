/**
 * Moves credit from one account to another, of which the same person is an owner: a debit and a credit in the history, in one transaction,
 * of which the ledger hears in that order. The debit is withheld before, so that no request spends it meanwhile.
 */
import { and, count, eq, gt, sql } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { newEntryId, recordCredit } from '@/accounts/credits'
import { type DebitRefusal, endWithheld, withholdDebit } from '@/accounts/debits'
import { lockAccount } from '@/accounts/in-order'
import { roleIn } from '@/accounts/members/memberships'
import { mayDo } from '@/accounts/members/permissions'
import { applyCredit } from '@/accounts/outbox'
import type { Database, Transaction } from '@/db/client'
import { creditTransfers } from '@/db/credit-transfer-schema'
import { findRow } from '@/db/find-row'
import { accounts } from '@/db/schema'
import type { Ledger } from '@/ledger/ledger'
import type { Credit } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { randomId } from '@/lib/ids'
import { formatUsd, MAX_NANO, type Nano, nano } from '@/lib/money'
import { MAX_TRANSFER, MAX_TRANSFERS_PER_DAY, MIN_TRANSFER } from './limits'

/** `amount` from {@link MIN_TRANSFER} to {@link MAX_TRANSFER}. `key`: the same one moves credit out of an account once. */
export type NewTransfer = { fromAccountId: string; toAccountId: string; amount: Nano; key: string; by: ChangedBy }

export type TransferOutcome =
  /** The history has it. `isApplied`: the ledger has it as well; else the outbox tells it. `exists`: it was moved before. */
  { kind: 'moved'; transferId: string; isApplied: boolean } | { kind: 'exists'; transferId: string } | TransferRefusal

/** `unknown_account`: of which the person is no member; `not_owner`: a member of a lower role. Either names the account. */
export type TransferRefusal =
  | { kind: 'unknown_account' | 'not_owner'; accountId: string }
  | { kind: 'same_account' }
  /** The account that is to give is suspended. */
  | { kind: 'suspended' }
  /** Less is available (what open requests hold is not), or less of it can be moved yet. */
  | DebitRefusal
  /** The key belongs to another transfer. */
  | { kind: 'key_taken' }
  | { kind: 'too_many'; limit: number }
  /** The account that is to get it would have more than an account may. */
  | { kind: 'out_of_range' }

/** Moves credit. Throws, with nothing moved, where the ledger or the history can't be reached; repeating it by its key is safe. */
export async function moveCredit(database: Database, ledger: Ledger, transfer: NewTransfer): Promise<TransferOutcome> {
  const { fromAccountId, toAccountId, amount } = transfer
  assert(amount >= MIN_TRANSFER && amount <= MAX_TRANSFER, 'a transfer is within its limits')
  if (fromAccountId === toAccountId) return { kind: 'same_account' }
  const debit = {
    accountId: fromAccountId,
    entryId: newEntryId(),
    amount,
    allowNegative: false,
    leavesReversible: true,
  }
  // Loads the account now if the ledger doesn't have it, so that no connection is needed while one is held.
  await ledger.readBalance(fromAccountId)
  let done: Recorded | Exclude<TransferOutcome, { kind: 'moved' }>
  try {
    done = await database.db.transaction((transaction) =>
      record(transaction, transfer, debit.entryId, () => withholdDebit(ledger, transaction, debit)),
    )
  } catch (error) {
    await endWithheld(ledger, debit)
    throw error
  }
  if (done.kind !== 'moved') return done
  return { kind: 'moved', transferId: done.transferId, isApplied: await tell(database, ledger, done.credits) }
}

/** `credits` in the order in which the ledger has to hear of them. */
type Recorded = { kind: 'moved'; transferId: string; credits: Credit[] }

async function record(
  transaction: Transaction,
  transfer: NewTransfer,
  debitEntryId: string,
  withhold: () => Promise<DebitRefusal | undefined>,
): Promise<Recorded | Exclude<TransferOutcome, { kind: 'moved' }>> {
  const { fromAccountId, toAccountId, amount, key, by } = transfer
  const refusal = await lockBoth(transaction, transfer)
  if (refusal) return refusal
  const isThis = and(eq(creditTransfers.fromAccountId, fromAccountId), eq(creditTransfers.requestKey, key))
  const earlier = await findRow(transaction, creditTransfers, isThis)
  if (earlier) {
    const isSame = earlier.toAccountId === toAccountId && earlier.amount === amount
    return isSame ? { kind: 'exists', transferId: earlier.id } : { kind: 'key_taken' }
  }
  const obstacle = await obstacleTo(transaction, transfer)
  if (obstacle) return obstacle
  const uncovered = await withhold()
  if (uncovered) return uncovered
  const transferId = randomId('trf')
  const reference = `transfer:${transferId}`
  const debit = { accountId: fromAccountId, entryId: debitEntryId, amount: nano(-amount) }
  const credit = { accountId: toAccountId, entryId: newEntryId(), amount }
  for (const entry of [debit, { ...credit, afterEntryId: debitEntryId }]) {
    const recorded = await recordCredit(transaction, { ...entry, reference, kind: 'transfer' }, entry.entryId)
    assert(recorded.kind === 'recorded' && recorded.isNew, `a transfer is recorded once: ${recorded.kind}`)
  }
  await transaction.insert(creditTransfers).values({
    ...{ id: transferId, fromAccountId, toAccountId, amount, movedBy: by.actor.userId ?? '', requestKey: key },
    ...{ debitEntryId, creditEntryId: credit.entryId },
  })
  const details = { amount: formatUsd(amount), from: fromAccountId, to: toAccountId }
  for (const accountId of [fromAccountId, toAccountId])
    await recordAudit(transaction, { ...by, action: 'credit.move', subject: transferId, accountId, details })
  return { kind: 'moved', transferId, credits: [debit, credit] }
}

/** Locks both accounts, and refuses a person who is not an owner of both: a change of roles waits for the same lock. */
async function lockBoth(
  transaction: Transaction,
  { fromAccountId, toAccountId, by }: NewTransfer,
): Promise<TransferRefusal | undefined> {
  // In the order in which the flusher locks accounts.
  for (const accountId of [fromAccountId, toAccountId].toSorted()) await lockAccount(transaction, accountId)
  for (const accountId of [fromAccountId, toAccountId]) {
    const role = by.actor.userId === null ? undefined : await roleIn(transaction, accountId, by.actor.userId)
    if (role === undefined) return { kind: 'unknown_account', accountId }
    if (!mayDo(role, 'credit.move')) return { kind: 'not_owner', accountId }
  }
  return undefined
}

/** The reason against a new transfer, other than too little credit. */
async function obstacleTo(
  transaction: Transaction,
  { fromAccountId, toAccountId, amount }: NewTransfer,
): Promise<TransferRefusal | undefined> {
  const [from, to] = [
    await findRow(transaction, accounts, eq(accounts.id, fromAccountId)),
    await findRow(transaction, accounts, eq(accounts.id, toAccountId)),
  ]
  if (from?.status !== 'active') return { kind: 'suspended' }
  if (!to || to.balance + amount > MAX_NANO) return { kind: 'out_of_range' }
  const ofDay = and(
    eq(creditTransfers.fromAccountId, fromAccountId),
    gt(creditTransfers.createdAt, sql`now() - interval '24 hours'`),
  )
  const [day] = await transaction.select({ transfers: count() }).from(creditTransfers).where(ofDay)
  const isFull = (day?.transfers ?? 0) >= MAX_TRANSFERS_PER_DAY
  return isFull ? { kind: 'too_many', limit: MAX_TRANSFERS_PER_DAY } : undefined
}

/**
 * Sends the credits to the ledger, one after the other, and returns whether it has all. If it fails, the outbox continues in
 * the same order.
 */
async function tell(database: Database, ledger: Ledger, credits: readonly Credit[]): Promise<boolean> {
  try {
    for (const credit of credits) {
      const { kind } = await applyCredit(database, ledger, credit)
      if (kind === 'unknown_account') return false
    }
    return true
  } catch {
    return false
  }
}
