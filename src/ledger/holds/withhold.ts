/** Withholds credit that a Postgres transaction is about to remove, so that no request can spend it first. */
import { credit, loaded } from '@/ledger/accounts/balances'
import type { LedgerDeps } from '@/ledger/accounts/deps'
import type { Withheld, WithheldFate, Withholding, WithholdOutcome } from '@/ledger/outcomes'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import {
  accountName,
  creditedName,
  deadlinesName,
  holdName,
  metaName,
  NO_KEY,
  payerText,
  shardOf,
} from '@/ledger/store/names'
import { amountText, integerText, listOf, MAX_TTL_MS, nanoOf, wordOf } from '@/ledger/store/reply'
import { assert } from '@/lib/assert'
import { nano, ZERO_NANO } from '@/lib/money'
import { release } from './reserve'

/** Takes the amount from the available credit, if there is enough. */
export async function withhold(deps: LedgerDeps, withholding: Withholding): Promise<WithholdOutcome> {
  const { accountId, entryId, amount, ttlMs, allowNegative, keep = ZERO_NANO, debits } = withholding
  const shard = shardOf(accountId)
  const names = [metaName(shard), accountName(accountId), holdName(accountId, entryId), deadlinesName(shard)]
  const args = [
    ...[payerText({ accountId, keyId: NO_KEY }), entryId, amountText(amount, 'amount')],
    ...[integerText(ttlMs, 'time to live', 1, MAX_TTL_MS), allowNegative ? 'any' : amountText(keep, 'amount to keep')],
    ...debits.flatMap((debit) => [debit.entryId, amountText(debit.amount, 'debit')]),
  ]
  const reply = await loaded(deps, accountId, async () => {
    const list = listOf(await deps.runner.run(SCRIPTS.withhold, [...names, creditedName(accountId)], args))
    return list[0] === 'unknown_account' ? undefined : list
  })
  if (!reply) return { kind: 'unknown_account' }
  const kind = wordOf(reply[0])
  assert(kind !== 'exists', 'an entry id withholds credit once')
  return { kind: kind as 'withheld' | 'insufficient', available: nanoOf(reply[1]) }
}

/** Debits a withheld amount if Postgres has its entry. Gives it back if the entry can never come: a late `withhold` gets `exists`. */
export async function resolveWithheld(
  deps: LedgerDeps,
  { accountId, entryId, amount }: Withheld,
): Promise<WithheldFate> {
  const state = await deps.runner.guard(() => deps.history.entryState(accountId, entryId))
  if (state === 'undecided') return 'undecided'
  if (state === 'recorded') await credit(deps, { accountId, entryId, amount: nano(-amount) })
  else await release(deps, { accountId, keyId: NO_KEY, holdId: entryId })
  return state === 'recorded' ? 'taken' : 'returned'
}
