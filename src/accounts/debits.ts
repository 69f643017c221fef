/** Debits credit: withholds it in the ledger, writes the debit to Postgres, then takes the credit. After a crash, Postgres decides. */
import { and, eq, isNull, lt } from 'drizzle-orm'
import type { Transaction } from '@/db/client'
import { creditOutbox } from '@/db/schema'
import type { Ledger } from '@/ledger/ledger'
import type { Withheld } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { type Nano, nano, ZERO_NANO } from '@/lib/money'
import { lockAccount } from './in-order'
import { type MovableCredit, movableOf, reversibleCredit, sumOf } from './transfers/movable'

/**
 * `amount` is positive. With `allowNegative`, the balance may become negative, and the ledger may be unreachable. Without `allowNegative`,
 * `leavesReversible` refuses to debit credit that payers can still take back.
 */
type Debit = Withheld & { allowNegative: boolean; leavesReversible: boolean }

/** `available`: the maximum debit. Kind `reversible`: the account has more credit, but payers can still take it back. */
export type DebitRefusal =
  | { kind: 'insufficient'; available: Nano }
  | ({ kind: 'reversible'; available: Nano } & MovableCredit)

/** After this time, an unfinished debit is taken if Postgres has its entry, and returned otherwise. */
const WITHHELD_TTL_MS = 60_000

/**
 * Withholds a debit inside the transaction that will record it under this entry id; the account's row stays locked until its end. Returns
 * undefined if it was withheld. In any case, call {@link endWithheld} or apply the credit afterwards. Throws if the ledger is unreachable.
 */
export async function withholdDebit(
  ledger: Ledger,
  transaction: Transaction,
  { leavesReversible, ...debit }: Debit,
): Promise<DebitRefusal | undefined> {
  const { accountId, allowNegative, amount } = debit
  const account = await lockAccount(transaction, accountId)
  assert(account, 'a debit has an account')
  const reversible = leavesReversible && !allowNegative ? await reversibleCredit(transaction, accountId) : []
  const keep = sumOf(reversible)
  const refusal = (available: Nano): DebitRefusal =>
    available < amount || keep === 0
      ? { kind: 'insufficient', available }
      : { kind: 'reversible', available, ...movableOf(available, reversible) }
  if (!allowNegative && account.balance - keep < amount) return refusal(account.balance)
  const isOnItsWay = and(
    eq(creditOutbox.accountId, accountId),
    isNull(creditOutbox.appliedAt),
    lt(creditOutbox.amount, ZERO_NANO),
  )
  const waiting = await transaction
    .select({ entryId: creditOutbox.entryId, amount: creditOutbox.amount })
    .from(creditOutbox)
    .where(isOnItsWay)
  const debits = waiting.map(({ entryId, amount }) => ({ entryId, amount: nano(-amount) }))
  try {
    const outcome = await ledger.withhold({ ...debit, keep, ttlMs: WITHHELD_TTL_MS, debits })
    assert(outcome.kind !== 'unknown_account', 'the history has the account')
    return outcome.kind === 'insufficient' ? refusal(outcome.available) : undefined
  } catch (error) {
    // A debit that may go below zero can be sent later by the outbox.
    if (allowNegative) return undefined
    throw error
  }
}

/** Ends a withheld debit after its transaction failed: taken if Postgres has its entry, else returned. Never throws: expiry retries. */
export async function endWithheld(ledger: Ledger, withheld: Withheld): Promise<void> {
  await ledger.resolveWithheld(withheld).catch(() => undefined)
}
