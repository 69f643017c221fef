/** Sends changes of balance and usage to open pages: one watcher per process asks the ledger once a second. */
import type { Database } from '@/db/client'
import type { Ledger } from '@/ledger/ledger'
import type { AccountBalance } from '@/ledger/outcomes'
import { withDeadline } from '@/lib/deadline'
import type { Logger } from '@/lib/logger'
import type { Nano } from '@/lib/money'
import { createWorkerLoop } from '@/lib/worker-loop'

export type LiveEvent =
  | { type: 'balance'; balance: Nano; available: Nano; held: Nano; spentThisMonth: Nano }
  /** New usage records are in Postgres; `pending` more are not there yet. */
  | { type: 'usage'; seq: number; pending: number }

export type Watch = { end(): void }

export interface LiveAccounts {
  /** Calls `listener` with the current state and each change until `end`; undefined if the account has {@link MAX_WATCHERS} already. */
  watch(accountId: string, listener: (event: LiveEvent) => void): Watch | undefined
  accountCount(): number
  stop(): void
}

type LiveAccountsDeps = {
  ledger: Ledger
  database: Database
  logger: Logger
  intervalMs?: number
}

/** Connections per account and process: a few people with a few tabs each. */
export const MAX_WATCHERS = 20
const INTERVAL_MS = 1_000
const LOOK_TIMEOUT_MS = 5_000

/** Creates the watchers of one process. */
export function createLiveAccounts(deps: LiveAccountsDeps): LiveAccounts {
  const accounts = new Map<string, AccountWatcher>()
  let isStopped = false
  return {
    watch(accountId, listener) {
      if (isStopped) return undefined
      const watcher = accounts.get(accountId) ?? createAccountWatcher(deps, accountId)
      if (watcher.listeners.size >= MAX_WATCHERS) return undefined
      accounts.set(accountId, watcher)
      // A function of its own for each connection, even if two connections pass the same listener.
      const own = (event: LiveEvent) => listener(event)
      watcher.add(own)
      return {
        end() {
          watcher.listeners.delete(own)
          if (watcher.listeners.size > 0 || accounts.get(accountId) !== watcher) return
          watcher.stop()
          accounts.delete(accountId)
        },
      }
    },
    accountCount: () => accounts.size,
    stop() {
      isStopped = true
      for (const watcher of accounts.values()) watcher.stop()
      accounts.clear()
    },
  }
}

type AccountWatcher = {
  readonly listeners: Set<(event: LiveEvent) => void>
  add(listener: (event: LiveEvent) => void): void
  stop(): void
}

function createAccountWatcher(deps: LiveAccountsDeps, accountId: string): AccountWatcher {
  const { ledger, database, logger, intervalMs = INTERVAL_MS } = deps
  const listeners = new Set<(event: LiveEvent) => void>()
  let balanceTold: Extract<LiveEvent, { type: 'balance' }> | undefined
  /** Undefined for an account without usage records. */
  let usageTold: Extract<LiveEvent, { type: 'usage' }> | undefined
  const loop = createWorkerLoop({
    async round() {
      await withDeadline(look(), LOOK_TIMEOUT_MS, () => {
        throw new Error(`no answer in ${LOOK_TIMEOUT_MS} ms`)
      })
      return intervalMs
    },
    onFailure(error, failures) {
      if (failures === 1) logger.warn('live_account_unreadable', { accountId, error })
      return intervalMs
    },
  })
  loop.start()

  async function look(): Promise<void> {
    const balance = await ledger.readBalance(accountId)
    if (!balance || loop.isStopping()) return
    const event = balanceEvent(balance)
    if (JSON.stringify(event) !== JSON.stringify(balanceTold)) tell(event)
    balanceTold = event
    if (balance.seq !== (usageTold?.seq ?? 0)) await lookForUsage(balance.seq)
  }

  /** Reports usage once it is in Postgres, since pages query it at once. The first poll also reports existing records. */
  async function lookForUsage(ledgerSeq: number): Promise<void> {
    const seq = await readHistorySeq(database, accountId)
    if (loop.isStopping() || seq === (usageTold?.seq ?? 0)) return
    usageTold = { type: 'usage', seq, pending: Math.max(0, ledgerSeq - seq) }
    tell(usageTold)
  }

  function tell(event: LiveEvent): void {
    for (const listener of listeners) listener(event)
  }

  return {
    listeners,
    add(listener) {
      listeners.add(listener)
      if (balanceTold) listener(balanceTold)
      if (usageTold) listener(usageTold)
    },
    stop: () => void loop.stop(),
  }
}

function balanceEvent({ available, held, spentThisMonth }: AccountBalance): Extract<LiveEvent, { type: 'balance' }> {
  return { type: 'balance', balance: (available + held) as Nano, available, held, spentThisMonth }
}

async function readHistorySeq({ sql }: Database, accountId: string): Promise<number> {
  const [row] = await sql<{ ledger_seq: number }[]>`SELECT ledger_seq FROM accounts WHERE id = ${accountId}`
  return row?.ledger_seq ?? 0
}
