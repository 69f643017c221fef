/** The ledger's operations on accounts: credit, balance, latest usage records, status. */

import { inputTokens } from '@/chat/usage'
import type {
  AccountBalance,
  AccountState,
  AccountStatus,
  Credit,
  CreditOutcome,
  RecentRecord,
} from '@/ledger/outcomes'
import { latestRecords } from '@/ledger/records/unsynced-records'
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
import { integerOf, integerText, listOf, nanoOf, wordOf } from '@/ledger/store/reply'
import { storeUnavailable } from '@/ledger/store/script-runner'
import { assert } from '@/lib/assert'
import { MAX_NANO } from '@/lib/money'
import { type LedgerDeps, MAX_LOADS } from './deps'
import { accountLimitArguments } from './restore'

const MAX_ENTRY_ID_CHARS = 200

/** Adds or takes back credit, once per ledger entry. */
export async function credit(deps: LedgerDeps, { accountId, entryId, amount }: Credit): Promise<CreditOutcome> {
  assert(entryId.length > 0 && entryId.length <= MAX_ENTRY_ID_CHARS, 'an entry id is 1 to 200 characters')
  const withheld = amount < 0 ? [holdName(accountId, entryId), deadlinesName(shardOf(accountId))] : []
  const names = [accountName(accountId), creditedName(accountId), ...withheld]
  const args = [entryId, integerText(amount, 'amount', -MAX_NANO, MAX_NANO), payerText({ accountId, keyId: NO_KEY })]
  const reply = await loaded(deps, accountId, async () => {
    const list = listOf(await deps.runner.run(SCRIPTS.credit, names, args))
    return list[0] === 'unknown_account' ? undefined : list
  })
  if (!reply) return { kind: 'unknown_account' }
  return { kind: wordOf(reply[0]) as 'credited' | 'exists', available: nanoOf(reply[1]) }
}

/** The account's balance; undefined if the account doesn't exist. */
export async function readBalance(deps: LedgerDeps, accountId: string): Promise<AccountBalance | undefined> {
  const shard = shardOf(accountId)
  const fields = await loaded(deps, accountId, async () => {
    const list = listOf(await deps.runner.run(SCRIPTS.readAccount, [metaName(shard), accountName(accountId)], []))
    return list.length === 0 ? undefined : list
  })
  if (!fields) return undefined
  return {
    available: nanoOf(fields[0]),
    held: nanoOf(fields[1]),
    spent: nanoOf(fields[2]),
    spentThisMonth: nanoOf(fields[3]),
    seq: integerOf(fields[4]),
    status: wordOf(fields[5]) as AccountStatus,
  }
}

/** Applies an account's status and limits at once. */
export async function setAccountState(
  deps: LedgerDeps,
  { accountId, status, ...limits }: AccountState,
): Promise<'updated' | 'unknown_account'> {
  const names = [accountName(accountId)]
  const outcome = await loaded(deps, accountId, async () => {
    const word = wordOf(await deps.runner.run(SCRIPTS.setAccount, names, [status, ...accountLimitArguments(limits)]))
    return word === 'unknown_account' ? undefined : word
  })
  return outcome ? 'updated' : 'unknown_account'
}

/** The latest usage records, newest first, including those not yet in Postgres. */
export async function recentRecords(deps: LedgerDeps, accountId: string, limit: number): Promise<RecentRecord[]> {
  assert(Number.isInteger(limit) && limit > 0, 'a limit is a positive integer')
  const records = await latestRecords(deps, accountId, limit)
  return records.map(({ recordId, cost, atMs, facts }) => ({
    recordId,
    cost,
    atMs,
    model: facts.model,
    inputTokens: inputTokens(facts.usage),
    outputTokens: facts.usage.output,
    toolUses: Object.fromEntries((facts.tools ?? []).map(({ name, uses }) => [name, uses])),
  }))
}

/** Repeats `work` until it finds the account, which is loaded before each repetition. Undefined if Postgres has no such account. */
export async function loaded<T>(
  deps: LedgerDeps,
  accountId: string,
  work: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (let load = 0; load < MAX_LOADS; load++) {
    const result = await work()
    if (result !== undefined) return result
    if ((await deps.restorer.account(accountId, 'load')) === 'unknown') return undefined
  }
  throw storeUnavailable(new Error('the account does not stay loaded'))
}
