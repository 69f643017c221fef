/**
 * Checks under traffic that all money adds up (`admin ledger check`). One script reads all values that must agree; changed values are read
 * again.
 */

import { type AccountView, viewAccounts } from '@/ledger/accounts/account-view'
import { createRestorer, type RestoreDeps, type Restorer } from '@/ledger/accounts/restore'
import type { LedgerHistory } from '@/ledger/outcomes'
import { countUnsynced } from '@/ledger/records/unsynced-records'
import { commandTimeoutOf, type RedisClient } from '@/ledger/store/connection'
import { verifyEpoch } from '@/ledger/store/epoch-guard'
import { SHARD_COUNT, shardOf } from '@/ledger/store/names'
import { createScriptRunner } from '@/ledger/store/script-runner'
import type { Logger } from '@/lib/logger'
import type { Pace } from '@/lib/pace'
import { brokenBudgets } from './check-budgets'
import { checkHolds } from './check-holds'
import { pagesOfAccounts } from './rebuild'
import { completeLists, findNames, listNames, type StoreNames } from './store-names'
import type { Violation } from './violation'

type CheckOptions = {
  redis: RedisClient
  history: LedgerHistory
  logger: Logger
  /**
   * Where to search for accounts, keys and holds. `everything` (default): all names in Redis, with tombstones. `accounts-and-keys`: all
   * names except holds, and adds accounts that the shards' lists lack. `listed`: only those lists, so tombstones cost nothing.
   */
  search?: 'everything' | 'accounts-and-keys' | 'listed'
  /** Pauses between parts of the work. Default: none. */
  pace?: Pace
}

export type CheckReport = {
  ok: boolean
  violations: Violation[]
  accounts: number
  openHolds: number
  unsyncedRecords: number
}

const BATCH_SIZE = 100
/** Maximum checks of an account that is changing or waits for a credit. */
const MAX_ROUNDS = 20
const ROUND_PAUSE_MS = 50

export async function checkLedger(options: CheckOptions): Promise<CheckReport> {
  const { redis, history, logger, search = 'everything', pace = noRest } = options
  const runner = createScriptRunner(redis, commandTimeoutOf(redis))
  const deps = { redis, runner, history, logger, pace }
  const restorer = createRestorer(deps)
  await verifyEpoch(redis, runner)
  const names = search === 'listed' ? await listNames(redis, pace) : await findNames(redis, pace, search)
  if (search === 'accounts-and-keys') await completeLists(redis, names, pace)
  const violations: Violation[] = [...names.violations]
  const holds = await checkHolds(deps, names.holds)
  violations.push(...holds.violations)
  for (let shard = 0; shard < SHARD_COUNT; shard++)
    violations.push(...(await checkShard({ ...deps, restorer }, shard, names)))
  const known = new Set<string>()
  for await (const ids of pagesOfAccounts(history)) for (const id of ids) known.add(id)
  const unsyncedRecords = await countUnsynced(deps)
  for (const accountId of names.accounts.keys()) known.add(accountId)
  return {
    ok: violations.length === 0,
    violations,
    accounts: known.size,
    openHolds: holds.openHolds,
    unsyncedRecords,
  }
}

/** No pauses, because an operator waits for the result. */
async function noRest(): Promise<void> {}

type CheckDeps = RestoreDeps & { restorer: Restorer; pace: Pace }

async function checkShard(deps: CheckDeps, shard: number, names: StoreNames): Promise<Violation[]> {
  const violations: Violation[] = []
  const ids = [...names.accounts.keys()].filter((id) => shardOf(id) === shard)
  for (let start = 0; start < ids.length; start += BATCH_SIZE) {
    violations.push(...(await checkAccounts(deps, shard, ids.slice(start, start + BATCH_SIZE), names)))
    await deps.pace()
  }
  return violations
}

async function checkAccounts(
  deps: CheckDeps,
  shard: number,
  accountIds: readonly string[],
  names: StoreNames,
): Promise<Violation[]> {
  const violations: Violation[] = []
  const unconfirmed = new Map<string, Violation[]>()
  let waiting = accountIds
  for (let round = 1; waiting.length > 0; round++) {
    const views = await viewAccounts(
      deps,
      shard,
      new Map(waiting.map((id) => [id, [...(names.accounts.get(id) ?? [])]])),
    )
    const isLast = round === MAX_ROUNDS
    waiting = waiting.filter((id) => {
      const view = views.get(id)
      if (!view || (!isLast && isCreditOnItsWay(view))) return true
      const found = violationsOf(view)
      if (!isLast && found.length > 0 && !view.isConfirmed) {
        unconfirmed.set(id, found)
        return true
      }
      violations.push(...found)
      return false
    })
    if (isLast && waiting.length > 0) deps.logger.warn('ledger_check_incomplete', { accounts: waiting.length })
    if (isLast) break
    // An unconfirmed account is compared with Postgres before its next use, so its difference is no violation.
    for (const [id, found] of unconfirmed) {
      if ((await deps.restorer.account(id, 'load')) !== 'unknown') continue
      // The account is not in Postgres, so waiting doesn't help.
      violations.push(...found)
      waiting = waiting.filter((other) => other !== id)
    }
    unconfirmed.clear()
    if (waiting.length > 0) await Bun.sleep(ROUND_PAUSE_MS)
  }
  return violations
}

/** Whether a credit is in Postgres, but the outbox hasn't sent it to Redis yet. */
function isCreditOnItsWay({ history, creditedIds }: AccountView): boolean {
  return history?.creditedEntryIds.some((id) => !creditedIds.has(id)) ?? false
}

function violationsOf(view: AccountView): Violation[] {
  const { accountId, stored, history, openHolds, unsynced } = view
  if (!stored) return []
  const violations: Violation[] = []
  const report = (kind: string, detail: string) => violations.push({ kind, accountId, detail })
  const held = openHolds.reduce((sum, hold) => sum + hold.amount, 0)
  if (held !== stored.held) report('held_differs_from_open_holds', `${stored.held} held, ${held} in open holds`)
  if (stored.available + stored.overrun < 0) {
    report('overdrawn', `${stored.available} available, but only ${stored.overrun} charged beyond holds`)
  }
  if (stored.open !== openHolds.length) {
    report('account_open_count', `counts ${stored.open}, has ${openHolds.length} open`)
  }
  for (const [keyId, key] of view.keys) {
    const own = openHolds.filter((hold) => hold.keyId === keyId)
    const ownHeld = own.reduce((sum, hold) => sum + hold.amount, 0)
    if (key && key.open !== own.length) report('key_open_count', `${keyId}: counts ${key.open}, has ${own.length} open`)
    if (key && key.held !== ownHeld) report('key_held', `${keyId}: counts ${key.held}, holds ${ownHeld}`)
  }
  for (const { kind, detail } of brokenBudgets(view)) report(kind, detail)
  for (const charge of view.secondCharges) {
    report('hold_charged_twice', `${charge.holdId}: ${charge.cost} more than the history's settlement`)
  }
  for (const hold of view.staleHolds) report('hold_already_charged', hold.holdId)
  if (!history) return [...violations, { kind: 'unknown_to_history', accountId, detail: 'no such account there' }]
  const missing = history.creditedEntryIds.filter((id) => !view.creditedIds.has(id))
  if (missing.length > 0) return [...violations, { kind: 'credit_missing', accountId, detail: missing.join(' ') }]
  const charges = unsynced.reduce((sum, record) => sum + record.cost, 0)
  const expected = history.balance - charges
  const actual = stored.available + stored.held
  if (expected !== actual) {
    report('balance_differs', `store ${actual}; history ${history.balance} less ${charges} on its way there`)
  }
  if (history.spent + charges !== stored.spent) {
    report('spent_differs', `store ${stored.spent}; history ${history.spent} and ${charges} on its way there`)
  }
  return violations
}
