/** An account's money and latest requests, correct to the last settled request. */
import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import { archivedBeforeMs } from '@/db/usage-archive'
import { ofPerson } from '@/db/usage-sums/own-requests'
import type { Ledger } from '@/ledger/ledger'
import type { Payer, RecentRecord } from '@/ledger/outcomes'
import type { ToolCharge } from '@/ledger/usage-record'
import { createBoundedMap } from '@/lib/bounded-map'
import { type Nano, nano, nanoToUsd } from '@/lib/money'

/** The body of `GET /v1/usage`. Amounts are USD; those of the account are null if the key's member may not see its balance. */
type UsageSummary = {
  /** Available and held credit together. Negative if a request cost more than was left. */
  credits_remaining: number | null
  credits_used: number | null
  /** Calendar month in UTC. */
  usage_this_month: number | null
  customer: { name: string; credits: number | null }
  /** At most 50 requests, newest first: all of the account's; or those that the member may see, which appear a second later. */
  recentUsage: UsageEntry[]
  /** Set if the list is incomplete because requests before this time are archived; ISO 8601, UTC. */
  archivedBefore?: string
}

type UsageEntry = {
  model: string
  inputTokens: number
  outputTokens: number
  credits: number
  /** Uses of tools that ran at the provider, by name; undefined if there were none. */
  toolUses?: Record<string, number>
  /** ISO 8601, UTC. */
  createdAt: string
}

type AskingKey = Pick<Payer, 'accountId' | 'keyId'>

/** A key of the account, or (without `keyId`) a caller who sees everything. */
export type Asker = Pick<Payer, 'accountId'> & { keyId?: string }

/** The account's data that a key may see. `madeBy`: only the usage of this person's keys; undefined: all. */
type KeySight = { seesBalance: boolean; madeBy?: string }

export type SightOf = (key: AskingKey) => Promise<KeySight>

/** An unknown key may see no amounts and no requests. */
const SEES_NOTHING: KeySight = { seesBalance: false, madeBy: '' }

export interface Reports {
  /** The usage that the key may see; undefined for an unknown account; shorter without Postgres. Throws `overloaded` without the ledger. */
  usageSummary(key: AskingKey): Promise<UsageSummary | undefined>
  /** The account's total credit, and how much was spent; `unseen` if the key may not see it. Throws `overloaded` without the ledger. */
  credits(asker: Asker): Promise<{ total: Nano; spent: Nano } | 'unseen'>
}

const RECENT_COUNT = 50
/** The summary is useful without Postgres, so it waits for Postgres only this long. */
const HISTORY_TIMEOUT_MS = 1_000
/** How long no query is sent to Postgres after a failure. */
const HISTORY_PAUSE_MS = 2_000

/** Reports of the usage that a key may see: money and latest usage from `ledger`, older records and names from `database`. */
export function createReports(database: Database, ledger: Ledger, sightOfKey: SightOf): Reports {
  const names = createNameCache()
  const sights = createBoundedMap<string, KeySight>(SIGHT_CACHE_SIZE)
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

  /** Not cached, so that a change of role applies at once. */
  async function sightOf(key: AskingKey): Promise<KeySight> {
    const found = await fromHistory(() => sightOfKey(key))
    if (found) sights.set(key.keyId, found)
    return found ?? sights.get(key.keyId) ?? SEES_NOTHING
  }

  /** Records leave the stream only when they are in Postgres, so reading the stream first misses none. */
  async function recentOf(accountId: string, { madeBy }: KeySight): Promise<Recent> {
    const recent = madeBy === undefined ? await ledger.recentRecords(accountId, RECENT_COUNT) : []
    const older = (await fromHistory(() => readRecent(database, accountId, madeBy))) ?? []
    const records = mergeRecords(recent, older)
    if (records.length >= RECENT_COUNT) return { records, archivedBeforeMs: null }
    return { records, archivedBeforeMs: (await fromHistory(() => readArchived(database, accountId))) ?? null }
  }

  return {
    async credits({ accountId, keyId }) {
      const sight = keyId === undefined ? { seesBalance: true } : await sightOf({ accountId, keyId })
      const balance = sight.seesBalance ? await ledger.readBalance(accountId) : undefined
      if (!balance) return 'unseen'
      const { available, held, spent } = balance
      return { total: nano(available + held + spent), spent }
    },
    async usageSummary(key) {
      const { accountId } = key
      const sight = await sightOf(key)
      const [balance, recent, name] = await Promise.all([
        ledger.readBalance(accountId),
        recentOf(accountId, sight),
        nameOf(accountId),
      ])
      if (!balance) return undefined
      const told = (amount: number) => (sight.seesBalance ? nanoToUsd(nano(amount)) : null)
      const remaining = told(balance.available + balance.held)
      return {
        credits_remaining: remaining,
        credits_used: told(balance.spent),
        usage_this_month: told(balance.spentThisMonth),
        customer: { name, credits: remaining },
        recentUsage: recent.records.map(toEntry),
        ...(recent.archivedBeforeMs !== null && { archivedBefore: new Date(recent.archivedBeforeMs).toISOString() }),
      }
    },
  }
}

type Recent = { records: RecentRecord[]; archivedBeforeMs: number | null }

/** The time before which records are archived; null for an account without archived records. */
async function readArchived({ sql }: Database, accountId: string): Promise<number | null> {
  const known = await sql`SELECT FROM usage_checkpoints JOIN archived_months USING (month)
    WHERE account_id = ${accountId} AND archived_at IS NOT NULL LIMIT 1`
  return known.length === 0 ? null : await archivedBeforeMs(sql)
}

/** Merges lists that share records, newest first. A record in both lists is taken from the ledger's. */
function mergeRecords(fromLedger: readonly RecentRecord[], fromHistory: readonly RecentRecord[]): RecentRecord[] {
  const known = new Set(fromLedger.map((record) => record.recordId))
  const older = fromHistory.filter((record) => !known.has(record.recordId))
  return [...fromLedger, ...older].sort((one, other) => other.atMs - one.atMs).slice(0, RECENT_COUNT)
}

function toEntry(record: RecentRecord): UsageEntry {
  return {
    model: record.model,
    inputTokens: record.inputTokens,
    outputTokens: record.outputTokens,
    credits: nanoToUsd(record.cost),
    ...(Object.keys(record.toolUses).length > 0 && { toolUses: record.toolUses }),
    createdAt: new Date(record.atMs).toISOString(),
  }
}

type RecentRow = {
  event_id: string
  model: string
  input: number
  output: number
  cost: Nano
  tools: ToolCharge[] | null
  at_ms: number
}

async function readRecent({ sql }: Database, accountId: string, madeBy: string | undefined): Promise<RecentRecord[]> {
  const ofTheirs = madeBy === undefined ? sql`` : ofPerson(sql, accountId, madeBy)
  const rows = await sql<RecentRow[]>`
    SELECT event_id, model, output_tokens::bigint AS output, cost_nano::bigint AS cost, tool_charges AS tools,
      (uncached_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens)::bigint AS input,
      floor(extract(epoch FROM settled_at) * 1000)::bigint AS at_ms
    FROM usage_records WHERE account_id = ${accountId} ${ofTheirs} ORDER BY settled_at DESC, seq DESC LIMIT ${RECENT_COUNT}`
  return rows.map((row) => ({
    recordId: row.event_id,
    model: row.model,
    inputTokens: row.input,
    outputTokens: row.output,
    cost: nano(row.cost),
    toolUses: Object.fromEntries((row.tools ?? []).map(({ name, uses }) => [name, uses])),
    atMs: row.at_ms,
  }))
}

async function readName({ sql }: Database, accountId: string): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`SELECT name FROM accounts WHERE id = ${accountId}`
  return row?.name
}

const NAME_CACHE_SIZE = 10_000
const SIGHT_CACHE_SIZE = 10_000
const NAME_FRESH_MS = 60_000

/** Names rarely change, so they are cached for a minute, and longer while Postgres is unavailable. */
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
