/** Builds accounts and keys in Redis from Postgres: on first use, after a loss in Redis, and on request. */

import { addressText } from '@/ledger/address-lists'
import { allowedText } from '@/ledger/allowed'
import { secretsText } from '@/ledger/key-secrets'
import type { AccountLimits, AccountSnapshot, KeySnapshot, Payer } from '@/ledger/outcomes'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import { freshEpoch } from '@/ledger/store/epoch'
import {
  accountName,
  budgetsName,
  creditedName,
  deadlinesName,
  holderText,
  holdName,
  keyName,
  loadedName,
  metaName,
  payerText,
  recordsName,
  shardOf,
} from '@/ledger/store/names'
import { listOf, wordOf } from '@/ledger/store/reply'
import { storeUnavailable } from '@/ledger/store/script-runner'
import type { RecordEnvelope } from '@/ledger/usage-record'
import type { Logger } from '@/lib/logger'
import { type AccountView, type StoredKey, type ViewDeps, viewAccounts } from './account-view'
import { applyBudgets } from './budgets'

/** `load` skips loaded and confirmed accounts; `rebuild` always restores from Postgres; `correct` restores only loaded accounts. */
export type RestoreMode = 'load' | 'rebuild' | 'correct'

export type RestoreDeps = ViewDeps & { logger: Logger }

export interface Restorer {
  /** `unknown`: not in Postgres. Throws if Postgres can't be read. */
  account(accountId: string, mode: RestoreMode): Promise<'loaded' | 'unknown'>
  key(payer: Payer, mode: RestoreMode): Promise<'loaded' | 'unknown'>
  /** Updates the account's budgets from Postgres. */
  budgets(accountId: string): Promise<void>
  /** Loads the account and key of a request, if Redis lacks the account and the shard has this epoch. `changed`: otherwise. */
  payer(payer: Payer, epoch: string): Promise<'loaded' | 'unknown' | 'changed'>
}

/** Maximum attempts to read consistent values. After them, the caller is refused with `retry-after`. */
const MAX_ATTEMPTS = 20

/**
 * Creates a restorer. Balance = balance in Postgres − charges still in the stream − open holds. Open holds stay open, except those whose
 * charge is already in Postgres. Records stay in the stream. So a rebuild never creates money: available credit was paid, and is neither
 * charged nor held.
 */
export function createRestorer(deps: RestoreDeps): Restorer {
  return {
    account: (accountId, mode) => persist(() => restoreAccount(deps, accountId, mode)),
    key: (payer, mode) => persist(() => restoreKey(deps, payer, mode)),
    async budgets(accountId) {
      await persist(() => restoreBudgets(deps, accountId))
    },
    payer: (payer, epoch) => loadPayer(deps, payer, epoch),
  }
}

async function persist(work: () => Promise<'loaded' | 'unknown' | 'changed'>): Promise<'loaded' | 'unknown'> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const outcome = await work()
    if (outcome !== 'changed') return outcome
  }
  throw storeUnavailable(new Error('the account moved too fast to be loaded'))
}

async function restoreAccount(
  deps: RestoreDeps,
  accountId: string,
  mode: RestoreMode,
): Promise<'loaded' | 'unknown' | 'changed'> {
  const view = (await viewAccounts(deps, shardOf(accountId), new Map([[accountId, []]]))).get(accountId)
  if (!view) return 'changed'
  if (mode === 'correct' && !view.stored) return 'loaded'
  return applyView(deps, view, mode)
}

async function restoreBudgets(deps: RestoreDeps, accountId: string): Promise<'loaded' | 'changed'> {
  const view = (await viewAccounts(deps, shardOf(accountId), new Map([[accountId, []]]))).get(accountId)
  return view ? applyBudgets(deps, view) : 'changed'
}

/**
 * Reads and writes an account and its key together on first use, such as after a loss in Redis. The script detects newer values in Redis
 * and keeps them. If charges from before the loss reach Postgres meanwhile, the shard's epoch changes (src/ledger/records/acknowledge.ts).
 */
async function loadPayer(deps: ViewDeps, payer: Payer, epoch: string): Promise<'loaded' | 'unknown' | 'changed'> {
  const { runner, history } = deps
  const { accountId, keyId } = payer
  const [account, key] = await runner.guard(() =>
    Promise.all([history.account(accountId), history.key(accountId, keyId)]),
  )
  if (!account) return 'unknown'
  if (!key || account.budgets) return 'changed'
  const shard = shardOf(accountId)
  const names = [
    ...[metaName(shard), accountName(accountId), keyName(payer), creditedName(accountId), deadlinesName(shard)],
    ...[loadedName(shard), budgetsName(accountId), recordsName(shard)],
  ]
  const reply = await runner.run(SCRIPTS.loadPayer, names, [
    ...[accountId, payerText(payer), epoch, account.status, account.balance, account.spent, account.month],
    ...[account.spentThisMonth, account.seq, ...accountLimitArguments(account)],
    ...[...keyStateArguments(key), key.month, key.spentThisMonth, ...account.creditedEntryIds],
  ])
  return wordOf(reply) as 'loaded' | 'changed'
}

/** Writes a view into Redis. `changed`: the account has changed since, so another view is needed. */
export async function applyView(
  deps: RestoreDeps,
  view: AccountView,
  mode: RestoreMode,
): Promise<'loaded' | 'unknown' | 'changed'> {
  const { accountId, stored, history, staleHolds } = view
  if (!history) return 'unknown'
  if ((await applyBudgets(deps, view)) === 'changed') return 'changed'
  const shard = shardOf(accountId)
  const figures = figuresOf(view, history, mode, deps.logger)
  const names = [
    ...[metaName(shard), accountName(accountId), creditedName(accountId), deadlinesName(shard), loadedName(shard)],
    ...staleHolds.flatMap((hold) => [holdName(accountId, hold.holdId), keyName(hold)]),
    budgetsName(accountId),
  ]
  const base = [stored ? stored.spent : 'absent', view.creditedIds.size, stored?.version ?? 0]
  const target = [history.status, figures.balance, figures.spent, figures.month, figures.spentMonth, figures.seq]
  const stale = staleHolds.flatMap((hold) => [holderText(hold), hold.holdId, hold.amount])
  const reply = await deps.runner.run(SCRIPTS.loadAccount, names, [
    ...[accountId, mode, ...base, ...target, freshEpoch()],
    ...accountLimitArguments(history),
    ...[staleHolds.length, ...stale, ...history.creditedEntryIds],
  ])
  const [outcome, available] = listOf(reply)
  if (outcome === 'changed') return 'changed'
  if (outcome === 'loaded' && stored && stored.available !== available) {
    deps.logger.warn('ledger_account_restored', { accountId, before: stored.available, available })
  }
  return 'loaded'
}

type Figures = { balance: number; spent: number; month: number; spentMonth: number; seq: number }

function figuresOf(view: AccountView, history: AccountSnapshot, mode: RestoreMode, logger: Logger): Figures {
  const { stored, accountId } = view
  const lastKnown = Math.max(history.seq, view.lastStreamSeq)
  if (stored && mode === 'load' && stored.seq > lastKnown) {
    // Charges of this account are neither in the stream nor in Postgres, so Postgres has lost data. Restoring would give the money back,
    // which only a person may decide.
    logger.error('ledger_history_behind', { accountId, storeSeq: stored.seq, historySeq: history.seq })
    const held = view.openHolds.reduce((sum, hold) => sum + hold.amount, 0)
    const balance = stored.available + held
    return { balance, spent: stored.spent, month: stored.month, spentMonth: stored.spentMonth, seq: stored.seq }
  }
  const unsynced = sumOf(view.unsynced)
  const month = monthlySpend(history.month, history.spentThisMonth, view.unsynced)
  return { balance: history.balance - unsynced, spent: history.spent + unsynced, ...month, seq: lastKnown }
}

async function restoreKey(deps: ViewDeps, payer: Payer, mode: RestoreMode): Promise<'loaded' | 'unknown' | 'changed'> {
  const { accountId, keyId } = payer
  const shard = shardOf(accountId)
  const view = (await viewAccounts(deps, shard, new Map([[accountId, [keyId]]]))).get(accountId)
  if (!view) return 'changed'
  const key = await deps.runner.guard(() => deps.history.key(accountId, keyId))
  if (!key) return 'unknown'
  if (await hasMoved(deps, view)) return 'changed'
  return applyKey(deps, view, key, mode)
}

/** Whether charges of the account reached Postgres after the view, so that values of its key may lack them. */
async function hasMoved(deps: ViewDeps, view: AccountView): Promise<boolean> {
  const now = await deps.runner.guard(() => deps.history.account(view.accountId))
  return now?.seq !== view.history?.seq || now?.spent !== view.history?.spent
}

async function applyKey(
  deps: ViewDeps,
  view: AccountView,
  key: KeySnapshot,
  mode: RestoreMode,
): Promise<'loaded' | 'changed'> {
  const shard = shardOf(key.accountId)
  const records = view.unsynced.filter((record) => record.keyId === key.keyId)
  const stored = view.keys.get(key.keyId)
  const { month, spentMonth } = monthlySpend(key.month, key.spentThisMonth, records)
  const reply = await deps.runner.run(
    SCRIPTS.loadKey,
    [metaName(shard), keyName(key), deadlinesName(shard), loadedName(shard)],
    [...[payerText(key), mode, ...baseOf(stored), ...keyStateArguments(key)], ...[month, spentMonth, freshEpoch()]],
  )
  return wordOf(reply) === 'changed' ? 'changed' : 'loaded'
}

function baseOf(stored: StoredKey | undefined): (string | number)[] {
  return stored ? [stored.version, stored.month, stored.spentMonth] : ['absent', 0, 0]
}

/** A key's status and limits as script arguments; the empty string if not set. */
export function keyStateArguments(key: Omit<KeySnapshot, 'spentThisMonth' | 'month'>): (string | number)[] {
  const limits = [key.requestsPerMinute, key.tokensPerMinute, key.concurrency, key.monthlyBudget, key.expiresAtMs]
  const uses = secretsText(key.secrets) + addressText(key.addresses) + allowedText(key)
  return [key.status, ...limits.map((limit) => limit ?? ''), uses, key.ownerId ?? '']
}

/** An account's limits as script arguments; the empty string if not set. */
export function accountLimitArguments(limits: AccountLimits): (string | number)[] {
  return [limits.requestsPerMinute ?? '', limits.tokensPerMinute ?? '', limits.concurrency ?? '']
}

/** The latest known calendar month, and its charges. */
function monthlySpend(
  month: number,
  spent: number,
  records: readonly RecordEnvelope[],
): { month: number; spentMonth: number } {
  const latest = Math.max(month, ...records.map((record) => monthOf(record.atMs)))
  const unsynced = sumOf(records.filter((record) => monthOf(record.atMs) === latest))
  return { month: latest, spentMonth: (month === latest ? spent : 0) + unsynced }
}

function monthOf(ms: number): number {
  const date = new Date(ms)
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1
}

function sumOf(records: readonly RecordEnvelope[]): number {
  return records.reduce((sum, record) => sum + record.cost, 0)
}
