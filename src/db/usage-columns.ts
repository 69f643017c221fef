/**
 * The columns of a usage record, one line each. The tables of live and of archived records, their writers, the hashes of archived months
 * and the account's views and exports are derived from this list. A new column is a line here and a migration of both tables.
 */
import { bigint, boolean, integer, jsonb, type PgColumnBuilderBase, text } from 'drizzle-orm/pg-core'
import type { UnitCount } from '@/chat/units'
import { type ChargeBasis, chargeBasis } from '@/ledger/charge-basis'
import {
  type BillingRule,
  type CountGap,
  LATEST_MS,
  type RecordFlag,
  type RequestFacts,
  type ToolCharge,
  type UsageRecord,
} from '@/ledger/usage-record'
import type { Nano } from '@/lib/money'
import { textArray } from './array-literal'
import { amount, moment, tokens } from './columns'

export type Cell = string | number | boolean | null | undefined

type Seen = {
  about: string
  /** The heading in the export; default: the column's name. */
  heading?: string
  /** The label on the page of one request, for columns that the page shows nowhere else. */
  label?: string
}

type WriteCell = (facts: RequestFacts, record: UsageRecord) => Cell

export type UsageColumn<Type extends PgColumnBuilderBase = PgColumnBuilderBase> = {
  type: Type
  cell: WriteCell
  seen?: Seen
}

function column<Type extends PgColumnBuilderBase>(type: Type, cell: WriteCell) {
  return { type, cell } satisfies UsageColumn<Type>
}

function seen<Type extends PgColumnBuilderBase>(
  about: string,
  type: Type,
  cell: WriteCell,
  words: Omit<Seen, 'about'> = {},
) {
  return { ...column(type, cell), seen: { about, ...words } } satisfies UsageColumn<Type>
}

const count = (name: string) => bigint(name, { mode: 'number' })

/** All columns, in the order in which the export has them. */
export const USAGE_COLUMNS = {
  settledAt: seen('When it was charged', moment('settled_at').notNull(), (_, r) => momentText(r.atMs), {
    heading: 'time_utc',
  }),
  requestId: seen('', text('request_id').notNull(), (f) => f.requestId),
  recordId: seen('', text('event_id').notNull(), (_, r) => r.recordId, { heading: 'record_id' }),
  kind: seen('`settle`, `expire` or `late`', text('kind').$type<UsageRecord['kind']>().notNull(), (_, r) => r.kind),
  keyId: seen('', text('key_id').notNull(), (_, r) => r.keyId),
  requestedModel: seen('What was asked for', text('requested_model').notNull(), (f) => f.requestedModel, {
    heading: 'model_requested',
  }),
  model: seen('The model that answered', text('model').notNull(), (f) => f.model),
  provider: seen('', text('provider').notNull(), (f) => f.provider),
  status: seen('499: the client left', integer('status').notNull(), (f) => toInt4(f.status), { label: 'HTTP status' }),
  stream: seen('', boolean('stream').notNull(), (f) => f.stream),
  attempts: seen('The answering one included', integer('attempts').notNull(), (f) => toInt4(f.attempts), {
    label: 'Attempts',
  }),
  rule: seen('The billing rule', text('rule').$type<BillingRule>().notNull(), (f) => f.rule, {
    heading: 'billing_rule',
  }),
  flags: seen('', text('flags').array().$type<RecordFlag[]>().notNull(), (_, r) => textArray(allFlags(r))),
  uncachedTokens: seen('Input that no cache had', tokens('uncached_tokens').notNull(), (f) => f.usage.uncached, {
    heading: 'input_tokens',
  }),
  cacheReadTokens: seen('Input from a cache', tokens('cache_read_tokens').notNull(), (f) => f.usage.cacheRead),
  cacheWrite5mTokens: seen(
    'Input cached for 5 minutes',
    tokens('cache_write_5m_tokens').notNull(),
    (f) => f.usage.cacheWrite5m,
  ),
  cacheWrite1hTokens: seen(
    'Input cached for an hour',
    tokens('cache_write_1h_tokens').notNull(),
    (f) => f.usage.cacheWrite1h,
  ),
  outputTokens: seen('Reasoning included', tokens('output_tokens').notNull(), (f) => f.usage.output),
  reasoningTokens: seen('Part of the output', tokens('reasoning_tokens').notNull(), (f) => f.usage.reasoning),
  cost: seen('Below 0: given back', amount('cost_nano').notNull(), (_, r) => r.cost, { heading: 'cost_usd' }),
  held: seen('Reserved before the request', amount('held_nano').notNull(), (_, r) => r.held, {
    heading: 'held_usd',
    label: 'Reserved',
  }),
  firstTokenMs: seen(
    'From arrival to the first content',
    integer('first_token_ms'),
    (f) => f.firstTokenMs && toInt4(f.firstTokenMs),
    { label: 'First token after' },
  ),
  durationMs: seen('From arrival to the end', integer('duration_ms').notNull(), (f) => toInt4(f.durationMs), {
    label: 'Duration',
  }),
  serviceTier: seen(
    'The service tier by whose prices it was charged; null: the standard one',
    text('service_tier'),
    (f) => f.serviceTier,
    { label: 'Service tier' },
  ),
  routeReason: seen('Why this model answered', text('route_reason'), (f) => f.routeReason || null, { label: 'Route' }),
  upstreamModel: seen("The model's name at the provider", text('upstream_model').notNull(), (f) => f.upstreamModel),
  clientFormat: seen('', text('client_format').notNull(), (f) => f.clientFormat),
  providerFormat: seen('', text('provider_format').notNull(), (f) => f.providerFormat),
  startedAt: seen('', moment('started_at').notNull(), (f) => momentText(toMoment(f.startedAtMs)), { label: 'Began' }),
  memberId: seen('The member whose key it was', text('member_id'), (_, r) => r.memberId || null),
  tags: seen('`name=value`; null: none', text('tags').array(), (f) => f.labels?.tags?.[0] && textArray(f.labels.tags), {
    label: 'Tags',
  }),
  app: seen('The title or the origin of what called', text('app'), (f) => f.labels?.app, { label: 'App' }),
  endUser: seen('A hash of whom the body names', text('end_user'), (f) => f.labels?.endUser, {
    label: 'End user',
  }),
  dataRules: seen(
    'The rules of where content may go, and whose they were; null: none',
    text('data_rules').array(),
    (f) => f.data && textArray(f.data.rules),
    { label: 'Rules for content' },
  ),
  dataTerms: seen(
    'What was stated about content at the provider then; null: no rules',
    text('data_terms'),
    (f) => f.data?.terms,
    { label: 'Stated about content' },
  ),
  /** The id for `GET /v1/generation`. */
  answerId: column(text('answer_id'), (f) => f.answerId),
  finish: column(text('finish'), (f) => f.finish),
  seq: column(count('seq').notNull(), (_, r) => r.seq),
  holdId: column(text('hold_id').notNull(), (_, r) => r.holdId),
  accountId: column(text('account_id').notNull(), (_, r) => r.accountId),
  /** The part of the cost for provider-run tools; null if there is none. */
  toolCharges: column(jsonb('tool_charges').$type<ToolCharge[]>(), (f) => f.tools && JSON.stringify(f.tools)),
  /** Counts of sound and picture tokens, and of other units; null in most records. */
  units: column(jsonb('units').$type<UnitCount[]>(), (f) => f.usage.units && JSON.stringify(f.usage.units)),
  /** The provider's cost; null = unknown. This and the following columns are for operators only. */
  providerCost: column(count('provider_cost_nano'), (_, r) => providerCostOf(r)),
  chargeBasis: column(text('charge_basis').$type<ChargeBasis>(), (_, r) => chargeBasis(r)),
  countGaps: column(
    text('count_gaps').array().$type<CountGap[]>(),
    (f) => f.counts?.gaps[0] && textArray(f.counts.gaps),
  ),
  providerInputTokens: column(count('provider_input_tokens'), (f) => f.counts?.providerInput),
  providerOutputTokens: column(count('provider_output_tokens'), (f) => f.counts?.providerOutput),
  localInputTokens: column(count('local_input_tokens'), (f) => f.counts?.localInput),
  localOutputTokens: column(count('local_output_tokens'), (f) => f.counts?.localOutput),
}

type Columns = typeof USAGE_COLUMNS
type SeenColumns = { [Name in keyof Columns as Columns[Name] extends { seen: Seen } ? Name : never]: Columns[Name] }
export type SeenName = keyof SeenColumns

export const usageColumnTypes = Object.fromEntries(
  Object.entries(USAGE_COLUMNS).map(([name, { type }]) => [name, type]),
) as { [Name in keyof Columns]: Columns[Name]['type'] }

/** The provider's cost of a record; null for a late correction, because the expired hold's record contains it. */
export function providerCostOf({ kind, facts }: UsageRecord): Nano | null {
  return kind === 'late' ? null : (facts.providerCost ?? null)
}

/** The flags of facts and record, without duplicates. */
function allFlags(record: UsageRecord): readonly string[] {
  const { flags, facts } = record
  return flags.length === 0 ? facts.flags : [...new Set([...facts.flags, ...flags])]
}

const MAX_INT4 = 2_147_483_647

/** Clamps a number that isn't money to its column's range: a wrong clock can't keep a record out of the database. */
function toInt4(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.min(MAX_INT4, Math.round(value))) : 0
}

/** A time within a date column's range, in milliseconds since 1970. */
export function toMoment(atMs: number): number {
  return Math.max(0, Math.min(LATEST_MS, Math.round(atMs)))
}

/** A batch's times lie within a second or two, so the text before the milliseconds is reused. */
let lastSecond = -1
let lastText = ''

function momentText(atMs: number): string {
  const second = Math.floor(atMs / 1_000)
  if (second !== lastSecond) {
    lastSecond = second
    lastText = new Date(second * 1_000).toISOString().slice(0, 19)
  }
  return `${lastText}.${String(atMs - second * 1_000).padStart(3, '0')}Z`
}
