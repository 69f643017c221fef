/**
 * Moves credit between two accounts of the same owner. Debit and credit are written to Postgres in one transaction and reach the ledger in
 * that order. The amount is withheld in the ledger first, so that no request spends it meanwhile.
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

/** `amount` is between {@link MIN_TRANSFER} and {@link MAX_TRANSFER}. `key`: idempotency key, unique per source account. */
export type NewTransfer = { fromAccountId: string; toAccountId: string; amount: Nano; key: string; by: ChangedBy }

export type TransferOutcome =
  /** Postgres has the transfer. `isApplied`: the ledger has it too; otherwise the outbox sends it. `exists`: an earlier call made it. */
  { kind: 'moved'; transferId: string; isApplied: boolean } | { kind: 'exists'; transferId: string } | TransferRefusal

/** `unknown_account`: the person is not a member. `not_owner`: the person has a lower role. `accountId` names the account. */
export type TransferRefusal =
  | { kind: 'unknown_account' | 'not_owner'; accountId: string }
  | { kind: 'same_account' }
  | { kind: 'suspended' }
  /** Too little credit is available, or too much of it cannot be moved yet. */
  | DebitRefusal
  /** The key was used for a different transfer. */
  | { kind: 'key_taken' }
  | { kind: 'too_many'; limit: number }
  /** The target account would exceed the highest allowed balance. */
  | { kind: 'out_of_range' }

/** Moves credit. Throws, without effect, if the ledger or Postgres is unreachable; repeating it with the same key is safe. */
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
  // Loads the account into the ledger first, so that the transaction holds no connection during the load.
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

/** `credits` in the order in which the ledger must get them. */
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

/** Locks both accounts, then refuses a person who doesn't own both. Changes of roles take the same lock. */
async function lockBoth(
  transaction: Transaction,
  { fromAccountId, toAccountId, by }: NewTransfer,
): Promise<TransferRefusal | undefined> {
  // Locks the accounts in the flusher's order, to avoid deadlocks.
  for (const accountId of [fromAccountId, toAccountId].toSorted()) await lockAccount(transaction, accountId)
  for (const accountId of [fromAccountId, toAccountId]) {
    const role = by.actor.userId === null ? undefined : await roleIn(transaction, accountId, by.actor.userId)
    if (role === undefined) return { kind: 'unknown_account', accountId }
    if (!mayDo(role, 'credit.move')) return { kind: 'not_owner', accountId }
  }
  return undefined
}

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

/** Sends the credits to the ledger in order. Returns whether all were sent; the outbox sends the rest in the same order. */
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
