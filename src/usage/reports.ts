/** What an account may know about its money and its latest requests, correct to the last settled request. */
import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import type { Ledger } from '@/ledger/ledger'
import type { RecentCharge } from '@/ledger/outcomes'
import { createBoundedMap } from '@/lib/bounded-map'
import { type Nano, nano, nanoToUsd } from '@/lib/money'

/** The body of `GET /v1/usage`. Amounts are USD. */
type UsageSummary = {
  /** Available and held together. Below zero where a request cost more than was left. */
  credits_remaining: number
  credits_used: number
  /** Calendar month in UTC. */
  usage_this_month: number
  customer: { name: string; credits: number }
  /** At most 50, newest first. */
  recentUsage: UsageEntry[]
}

type UsageEntry = {
  model: string
  inputTokens: number
  outputTokens: number
  credits: number
  /** ISO 8601, UTC. */
  createdAt: string
}

export interface Reports {
  /**
   * The account's summary, or undefined where there is no such account. Throws a GatewayError of kind `overloaded` where the
   * ledger can't be reached. Without the history it still answers: then the name is the last one known, or empty, and the
   * list may be shorter than it would be.
   */
  usageSummary(accountId: string): Promise<UsageSummary | undefined>
}

const RECENT_COUNT = 50
/** The summary is worth having without the history, so it doesn't wait long for it. */
const HISTORY_TIMEOUT_MS = 1_000
/** After the history failed, it is left alone for this long. */
const HISTORY_PAUSE_MS = 2_000

/** Reports for accounts: money and latest charges from `ledger`, older records and names from `database`. */
export function createReports(database: Database, ledger: Ledger): Reports {
  const names = createNameCache()
  let historyPausedUntil = 0

  async function fromHistory<T>(query: () => Promise<T>): Promise<T | undefined> {
    if (performance.now() < historyPausedUntil) return undefined
    try {
      return await withDatabaseDeadline(query(), HISTORY_TIMEOUT_MS)
    } catch {
      historyPausedUntil = performance.now() + HISTORY_PAUSE_MS
      return undefined
    }
  }

  async function nameOf(accountId: string): Promise<string> {
    const known = names.get(accountId)
    if (known?.isFresh) return known.name
    const found = await fromHistory(() => readName(database, accountId))
    if (found !== undefined) names.set(accountId, found)
    return found ?? known?.name ?? ''
  }

  async function recentOf(accountId: string): Promise<RecentCharge[]> {
    const charges = await ledger.recentCharges(accountId, RECENT_COUNT)
    if (charges.length >= RECENT_COUNT) return charges
    const older = await fromHistory(() => readRecent(database, accountId))
    return mergeCharges(charges, older ?? [])
  }

  return {
    async usageSummary(accountId) {
      const [balance, recent, name] = await Promise.all([
        ledger.readBalance(accountId),
        recentOf(accountId),
        nameOf(accountId),
      ])
      if (!balance) return undefined
      const remaining = nanoToUsd(nano(balance.available + balance.held))
      return {
        credits_remaining: remaining,
        credits_used: nanoToUsd(balance.spent),
        usage_this_month: nanoToUsd(balance.spentThisMonth),
        customer: { name, credits: remaining },
        recentUsage: recent.map(toEntry),
      }
    },
  }
}

/**
 * Both lists hold the same charges for a while: each is shown once, as the ledger has it. Sorting keeps the order of
 * charges of the same millisecond, where the ledger's are the newer ones.
 */
function mergeCharges(fromLedger: readonly RecentCharge[], fromHistory: readonly RecentCharge[]): RecentCharge[] {
  const known = new Set(fromLedger.map((charge) => charge.eventId))
  const older = fromHistory.filter((charge) => !known.has(charge.eventId))
  return [...fromLedger, ...older].sort((one, other) => other.atMs - one.atMs).slice(0, RECENT_COUNT)
}

function toEntry(charge: RecentCharge): UsageEntry {
  return {
    model: charge.model,
    inputTokens: charge.inputTokens,
    outputTokens: charge.outputTokens,
    credits: nanoToUsd(charge.cost),
    createdAt: new Date(charge.atMs).toISOString(),
  }
}

type RecentRow = { event_id: string; model: string; input: number; output: number; cost: Nano; at_ms: number }

async function readRecent({ sql }: Database, accountId: string): Promise<RecentCharge[]> {
  const rows = await sql<RecentRow[]>`
    SELECT event_id, model, output_tokens::bigint AS output, cost_nano::bigint AS cost,
      (uncached_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens)::bigint AS input,
      floor(extract(epoch FROM settled_at) * 1000)::bigint AS at_ms
    FROM usage_records WHERE account_id = ${accountId} ORDER BY settled_at DESC, seq DESC LIMIT ${RECENT_COUNT}`
  return rows.map((row) => ({
    eventId: row.event_id,
    model: row.model,
    inputTokens: row.input,
    outputTokens: row.output,
    cost: nano(row.cost),
    atMs: row.at_ms,
  }))
}

async function readName({ sql }: Database, accountId: string): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`SELECT name FROM accounts WHERE id = ${accountId}`
  return row?.name
}

const NAME_CACHE_SIZE = 10_000
const NAME_FRESH_MS = 60_000

/** Names rarely change: one is asked for again after a minute, and kept for the time in which the history is down. */
function createNameCache() {
  const names = createBoundedMap<string, { name: string; freshUntil: number }>(NAME_CACHE_SIZE)
  return {
    get(accountId: string): { name: string; isFresh: boolean } | undefined {
      const entry = names.get(accountId)
      return entry && { name: entry.name, isFresh: performance.now() < entry.freshUntil }
    },
    set(accountId: string, name: string): void {
      names.set(accountId, { name, freshUntil: performance.now() + NAME_FRESH_MS })
    },
  }
}
