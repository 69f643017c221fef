/** Usage filters as SQL conditions on an account's records. */
import type { PendingQuery, Row, Sql } from 'postgres'
import { ofPerson } from '@/db/usage-sums/own-requests'
import { type BillingRule, CLIENT_CLOSED_STATUS, FIRST_FAILED_STATUS, type RecordFlag } from '@/ledger/usage-record'

export type Fragment = PendingQuery<Row[]>

/** `ok`: below 400; `error`: from 400 on, except for disconnected clients (499); `not_ok`: both of these; a number: that HTTP status. */
export type StatusFilter = 'ok' | 'error' | 'not_ok' | number

/** The usage that a viewer may see: a whole account's, or one person's requests in it. Never content. */
export type Sight = { accountId: string; madeBy?: string }

/** Undefined fields match everything. */
export type UsageFilter = Sight & {
  /** Milliseconds since 1970; `toMs` is exclusive. */
  fromMs: number
  toMs: number
  keyId?: string
  /** The model that answered, and the requested model or tier. */
  model?: string
  requestedModel?: string
  status?: StatusFilter
  flag?: RecordFlag
  rule?: BillingRule
  /** The member who made the request, a tag as `name=value`, and the calling app. */
  memberId?: string
  tag?: string
  app?: string
  cost?: number
}

/** Whether the daily sums, kept by key and answering model, can answer the filter alone. */
export function isRolledUp(filter: UsageFilter): boolean {
  const { requestedModel, status, flag, rule, memberId, tag, app, cost } = filter
  return [requestedModel, status, flag, rule, memberId, tag, app, cost].every((part) => part === undefined)
}

/** Whether the daily sums, kept by key, model and member, help to find matching records. */
export function isByCell({ madeBy, keyId, model }: UsageFilter): boolean {
  return madeBy !== undefined || keyId !== undefined || model !== undefined
}

/** Whether all matches are exceptions (failed or unusual records). Exceptions have their own index. */
export function isNoteworthy({ status, flag, rule }: UsageFilter): boolean {
  const isBad =
    status === 'error' || status === 'not_ok' || (typeof status === 'number' && status >= FIRST_FAILED_STATUS)
  return isBad || flag !== undefined || (rule !== undefined && rule !== 'usage')
}

/** The condition of the index of exceptions, word for word, so that the planner recognises it. */
export function noteworthyCondition(sql: Sql): Fragment {
  return sql`(status >= 400 OR rule <> 'usage' OR flags <> '{}')`
}

/** Account and time: ` account_id = … AND settled_at … `. */
export function rangeCondition(sql: Sql, { accountId, fromMs, toMs }: UsageFilter): Fragment {
  const [from, to] = [fromMs, toMs].map((atMs) => new Date(atMs).toISOString())
  return sql`account_id = ${accountId} AND settled_at >= ${from ?? ''}::text::timestamptz
    AND settled_at < ${to ?? ''}::text::timestamptz`
}

/** All conditions of the filter except account and time: ` true AND … `. */
export function matchCondition(sql: Sql, filter: UsageFilter): Fragment {
  return sql`${keyAndModelCondition(sql, filter)} AND ${detailCondition(sql, filter)}`
}

/** The condition on key, model and person, for records and for daily sums: ` true AND … `. */
export function keyAndModelCondition(sql: Sql, filter: UsageFilter): Fragment {
  const { keyId, model } = filter
  return sql`true ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`} ${madeByCondition(sql, filter)}
    ${model === undefined ? sql`` : sql`AND model = ${model}`}`
}

/** The condition for one person's own requests, for records and daily sums: ` AND … `. It names their keys, which have an index. */
export function madeByCondition(sql: Sql, { accountId, madeBy }: Sight): Fragment {
  return madeBy === undefined ? sql`` : ofPerson(sql, accountId, madeBy)
}

/** Conditions on columns that neither the daily sums nor an index have: ` true AND … `. */
export function detailCondition(sql: Sql, filter: UsageFilter): Fragment {
  const { requestedModel, flag, rule, memberId, tag, app, cost } = filter
  return sql`true ${requestedModel === undefined ? sql`` : sql`AND requested_model = ${requestedModel}`}
    ${flag === undefined ? sql`` : sql`AND ${flag} = ANY(flags)`}
    ${rule === undefined ? sql`` : sql`AND rule = ${rule}`}
    ${memberId === undefined ? sql`` : sql`AND member_id = ${memberId}`}
    ${tag === undefined ? sql`` : sql`AND ${tag} = ANY(tags)`} ${app === undefined ? sql`` : sql`AND app = ${app}`}
    ${cost === undefined ? sql`` : sql`AND cost_nano = ${cost}::text::bigint`}
    ${statusCondition(sql, filter.status)}`
}

function statusCondition(sql: Sql, status: StatusFilter | undefined): Fragment {
  if (status === undefined) return sql``
  if (status === 'ok') return sql`AND status < ${FIRST_FAILED_STATUS}`
  if (status === 'not_ok') return sql`AND status >= ${FIRST_FAILED_STATUS}`
  return status === 'error' ? sql`AND ${errorCondition(sql)}` : sql`AND status = ${status}`
}

/** The condition of {@link isErrorStatus} for a row: ` status … `. */
export function errorCondition(sql: Sql): Fragment {
  return sql`(status >= ${FIRST_FAILED_STATUS} AND status <> ${CLIENT_CLOSED_STATUS})`
}
