/**
 * The allow-list of what a caller's body may hold: each format has a table of fields, with the reason why each is passed on
 * or refused; what no table knows is left out. docs/decisions/0008-unlisted-fields-are-left-out.md says why.
 */
import type { FormatName } from '@/chat/format-name'
import type { ChatRequest, UnpricedField } from '@/chat/request'
import type { JsonObject, JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import type { TargetTraits } from './format'

/**
 * `hub` the hub has a word for it, and what it costs is reckoned there. `passed` it costs nothing beyond tokens that the answer's
 * usage states. `values` so it is with these values, and with no other. `unpriced` it may cost what no usage states, or read
 * what the gateway can't see; `code` tells clients that know what to do then.
 */
type FieldRule =
  | { kind: 'hub' }
  | { kind: 'passed'; because: string }
  | { kind: 'values'; values: ReadonlySet<JsonValue>; because: string }
  | { kind: 'unpriced'; because: string; code?: string }

export type FieldTable = ReadonlyMap<string, FieldRule>

type Listed = {
  hub: readonly string[]
  /** By the reason. */
  passed: Record<string, readonly string[]>
  values?: Record<string, { values: readonly JsonValue[]; because: string }>
  /** By the reason. */
  unpriced: Record<string, readonly string[]>
  codes?: Record<string, string>
}

/** The table of a list. */
export function fieldTable({ hub, passed, values = {}, unpriced, codes = {} }: Listed): FieldTable {
  const codeOf = new Map(Object.entries(codes))
  const table = new Map<string, FieldRule>()
  for (const field of hub) table.set(field, { kind: 'hub' })
  for (const [because, fields] of Object.entries(passed)) {
    for (const field of fields) table.set(field, { kind: 'passed', because })
  }
  for (const [field, rule] of Object.entries(values)) {
    table.set(field, { kind: 'values', values: new Set(rule.values), because: rule.because })
  }
  for (const [because, fields] of Object.entries(unpriced)) {
    for (const field of fields) {
      const code = codeOf.get(field)
      table.set(field, { kind: 'unpriced', because, ...(code !== undefined && { code }) })
    }
  }
  return table
}

/** What of a body is refused or left out; absent where there is no such thing, as in nearly every request. */
export type FieldVerdict = Pick<ChatRequest, 'unlisted' | 'unpriced'>

const NOTHING_FOUND: FieldVerdict = {}

/** Judges each field of `body` by `table`; `prefix` is the path of an object inside a body. */
export function judgeFields(body: JsonObject, table: FieldTable, format: FormatName, prefix = ''): FieldVerdict {
  let verdict = NOTHING_FOUND
  for (const field in body) {
    const rule = table.get(field)
    if (rule?.kind === 'hub' || rule?.kind === 'passed') continue
    if (!rule) verdict = { ...verdict, unlisted: [...(verdict.unlisted ?? []), prefix + field] }
    else if (!costsNothing(rule, body[field])) {
      const code = rule.kind === 'unpriced' ? rule.code : undefined
      const unpriced: UnpricedField = { format, field: prefix + field, ...(code !== undefined && { code }) }
      verdict = { ...verdict, unpriced: [...(verdict.unpriced ?? []), unpriced] }
    }
  }
  return verdict
}

/** Both verdicts as one. */
export function joinVerdicts(one: FieldVerdict, other: FieldVerdict): FieldVerdict {
  const unlisted = [...(one.unlisted ?? []), ...(other.unlisted ?? [])]
  const unpriced = [...(one.unpriced ?? []), ...(other.unpriced ?? [])]
  return { ...(unlisted.length > 0 && { unlisted }), ...(unpriced.length > 0 && { unpriced }) }
}

function costsNothing(
  rule: Extract<FieldRule, { kind: 'values' | 'unpriced' }>,
  value: JsonValue | undefined,
): boolean {
  if (value === undefined || value === null || value === false || value === '') return true
  if (Array.isArray(value)) return value.every((item) => rule.kind === 'values' && rule.values.has(item))
  return rule.kind === 'values' && rule.values.has(value)
}

/** The quirk of a provider whose extra charges the operator bears: there nothing is refused and nothing left out. */
export const UNPRICED_EXTRAS = 'unpriced-extras'

/** The quirk of a provider that reads `cache_control` although its format does not have it. */
export const CACHE_CONTROL = 'cache-control'
/** What it is called wherever it stands in a body. */
export const CACHE_CONTROL_FIELD = 'cache_control'

const NOTHING: readonly string[] = []

/** Which fields of the caller's body a target of the caller's own format is not sent. */
export function leftOutFields(
  { unlisted, hasCacheControl }: Pick<ChatRequest, 'unlisted' | 'hasCacheControl'>,
  { quirks, passFields }: Pick<TargetTraits, 'quirks' | 'passFields'>,
): readonly string[] {
  const isRefused = hasCacheControl && !quirks.has(CACHE_CONTROL)
  const strangers = quirks.has(UNPRICED_EXTRAS) ? NOTHING : (unlisted ?? NOTHING)
  const fields = isRefused ? [...strangers, CACHE_CONTROL_FIELD] : strangers
  return passFields && fields.length > 0 ? fields.filter((field) => !passFields.has(field)) : fields
}

/**
 * `body` for a provider of its own format: all as the caller wrote it, but the numbers that the gateway reads. Those are sent as
 * they were read, so that what was priced is what is executed. To be copied before it is changed. `nameOf` is the name of a
 * field in the table.
 */
export function relayedFields(body: JsonObject, table: FieldTable, nameOf = ownName): JsonObject {
  const relayed = asWritten(body)
  if (relayed === body) return body
  const copy = { ...relayed }
  for (const [field, value] of Object.entries(body)) {
    if (typeof value === 'number' && table.get(nameOf(field))?.kind === 'hub') copy[field] = value
  }
  return copy
}

function ownName(field: string): string {
  return field
}

const MAX_NAMES = 8
const MAX_NAME_CHARS = 64

/** Names of fields for a header or a log. They are the caller's own words: few, short, and of plain characters. */
export function showFields(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_CHARS).replace(/[^\w.-]/g, '?'))
  return shown.join(', ') + (names.length > MAX_NAMES ? ', ...' : '')
}
