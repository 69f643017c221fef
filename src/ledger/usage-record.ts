/** The immutable usage record: settling or expiring a hold appends one, and Postgres charges nothing else. */
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import type { FinishKind } from '@/chat/response'
import { BILLABLES, UNITS, VARIANT_PATTERN } from '@/chat/units'
import type { Usage } from '@/chat/usage'
import { parseHolder } from '@/ledger/store/names'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { MAX_NANO, type Nano, nano } from '@/lib/money'
import { listText, readFacts } from './facts-list'

/** The rules of the billing matrix, one of which decides each charge (docs/BILLING.md has one row per rule). */
export const BILLING_RULES = [
  'usage', // complete answer, the provider's own usage
  'counted', // complete answer without usage: counted locally
  'cut_usage', // stopped far beyond its output limit: the provider's last usage
  'cut_counted', // likewise, counted locally
  'broken_usage', // broken after its first byte: the provider's last usage
  'broken_counted', // likewise, counted locally
  'disconnect_usage', // the client disconnected: the provider's last usage, or the final one if we read to the end
  'disconnect_counted', // likewise, counted locally
  'hangup_free', // the client disconnected before the first byte: one of the few free disconnects
  'hangup_input', // likewise, after the free ones: the input, counted locally
  'expired', // the gateway died: the cost at the last renewal
  'unreadable', // the record's details were lost: the amount that the ledger had charged
] as const
export type BillingRule = (typeof BILLING_RULES)[number]

/** The unofficial HTTP status for a client that disconnected; only ever recorded. */
export const CLIENT_CLOSED_STATUS = 499
export const FIRST_FAILED_STATUS = 400

/** Whether a request counts as an error: it failed, and not because its client disconnected. */
export function isErrorStatus(status: number): boolean {
  return status >= FIRST_FAILED_STATUS && status !== CLIENT_CLOSED_STATUS
}

/** `forced`: charged although Redis had lost the hold. */
export const RECORD_FLAGS = ['estimated', 'clamped', 'overrun', 'late', 'expired', 'forced'] as const
export type RecordFlag = (typeof RECORD_FLAGS)[number]

/** Uses of one tool that ran at the provider, and their total cost. */
export type ToolCharge = { name: string; uses: number; cost: Nano }

/** The cost of all tools together. */
export function toolsCost(tools: readonly ToolCharge[]): Nano {
  return nano(tools.reduce((sum, { cost }) => sum + cost, 0))
}

/** How a provider's count differs from ours: more than twice ours, less than half, or `clamped` (more than we charge). */
export const COUNT_GAPS = ['input_over', 'input_under', 'output_over', 'output_under', 'clamped'] as const
export type CountGap = (typeof COUNT_GAPS)[number]

/** Both counts if they differ; the local ones are estimated from the text. */
export type DifferingCounts = {
  gaps: CountGap[]
  providerInput: number
  providerOutput: number
  localInput: number
  localOutput: number
}

/** Labels as the caller sent them; undefined if not sent. */
export type RequestLabels = {
  /** `name=value`, sorted, each name once. */
  tags?: string[]
  /** The app's title, or its origin. */
  app?: string
  /** A keyed hash of the end user named in the body. */
  endUser?: string
}

/** The gateway's part of a usage record. The ledger and its scripts store it as opaque text. */
export type RequestFacts = {
  requestId: string
  /** The catalogue model that answered, and the requested model or tier. */
  model: string
  requestedModel: string
  provider: string
  upstreamModel: string
  clientFormat: FormatName
  providerFormat: FormatName
  usage: Usage
  rule: BillingRule
  flags: RecordFlag[]
  /** The service tier whose prices were charged. Missing for the standard tier. */
  serviceTier?: string | undefined
  tools?: ToolCharge[]
  stream: boolean
  /** HTTP status sent to the client; 499 if it disconnected first. */
  status: number
  attempts: number
  /** Why this model was chosen; undefined if none was. */
  routeReason?: string
  startedAtMs: number
  idempotencyKey?: string | undefined
  labels?: RequestLabels | undefined
  /** Milliseconds from arrival to the first content and to the end; null if there was none. */
  firstTokenMs: number | null
  durationMs: number
  /** The id of the client's answer; undefined if derived from the request's id, or unknown. */
  answerId?: string | undefined
  /** Only if rules restrict where content may go: the rules, and the target's terms in the catalogue at that time. */
  data?: { rules: string[]; terms: string } | undefined
  finish?: FinishKind | undefined
  /** The following five are for operators only. The provider's cost; undefined if unknown. */
  providerCost?: Nano
  /** Calls for the same request that lost against a faster one, and their known cost, which is part of `providerCost`. */
  outrun?: { calls: number; cost: Nano }
  counts?: DifferingCounts
  /** The provider counted tokens of a kind that has no price here. */
  hasUnpricedUsage?: true
  isReclassified?: true
}

const ENVELOPE_WORDS = 8
const RECORD_KINDS = ['settle', 'expire', 'late'] as const
/** The last millisecond of the year 9999, the maximum for dates and for the months in Postgres. */
export const LATEST_MS = 253_402_300_799_999

/** One entry of a shard's stream: the facts, and all other fields as the envelope. In the stream they are one text. */
export type UsageRecord = {
  /** The hold id; for a late correction the hold id + `:late`. Unique, so that Postgres can ignore duplicates. */
  recordId: string
  holdId: string
  accountId: string
  keyId: string
  kind: (typeof RECORD_KINDS)[number]
  /** The amount added to the account's charges; for a late correction the difference, which may be negative. */
  cost: Nano
  held: Nano
  seq: number
  /** The time of the charge by the clock of Redis, in milliseconds since 1970. */
  atMs: number
  flags: RecordFlag[]
  /** The acting member: the owner of the key when the hold was made, or the user of a key without an owner. Undefined if there is none. */
  memberId?: string | undefined
  facts: RequestFacts
}

/** A record without the facts: everything about money. */
export type RecordEnvelope = Omit<UsageRecord, 'facts'>

/** Parses a stream entry; `fields` alternates names and values. Undefined if invalid: it must never be charged in Postgres. */
export function parseUsageRecord(fields: readonly string[]): UsageRecord | undefined {
  const words = envelopeWords(fields)
  const envelope = envelopeOf(words)
  const facts = envelope && parseFacts(String(fields[1]).slice(words.join(' ').length + 1), envelope)
  return facts ? Object.assign(envelope, { facts }) : undefined
}

/** Parses a stream entry without its facts, so that its money still counts if the facts are broken. */
export function parseRecordEnvelope(fields: readonly string[]): RecordEnvelope | undefined {
  return envelopeOf(envelopeWords(fields))
}

/** The fields of the envelope, which come before the facts; empty if the entry has another form. */
function envelopeWords([name, text = '']: readonly string[]): string[] {
  const words = name === 'r' ? text.split(' ', ENVELOPE_WORDS) : []
  return words.length === ENVELOPE_WORDS ? words : []
}

function envelopeOf(words: readonly string[]): RecordEnvelope | undefined {
  const [holdId = '', holder = '', kindWord, costText = '', heldText = '', seqText = '', atText = ''] = words
  const kind = RECORD_KINDS.find((name) => name === kindWord)
  const payer = parseHolder(holder)
  const cost = integer(costText, -MAX_NANO, MAX_NANO)
  const held = integer(heldText, 0, MAX_NANO)
  const seq = integer(seqText, 1, Number.MAX_SAFE_INTEGER)
  const atMs = integer(atText, 0, LATEST_MS)
  const flags = words[7] === '' ? [] : parseFlags(words[7]?.split(',') ?? [])
  const recordId = kind === 'late' ? `${holdId}:late` : holdId
  if (!kind || !payer || !flags || holdId === '') return undefined
  if (cost === undefined || held === undefined || seq === undefined || atMs === undefined) return undefined
  return { recordId, holdId, ...payer, kind, cost: nano(cost), held: nano(held), seq, atMs, flags }
}

/** Parses facts. Undefined if any field is missing or has the wrong type. */
function parseFacts(text: string, envelope: RecordEnvelope): RequestFacts | undefined {
  const value = readFacts(text, envelope.holdId)
  if (!value || !areFacts(value)) return undefined
  if (value.rule !== 'hangup_input' && value.rule !== 'hangup_free') return value as unknown as RequestFacts
  // Facts are written before the script decides whether the disconnect is free.
  const isFree = envelope.kind === 'settle' && envelope.cost === 0
  return { ...value, rule: isFree ? 'hangup_free' : 'hangup_input' } as unknown as RequestFacts
}

/** Whether all required fields of facts exist, and all fields have their type. */
export function areFacts(value: JsonObject): boolean {
  if (!isJsonObject(value.usage)) return false
  const hasTexts = ['requestId', 'model', 'requestedModel', 'provider', 'upstreamModel'].every(
    (name) => typeof value[name] === 'string',
  )
  const hasNumbers = ['status', 'attempts', 'startedAtMs', 'durationMs'].every((name) => Number.isFinite(value[name]))
  const hasFormats = [value.clientFormat, value.providerFormat].every((name) =>
    FORMAT_NAMES.some((one) => one === name),
  )
  return (
    hasTexts &&
    hasNumbers &&
    hasFormats &&
    hasUsage(value.usage) &&
    BILLING_RULES.some((rule) => rule === value.rule) &&
    Array.isArray(value.flags) &&
    parseFlags(value.flags) !== undefined &&
    typeof value.stream === 'boolean' &&
    hasTools(value.tools) &&
    (value.routeReason === undefined || typeof value.routeReason === 'string') &&
    (value.idempotencyKey === undefined || DIGEST.test(String(value.idempotencyKey))) &&
    (value.labels === undefined || areLabels(value.labels)) &&
    (value.data === undefined || isHeldData(value.data)) &&
    [value.answerId, value.finish, value.serviceTier].every((word) => word === undefined || typeof word === 'string') &&
    (value.firstTokenMs === null || Number.isFinite(value.firstTokenMs)) &&
    (value.providerCost === undefined || isCount(value.providerCost)) &&
    (value.outrun === undefined || isOutrun(value.outrun)) &&
    (value.counts === undefined || areCounts(value.counts))
  )
}

/** A hold's facts as text for the scripts. Asserts valid numbers and countable tokens: Postgres would refuse the record. */
export function factsText(facts: RequestFacts, holdId: string): string {
  const { status, attempts, startedAtMs, durationMs, firstTokenMs, usage } = facts
  const isSound =
    hasUsage(usage) &&
    [status, attempts, startedAtMs, durationMs].every(Number.isFinite) &&
    (firstTokenMs === null || Number.isFinite(firstTokenMs))
  assert(isSound, 'facts with a number that is none')
  return listText(facts, holdId)
}

const TOKEN_CLASSES = [
  'uncached',
  'cacheRead',
  'cacheWrite5m',
  'cacheWrite1h',
  'output',
  'reasoning',
] satisfies (keyof Usage)[]

const DIGEST = /^[0-9a-f]{64}$/
const TOOL_NAME = /^[a-z_]{1,64}$/

function hasTools(tools: JsonValue | undefined): boolean {
  if (tools === undefined) return true
  const isTool = (tool: JsonValue) =>
    isJsonObject(tool) && TOOL_NAME.test(String(tool.name)) && isCount(tool.uses) && isCount(tool.cost)
  return Array.isArray(tools) && tools.every(isTool)
}

function hasUsage(usage: Usage | JsonObject): boolean {
  return TOKEN_CLASSES.every((name) => isCount(usage[name])) && (usage.units === undefined || areUnits(usage.units))
}

const VARIANT = new RegExp(VARIANT_PATTERN)

function areUnits(units: unknown): boolean {
  const isUnit = (one: unknown) =>
    isJsonObject(one) &&
    BILLABLES.some((name) => name === one.billable) &&
    UNITS.some((name) => name === one.unit) &&
    isCount(one.count) &&
    (one.variant === undefined || VARIANT.test(String(one.variant)))
  return Array.isArray(units) && units.every(isUnit)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isOutrun(outrun: JsonValue): boolean {
  return isJsonObject(outrun) && isCount(outrun.calls) && isCount(outrun.cost)
}

function areLabels(labels: JsonValue): boolean {
  if (!isJsonObject(labels)) return false
  const { tags = [], app = '', endUser = '' } = labels
  return Array.isArray(tags) && [...tags, app, endUser].every((text) => typeof text === 'string')
}

function isHeldData(data: JsonValue): boolean {
  return (
    isJsonObject(data) &&
    typeof data.terms === 'string' &&
    Array.isArray(data.rules) &&
    data.rules.every((rule) => typeof rule === 'string')
  )
}

const COUNTS = ['providerInput', 'providerOutput', 'localInput', 'localOutput'] satisfies (keyof DifferingCounts)[]

function areCounts(counts: unknown): boolean {
  if (!isJsonObject(counts) || !Array.isArray(counts.gaps)) return false
  return counts.gaps.every((gap) => typeof gap === 'string') && COUNTS.every((name) => isCount(counts[name]))
}

function parseFlags(values: readonly unknown[]): RecordFlag[] | undefined {
  if (values.length === 0) return []
  const flags = RECORD_FLAGS.filter((flag) => values.includes(flag))
  return values.every((value) => RECORD_FLAGS.some((flag) => flag === value)) ? flags : undefined
}

/** A plain integer between `least` and `most`, or undefined. */
function integer(text: string, least: number, most: number): number | undefined {
  const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) && value >= least && value <= most ? value : undefined
}
