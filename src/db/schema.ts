/** The tables, for typed queries. migrations/*.sql creates them, and a test compares the two. */

import { getTableColumns, sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  date,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import type { BudgetScope, BudgetWindow } from '@/ledger/budgets'
import type { AccountStatus, KeyStatus } from '@/ledger/outcomes'
import { nano } from '@/lib/money'
import { amount, moment, tokens } from './columns'
import { USAGE_COLUMNS, type UsageColumn, usageColumnTypes } from './usage-columns'

/** An organisation is an account that several people may share. */
export type AccountKind = 'personal' | 'organisation'

/** An organisation's legal data: country code (ISO 3166), and VAT id as written, if any. */
export type Company = { name: string; country: string; vatId: string | null }

export const accounts = pgTable(
  'accounts',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    email: text('email').notNull(),
    status: text('status').$type<AccountStatus>().notNull().default('active'),
    /** Limits of all keys together; null = the catalogue's limits. */
    requestsPerMinute: integer('requests_per_minute'),
    tokensPerMinute: bigint('tokens_per_minute', { mode: 'number' }),
    concurrency: integer('concurrency'),
    /** Hours for which answers are stored; 0 = not stored, null = the operator's maximum. */
    storedResponseHours: integer('stored_response_hours'),
    balance: amount('balance_nano').notNull().default(nano(0)),
    spent: amount('spent_nano').notNull().default(nano(0)),
    spentThisMonth: amount('spent_month_nano').notNull().default(nano(0)),
    spentMonth: integer('spent_month').notNull().default(197001),
    ledgerSeq: bigint('ledger_seq', { mode: 'number' }).notNull().default(0),
    createdAt: moment('created_at').notNull().defaultNow(),
    kind: text('kind').$type<AccountKind>().notNull().default('personal'),
    allowedAddresses: text('allowed_addresses').array(),
    /** Models that its keys may call; null = all. */
    allowedModels: text('allowed_models').array(),
    allowedProviders: text('allowed_providers').array(),
    zeroRetention: boolean('zero_retention').notNull().default(false),
    noTraining: boolean('no_training').notNull().default(false),
    regions: text('regions').array(),
    /** Days after which a key's secret expires; null = never. */
    maxKeyAgeDays: integer('max_key_age_days'),
    settings: jsonb('settings').$type<Record<string, boolean>>().notNull().default({}),
    company: jsonb('company').$type<Company>(),
  },
  (table) => [
    uniqueIndex('accounts_email_key').on(sql`lower(${table.email})`).where(sql`kind = 'personal'`),
    index('accounts_email_index').on(sql`lower(${table.email})`),
    index('accounts_key_age_index').on(table.id).where(sql`max_key_age_days IS NOT NULL`),
  ],
)

export type BuiltInKey = 'playground'

export const apiKeys = pgTable(
  'api_keys',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id').notNull(),
    name: text('name').notNull(),
    keyHash: text('key_hash').notNull().unique(),
    prefix: text('prefix').notNull(),
    lastFour: text('last_four').notNull(),
    status: text('status').$type<KeyStatus>().notNull().default('active'),
    requestsPerMinute: integer('requests_per_minute'),
    tokensPerMinute: bigint('tokens_per_minute', { mode: 'number' }),
    concurrency: integer('concurrency'),
    monthlyBudget: amount('monthly_budget_nano'),
    expiresAt: moment('expires_at'),
    /** null = all models. */
    allowedModels: text('allowed_models').array(),
    allowedProviders: text('allowed_providers').array(),
    zeroRetention: boolean('zero_retention').notNull().default(false),
    noTraining: boolean('no_training').notNull().default(false),
    regions: text('regions').array(),
    /** Networks from which the key may be used, if the account also allows them; null = all that the account allows. */
    allowedAddresses: text('allowed_addresses').array(),
    /** The purpose of a key that the service made; null for a key made by a person. */
    builtIn: text('built_in').$type<BuiltInKey>(),
    spentThisMonth: amount('spent_month_nano').notNull().default(nano(0)),
    spentMonth: integer('spent_month').notNull().default(197001),
    lastUsedAt: moment('last_used_at'),
    createdAt: moment('created_at').notNull().defaultNow(),
    deletedAt: moment('deleted_at'),
    /** The key's member; null for the account's own keys. */
    createdBy: text('created_by'),
    /** `name=value` tags of all its usage; null = none. */
    tags: text('tags').array(),
    /** Number of the current secret, and the time until which the former one works; null for a key that was never rotated. */
    secretOrdinal: integer('secret_ordinal').notNull().default(1),
    formerSecretEndsAt: moment('former_secret_ends_at'),
    /** When its secret was last rotated; null = never. */
    secretSince: moment('secret_since'),
  },
  (table) => [
    index('api_keys_account_index').on(table.accountId, table.createdAt.desc()),
    index('api_keys_creator_index').on(table.createdBy).where(sql`created_by IS NOT NULL`),
    index('api_keys_expiry_index').on(table.expiresAt).where(sql`expires_at IS NOT NULL AND status = 'active'`),
    uniqueIndex('api_keys_built_in_key').on(table.accountId, table.builtIn).where(sql`built_in IS NOT NULL`),
  ],
)

export const keySecrets = pgTable(
  'key_secrets',
  {
    keyHash: text('key_hash').primaryKey(),
    keyId: text('key_id').notNull(),
    ordinal: integer('ordinal').notNull(),
    lastFour: text('last_four').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    endsAt: moment('ends_at').notNull(),
    lastUsedAt: moment('last_used_at'),
  },
  (table) => [unique('key_secrets_key_id_ordinal_key').on(table.keyId, table.ordinal)],
)

export type LedgerEntryKind = 'credit' | 'correction' | 'transfer'

export const ledgerEntries = pgTable(
  'ledger_entries',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id').notNull(),
    kind: text('kind').$type<LedgerEntryKind>().notNull(),
    amount: amount('amount_nano').notNull(),
    reference: text('reference').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    unique('ledger_entries_account_id_reference_key').on(table.accountId, table.reference),
    index('ledger_entries_account_index').on(table.accountId, table.createdAt.desc()),
    index('ledger_entries_reference_index').on(table.reference),
  ],
)

export const creditOutbox = pgTable('credit_outbox', {
  entryId: text('entry_id').primaryKey(),
  accountId: text('account_id').notNull(),
  amount: amount('amount_nano').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  appliedAt: moment('applied_at'),
  confirmedAt: moment('confirmed_at'),
  /** The entry that the ledger must apply before this one. */
  afterEntryId: text('after_entry_id'),
})

export const usageRecords = pgTable('usage_records', usageColumnTypes, (table) => [
  primaryKey({ columns: [table.recordId, table.settledAt] }),
  index('usage_records_account_index').on(table.accountId, table.settledAt.desc()),
  index('usage_records_cell_index').on(table.accountId, table.keyId, table.model, table.settledAt.desc()),
  index('usage_records_noteworthy_index')
    .on(table.accountId, table.settledAt.desc())
    .where(sql`${table.status} >= 400 OR ${table.rule} <> 'usage' OR ${table.flags} <> '{}'`),
  index('usage_records_answer_index').using('hash', table.answerId),
  index('usage_records_gaps_index').on(table.settledAt.desc()).where(sql`${table.countGaps} IS NOT NULL`),
])

export const usageColumns = Object.entries(getTableColumns(usageRecords)).map(([property, column]) => {
  const definition: UsageColumn = USAGE_COLUMNS[property as keyof typeof USAGE_COLUMNS]
  return { ...definition, property, name: column.name, type: column.getSQLType(), isNullable: !column.notNull }
})

const ofDay = {
  accountId: text('account_id').notNull(),
  day: date('day').notNull(),
}

export const usageDaily = pgTable(
  'usage_daily',
  {
    ...ofDay,
    keyId: text('key_id').notNull(),
    model: text('model').notNull(),
    requests: bigint('requests', { mode: 'number' }).notNull(),
    errors: bigint('errors', { mode: 'number' }).notNull(),
    uncachedTokens: tokens('uncached_tokens').notNull(),
    cacheReadTokens: tokens('cache_read_tokens').notNull(),
    cacheWrite5mTokens: tokens('cache_write_5m_tokens').notNull(),
    cacheWrite1hTokens: tokens('cache_write_1h_tokens').notNull(),
    outputTokens: tokens('output_tokens').notNull(),
    reasoningTokens: tokens('reasoning_tokens').notNull(),
    cost: amount('cost_nano').notNull(),
    /** Sums: divided by `requests` they give means; `firstTokenMs` is divided by `firstTokenCount`. */
    durationMs: bigint('duration_ms', { mode: 'number' }).notNull(),
    firstTokenMs: bigint('first_token_ms', { mode: 'number' }).notNull(),
    firstTokenCount: bigint('first_token_count', { mode: 'number' }).notNull(),
    /** Provider costs, and the part of `cost` for which they are known; both null if none is known. */
    providerCost: bigint('provider_cost_nano', { mode: 'number' }),
    costed: bigint('costed_nano', { mode: 'number' }),
    memberId: text('member_id').notNull().default(''),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.day, table.keyId, table.model, table.memberId] }),
    index('usage_daily_day_index').on(table.day),
  ],
)

export const usageDailyMembers = pgTable(
  'usage_daily_members',
  {
    ...ofDay,
    memberId: text('member_id').notNull(),
    requests: bigint('requests', { mode: 'number' }).notNull(),
    cost: amount('cost_nano').notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.memberId, table.day] })],
)

/** Sums by tags and day. `tags`: all tags of a request, `name=value,…`; '' for combinations beyond the day's 500. */
export const usageDailyTags = pgTable(
  'usage_daily_tags',
  {
    ...ofDay,
    tags: text('tags').notNull(),
    model: text('model').notNull(),
    requests: bigint('requests', { mode: 'number' }).notNull(),
    errors: bigint('errors', { mode: 'number' }).notNull(),
    inputTokens: tokens('input_tokens').notNull(),
    outputTokens: tokens('output_tokens').notNull(),
    cost: amount('cost_nano').notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.day, table.tags, table.model] })],
)

/** `new_member`: the budget that joining members get. */
export type StoredBudgetScope = BudgetScope | 'new_member'

export const budgets = pgTable(
  'budgets',
  {
    accountId: text('account_id').notNull(),
    scope: text('scope').$type<StoredBudgetScope>().notNull(),
    /** The id of the account, user or key. */
    scopeId: text('scope_id').notNull(),
    window: text('window').$type<BudgetWindow>().notNull(),
    limit: amount('limit_nano').notNull(),
    /** Added to the limit in one window; `grantAt` is that window's number. */
    grant: amount('grant_nano').notNull().default(nano(0)),
    grantAt: integer('grant_at').notNull().default(0),
    /** The user who set the budget; null: an operator. */
    setBy: text('set_by'),
    setAt: moment('set_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.scope, table.scopeId, table.window] }),
    index('budgets_set_by_index').on(table.setBy).where(sql`set_by IS NOT NULL`),
  ],
)

export const chargedIdempotencyKeys = pgTable(
  'charged_idempotency_keys',
  {
    accountId: text('account_id').notNull(),
    /** SHA-256 of the idempotency key, in hexadecimal. */
    keyDigest: text('key_digest').notNull(),
    requestId: text('request_id').notNull(),
    keyId: text('key_id').notNull(),
    chargedAt: moment('charged_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.keyDigest] }),
    index('charged_idempotency_keys_time_index').on(table.chargedAt),
  ],
)

export const deadLetters = pgTable(
  'dead_letters',
  {
    stream: text('stream').notNull(),
    entryId: text('entry_id').notNull(),
    recordId: text('event_id'),
    accountId: text('account_id'),
    payload: text('payload').notNull(),
    error: text('error').notNull(),
    /** Whether usage_records has the charge, although the entry's details could not be read. */
    isBooked: boolean('is_booked').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.stream, table.entryId] })],
)
