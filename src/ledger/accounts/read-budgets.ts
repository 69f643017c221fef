import { SCRIPTS } from '@/ledger/scripts/scripts'
import { budgetsName, keyName } from '@/ledger/store/names'
import { integerOf, listOf } from '@/ledger/store/reply'
import { readBalance } from './balances'
import type { LedgerDeps } from './deps'
import { readBudgets as parseBudgets, type StoredBudget } from './stored-budgets'

/** The current budgets of an account or of one of its keys, by field, with the time in Redis. */
export type BudgetsNow = { nowMs: number; entries: Map<string, StoredBudget> }

/** Reads an account's budgets for pages and `GET /v1/key`, and loads it first if needed. Undefined if it doesn't exist. */
export async function readBudgets(deps: LedgerDeps, accountId: string, keyId = ''): Promise<BudgetsNow | undefined> {
  if ((await readBalance(deps, accountId)) === undefined) return undefined
  const names = [budgetsName(accountId), ...(keyId === '' ? [] : [keyName({ accountId, keyId })])]
  const read = async () => listOf(await deps.runner.run(SCRIPTS.readBudgets, names, [keyId]))
  let [nowMs, fields, isUnknown] = await read()
  if (isUnknown === 1) {
    await deps.restorer.key({ accountId, keyId }, 'load')
    ;[nowMs, fields, isUnknown] = await read()
  }
  return { nowMs: integerOf(nowMs), entries: parseBudgets(listOf(fields))?.entries ?? new Map() }
}
