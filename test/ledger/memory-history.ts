/** A history in memory, with a flusher that can be stopped between any two steps: what Postgres is to the ledger. */

import { EVERYTHING } from '@/ledger/allowed'
import type { BudgetSnapshot } from '@/ledger/budgets'
import type { AccountSnapshot, AccountState, KeySnapshot, KeyState, LedgerHistory } from '@/ledger/outcomes'
import type { RedisClient } from '@/ledger/store/connection'
import { recordsName, shardOf } from '@/ledger/store/names'
import { parseUsageRecord, type UsageRecord } from '@/ledger/usage-record'
import { nano } from '@/lib/money'

export interface MemoryHistory extends LedgerHistory {
  addAccount(accountId: string): void
  /** Sets the account's status or limits; what is left out stays. */
  setAccount(accountId: string, changes: Partial<AccountState>): void
  setKey(key: Partial<KeySnapshot> & { accountId: string; keyId: string }): void
  /** Sets what the account, its members and its keys may spend; an empty list = no budgets. */
  setBudgets(accountId: string, budgets: readonly MemoryBudget[]): void
  /** The ledger entry of a credit, committed; the ledger has not heard of it yet. */
  addCredit(accountId: string, entryId: string, amount: number): void
  /** From now on somebody is at work on the account, who may yet commit an entry; or nobody any more. */
  setBusy(accountId: string, isBusy: boolean): void
  /** Writes records into the books, each once. */
  write(records: readonly UsageRecord[]): void
  /** Carries all records of the given accounts' shards into the books; `crash` stops before they leave the stream. */
  flush(redis: RedisClient, accountIds: readonly string[], options?: { crash: boolean }): Promise<void>
  records(accountId: string): UsageRecord[]
  /** How often an account was read. */
  reads(): number
  /** From now on every read rejects, or works again. */
  setDown(isDown: boolean): void
}

/** A scope and its limits in nano-USD; a grant is for the windows of now. */
type MemoryBudget = Pick<BudgetSnapshot, 'scope' | 'scopeId' | 'limits'>

/** Creates an empty history. */
export function createMemoryHistory(): MemoryHistory {
  const accounts = new Map<string, AccountSnapshot>()
  const keys = new Map<string, KeySnapshot>()
  const records = new Map<string, UsageRecord>()
  const busy = new Set<string>()
  const budgets = new Map<string, readonly MemoryBudget[]>()
  let readCount = 0
  let isDown = false
  const answer = async <T>(value: () => T): Promise<T> => {
    if (isDown) throw new Error('the history is down')
    readCount++
    return structuredClone(value())
  }
  const account = (id: string): AccountSnapshot => {
    const found = accounts.get(id)
    if (!found) throw new Error(`no account ${id}`)
    return found
  }

  const snapshotOf = (accountId: string): AccountSnapshot | undefined => {
    const found = accounts.get(accountId)
    const limits = budgets.get(accountId) ?? []
    if (!found || limits.length === 0) return found
    const own = [...records.values()].filter((record) => record.accountId === accountId)
    const scopes = limits.map((budget) => {
      const charged = own.filter((record) => isIn(budget, record))
      const days = charged.map((record) => [Math.floor(record.atMs / 86_400_000), record.cost] as const)
      return { ...budget, days, total: charged.reduce((sum, record) => sum + record.cost, 0) }
    })
    return { ...found, budgets: { scopes } }
  }

  function write(batch: readonly UsageRecord[]): void {
    for (const record of batch) {
      if (records.has(record.recordId)) continue
      if (record.kind === 'late' && records.get(record.holdId)?.kind === 'settle') continue
      records.set(record.recordId, record)
      const owner = account(record.accountId)
      owner.balance = nano(owner.balance - record.cost)
      owner.spent = nano(owner.spent + record.cost)
      owner.seq = Math.max(owner.seq, record.seq)
      count(owner, record)
      const key = keys.get(`${record.accountId}:${record.keyId}`)
      if (key) count(key, record)
    }
  }

  return {
    account: (id) => answer(() => snapshotOf(id)),
    accounts: (ids) => answer(() => ids.flatMap((id) => snapshotOf(id) ?? [])),
    key: (accountId, keyId) => answer(() => keys.get(`${accountId}:${keyId}`)),
    knownRecordIds: (ids) => answer(() => ids.filter((id) => records.has(id))),
    settledHoldIds: (ids) => answer(() => ids.filter((id) => records.get(id)?.kind === 'settle')),
    entryState: (accountId, entryId) =>
      answer(() => {
        if (busy.has(accountId)) return 'undecided'
        return account(accountId).creditedEntryIds.includes(entryId) ? 'recorded' : 'absent'
      }),
    accountIds: (after, limit) =>
      answer(() =>
        [...accounts.keys()]
          .sort()
          .filter((id) => id > after)
          .slice(0, limit),
      ),
    addAccount(accountId) {
      const money = { balance: nano(0), spent: nano(0), spentThisMonth: nano(0) }
      accounts.set(accountId, { ...accountState(accountId), ...money, month: 0, seq: 0, creditedEntryIds: [] })
    },
    setAccount(accountId, changes) {
      Object.assign(account(accountId), changes)
    },
    setKey(key) {
      const name = `${key.accountId}:${key.keyId}`
      keys.set(name, { ...NEW_KEY, ...keys.get(name), ...key })
    },
    setBudgets(accountId, scopes) {
      budgets.set(accountId, scopes)
    },
    addCredit(accountId, entryId, amount) {
      const owner = account(accountId)
      owner.balance = nano(owner.balance + amount)
      owner.creditedEntryIds.push(entryId)
    },
    setBusy(accountId, isBusy) {
      if (isBusy) busy.add(accountId)
      else busy.delete(accountId)
    },
    write,
    async flush(redis, accountIds, options) {
      for (const shard of new Set(accountIds.map(shardOf))) {
        const entries = await redis.xrange(recordsName(shard), '-', '+')
        const own = entries.flatMap(([id, fields]) => {
          const record = parseUsageRecord(fields)
          return record && accounts.has(record.accountId) ? [{ id, record }] : []
        })
        write(own.map(({ record }) => record))
        if (options?.crash || own.length === 0) continue
        await redis.xdel(recordsName(shard), ...own.map(({ id }) => id))
      }
    },
    records: (accountId) => [...records.values()].filter((record) => record.accountId === accountId),
    reads: () => readCount,
    setDown(down) {
      isDown = down
    },
  }
}

const NEW_KEY = {
  status: 'active',
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrency: null,
  monthlyBudget: null,
  expiresAtMs: null,
  ownerId: null,
  ...EVERYTHING,
  spentThisMonth: nano(0),
  month: 0,
} satisfies Omit<KeySnapshot, 'accountId' | 'keyId'>

/** The state of an account that has no limits of its own. */
export function accountState(accountId: string, changes: Partial<AccountState> = {}): AccountState {
  const limits = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null }
  return { accountId, status: 'active', ...limits, ...changes }
}

/** The state of a key that has no limits of its own. */
export function keyState(payer: { accountId: string; keyId: string }, changes: Partial<KeyState> = {}): KeyState {
  const { spentThisMonth: _spent, month: _month, ...limits } = NEW_KEY
  return { ...limits, ...payer, ...changes }
}

function isIn({ scope, scopeId }: MemoryBudget, { keyId, memberId }: UsageRecord): boolean {
  return scope === 'account' || (scope === 'key' ? keyId : memberId) === scopeId
}

function count(counter: { month: number; spentThisMonth: number }, record: UsageRecord): void {
  const date = new Date(record.atMs)
  const month = date.getUTCFullYear() * 100 + date.getUTCMonth() + 1
  if (month > counter.month) Object.assign(counter, { month, spentThisMonth: record.cost })
  else if (month === counter.month) counter.spentThisMonth += record.cost
}
