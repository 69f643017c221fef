import { textArray } from '@/db/array-literal'
import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import { apiKeys } from '@/db/schema'
import { addressListsOf } from '@/ledger/address-lists'
import type { AccountBudgets } from '@/ledger/budgets'
import type { AccountSnapshot, AccountStatus, KeySnapshot, KeyStatus, LedgerHistory } from '@/ledger/outcomes'
import { createBatch } from '@/lib/batch'
import { nano } from '@/lib/money'
import { type KeyRules, rulesOf } from '@/people/keys/fields'
import { budgetsOf } from './budgets/budget-history'
import { effectiveLimits, type KeyPolicy } from './policies/effective-limits'

/** A paid request waits for this query, so a database that hangs must soon count as down. */
const HISTORY_TIMEOUT_MS = 3_000
/** After Redis was lost, every account is read at its next request: many in one statement, with at most `maxWaiting` waiting requests. */
const READINGS = { maxKeys: 500, maxQuestions: 2, maxWaiting: 10_000 }
/** After a loss of Redis data, the last settlements are looked up besides accounts: as many as src/gateway/hold/settler.ts remembers. */
const SETTLEMENTS = { maxKeys: 5_000, maxQuestions: 2, maxWaiting: 50_000 }

/** The rules in a row of an account, a membership or a key, as arguments of json_build_object. */
const RULES = Object.entries(rulesOf(apiKeys))
  .map(([name, column]) => `'${name}', ${column.name}`)
  .join(', ')

/**
 * Reads accounts and keys from `database`, each from one snapshot, as the ledger loads them. Rejects if it does not answer within {@link
 * HISTORY_TIMEOUT_MS}. **Which credits are inside `balance`:** exactly those of `creditedEntryIds`: all entries committed at the snapshot,
 * whether or not the outbox has sent them. Entry and balance change in one transaction and are read by one statement, so no credit is
 * missed or counted twice. The ids are joined instead of compared with an array: Postgres would compare an array with each row of a table
 * without statistics.
 */
export function createLedgerHistory(database: Database, timeoutMs = HISTORY_TIMEOUT_MS): LedgerHistory {
  const { sql } = database
  const bounded = <T>(work: Promise<T>) => withDatabaseDeadline(work, timeoutMs)
  const askAccount = createBatch<AccountSnapshot>({
    ...READINGS,
    async answer(accountIds) {
      const rows = await bounded(sql<AccountRow[]>`
        SELECT id, status, requests_per_minute, tokens_per_minute, concurrency, balance_nano, spent_nano, spent_month_nano,
          spent_month, ledger_seq,
          to_json(ARRAY(SELECT id FROM ledger_entries e WHERE e.account_id = a.id ORDER BY created_at, id)) AS entry_ids,
          ${budgetsOf(sql)} AS budgets
        FROM unnest(${textArray(accountIds)}::text::text[]) AS asked (id) JOIN accounts a USING (id)`)
      return new Map(rows.map((row) => [row.id, toAccountSnapshot(row)]))
    },
  })
  const askKey = createBatch<KeySnapshot>({
    ...READINGS,
    async answer(keyIds) {
      const rows = await bounded(sql<KeyRow[]>`
        SELECT id, account_id, created_by, status, requests_per_minute, tokens_per_minute, concurrency, monthly_budget_nano,
          (extract(epoch FROM expires_at) * 1000)::bigint AS expires_at_ms, to_json(allowed_addresses) AS own_addresses,
          json_build_object(${sql.unsafe(RULES)}) AS own_rules,
          (SELECT json_build_object('addresses', allowed_addresses, 'maxKeyAgeDays', max_key_age_days, ${sql.unsafe(RULES)})
            FROM accounts WHERE id = k.account_id) AS of_account,
          (SELECT json_build_object(${sql.unsafe(RULES)})
            FROM memberships m WHERE m.account_id = k.account_id AND m.user_id = k.created_by) AS of_member,
          (extract(epoch FROM created_at) * 1000)::bigint AS created_at_ms, built_in IS NOT NULL AS is_built_in,
          (extract(epoch FROM secret_since) * 1000)::bigint AS secret_since_ms,
          secret_ordinal, (extract(epoch FROM former_secret_ends_at) * 1000)::bigint AS former_ends_at_ms,
          spent_month_nano, spent_month
        FROM unnest(${textArray(keyIds)}::text::text[]) AS asked (id) JOIN api_keys k USING (id)`)
      return new Map(rows.map((row) => [row.id, toKeySnapshot(row)]))
    },
  })
  const askSettled = createBatch<string>({
    ...SETTLEMENTS,
    async answer(holdIds) {
      const rows = await bounded(
        sql<{ hold_id: string }[]>`
          WITH asked AS (SELECT unnest(${textArray(holdIds)}::text::text[]) AS event_id)
          SELECT hold_id FROM asked JOIN usage_records USING (event_id) WHERE kind = 'settle'
          UNION SELECT hold_id FROM asked JOIN archived_usage_records USING (event_id) WHERE kind = 'settle'`,
      )
      return new Map(rows.map((row) => [row.hold_id, row.hold_id]))
    },
  })
  return {
    account: (accountId) => bounded(askAccount(accountId)),
    async accounts(accountIds) {
      const found = await bounded(Promise.all(accountIds.map(askAccount)))
      return found.filter((account) => account !== undefined)
    },
    async key(accountId, keyId) {
      const key = await bounded(askKey(keyId))
      return key?.accountId === accountId ? key : undefined
    },
    async knownRecordIds(recordIds) {
      const rows = await bounded(
        sql<{ event_id: string }[]>`
          WITH asked AS (SELECT unnest(${textArray(recordIds)}::text::text[]) AS event_id)
          SELECT event_id FROM asked JOIN usage_records USING (event_id)
          UNION SELECT event_id FROM asked JOIN archived_usage_records USING (event_id)`,
      )
      return rows.map((row) => row.event_id)
    },
    async settledHoldIds(holdIds) {
      const found = await bounded(Promise.all(holdIds.map(askSettled)))
      return found.filter((holdId) => holdId !== undefined)
    },
    async entryState(accountId, entryId) {
      // The writer of an entry locks the account's row until the commit.
      const free = await bounded(sql`SELECT FROM accounts WHERE id = ${accountId} FOR SHARE SKIP LOCKED`)
      if (free.length === 0) return 'undecided'
      const rows = await bounded(sql`SELECT FROM ledger_entries WHERE id = ${entryId} AND account_id = ${accountId}`)
      return rows.length > 0 ? 'recorded' : 'absent'
    },
    async accountIds(afterId, limit) {
      const rows = await bounded(
        sql<{ id: string }[]>`SELECT id FROM accounts WHERE id > ${afterId} ORDER BY id LIMIT ${limit}`,
      )
      return rows.map((row) => row.id)
    },
  }
}

type AccountRow = {
  id: string
  status: AccountStatus
  requests_per_minute: number | null
  tokens_per_minute: number | null
  concurrency: number | null
  balance_nano: number
  spent_nano: number
  spent_month_nano: number
  spent_month: number
  ledger_seq: number
  entry_ids: string[]
  budgets: AccountBudgets | null
}

type KeyRow = {
  id: string
  account_id: string
  created_by: string | null
  status: KeyStatus
  requests_per_minute: number | null
  tokens_per_minute: number | null
  concurrency: number | null
  monthly_budget_nano: number | null
  expires_at_ms: number | null
  own_addresses: string[] | null
  own_rules: KeyRules
  of_account: KeyPolicy & { addresses: string[] | null }
  of_member: KeyRules | null
  created_at_ms: number
  is_built_in: boolean
  secret_since_ms: number | null
  secret_ordinal: number
  former_ends_at_ms: number | null
  spent_month_nano: number
  spent_month: number
}

function toAccountSnapshot(row: AccountRow): AccountSnapshot {
  return {
    accountId: row.id,
    status: row.status,
    requestsPerMinute: row.requests_per_minute,
    tokensPerMinute: row.tokens_per_minute,
    concurrency: row.concurrency,
    balance: nano(row.balance_nano),
    spent: nano(row.spent_nano),
    spentThisMonth: nano(row.spent_month_nano),
    month: row.spent_month,
    seq: row.ledger_seq,
    creditedEntryIds: row.entry_ids,
    ...(row.budgets && { budgets: row.budgets }),
  }
}

function toKeySnapshot(row: KeyRow): KeySnapshot {
  const own = { ...row.own_rules, expiresAtMs: row.expires_at_ms }
  const age = { createdAtMs: row.created_at_ms, secretSinceMs: row.secret_since_ms, isBuiltIn: row.is_built_in }
  return {
    ...effectiveLimits(own, row.of_account, row.of_member, age),
    accountId: row.account_id,
    keyId: row.id,
    ownerId: row.created_by,
    status: row.status,
    requestsPerMinute: row.requests_per_minute,
    tokensPerMinute: row.tokens_per_minute,
    concurrency: row.concurrency,
    monthlyBudget: row.monthly_budget_nano === null ? null : nano(row.monthly_budget_nano),
    addresses: addressListsOf(row.of_account.addresses, row.own_addresses),
    secrets:
      row.former_ends_at_ms === null
        ? undefined
        : { latest: row.secret_ordinal, formerEndsAtMs: row.former_ends_at_ms },
    spentThisMonth: nano(row.spent_month_nano),
    month: row.spent_month,
  }
}
