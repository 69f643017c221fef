/** The allow-list of what a body may hold; fields on no list are left out (docs/decisions/0008-unlisted-fields-are-left-out.md). */
import type { FormatName } from '@/chat/format-name'
import type { ChatRequest, Feature, UnpricedField } from '@/chat/request'
import type { JsonObject, JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import type { InsideVerdict, NestedFields } from './nested-fields'

/**
 * `hub`: the hub has a field for it and computes its cost. `passed`: it costs nothing beyond the answer's tokens. `values`: the
 * same for these values only. `kept`: it asks the provider to store the request or not; only the latter is passed on.
 * `unpriced`: it may cost more than the usage states, or read unseen data; `code` tells clients that know a way without it.
 */
type FieldRule =
  | ({ kind: 'hub' } & Across & { isOurs?: true; isNative?: true })
  | ({ kind: 'passed'; because: string } & Across)
  | { kind: 'values'; values: ReadonlySet<JsonValue>; because: string }
  | { kind: 'kept'; because: string }
  | { kind: 'unpriced'; because: string; code?: string }

/**
 * `bound`: it constrains the answer, so it is not omitted without consent; `carriedBy` are other formats that can carry it in
 * answers of one piece, `word` its entry in a list with other meanings. Of the hub's fields, `isOurs` are used by the gateway
 * itself, and `isNative` only by the format's own providers.
 */
type Across = { bound?: { carriedBy: ReadonlySet<FormatName>; word: string | undefined } }

export type FieldTable = ReadonlyMap<string, FieldRule>

/** All that a format says of the fields of its requests, and of what it has no word for. */
export type RequestFields = {
  /** The fields inside these fields. */
  nested: NestedFields
  /** By the name of the object that they stand in; the body itself is ''. */
  tables: Readonly<Record<string, FieldTable>>
  /** How its callers spell what they may ask for; absent where they can't. */
  spelling: Readonly<Partial<Record<Feature, readonly string[]>>>
  /** What its providers have no word for, and are sent the request without. */
  lacking: readonly Feature[]
  /** Likewise, but that the answer would be another one: such a request is refused. */
  refusing: readonly Feature[]
  /** By a quirk of its providers: what these are sent the request without as well. */
  lackingWith: Readonly<Record<string, readonly Feature[]>>
  /** The fields that a model without a capability does nothing with. Left out by formats whose fields no list names. */
  needs?: Readonly<Partial<Record<'tools' | 'reasoning', readonly string[]>>>
  /** Likewise: the fields of a request for embeddings that providers get, and those of them that only the format's own know. */
  ofEmbeddings?: { all: ReadonlySet<string>; native: readonly string[] }
}

type Listed = {
  hub: readonly string[]
  /** Those that the gateway heeds itself. */
  ours?: readonly string[]
  /** Those that only the format's own providers can carry. */
  native?: readonly string[]
  /** Those that constrain the answer, with the other formats that can carry them in answers of one piece. */
  bound?: Record<string, { carriedBy?: readonly FormatName[]; word?: string }>
  /** By the reason. */
  passed: Record<string, readonly string[]>
  values?: Record<string, { values: readonly JsonValue[]; because: string }>
  /** By the reason. */
  kept?: Record<string, readonly string[]>
  /** By the reason. */
  unpriced: Record<string, readonly string[]>
  codes?: Record<string, string>
}

/** The table of a list. */
export function fieldTable({
  hub,
  passed,
  values = {},
  kept = {},
  unpriced,
  codes = {},
  ...across
}: Listed): FieldTable {
  const codeOf = new Map(Object.entries(codes))
  const table = new Map<string, FieldRule>()
  const ours = new Set(across.ours)
  const native = new Set(across.native)
  for (const field of hub) {
    table.set(field, {
      kind: 'hub',
      ...boundTo(field, across),
      ...(ours.has(field) && { isOurs: true }),
      ...(native.has(field) && { isNative: true }),
    })
  }
  for (const [because, fields] of Object.entries(passed)) {
    for (const field of fields) table.set(field, { kind: 'passed', because, ...boundTo(field, across) })
  }
  for (const [field, rule] of Object.entries(values)) {
    table.set(field, { kind: 'values', values: new Set(rule.values), because: rule.because })
  }
  for (const [because, fields] of Object.entries(kept)) {
    for (const field of fields) table.set(field, { kind: 'kept', because })
  }
  for (const [because, fields] of Object.entries(unpriced)) {
    for (const field of fields) {
      const code = codeOf.get(field)
      table.set(field, { kind: 'unpriced', because, ...(code !== undefined && { code }) })
    }
  }
  return table
}

function boundTo(field: string, { bound = {} }: Pick<Listed, 'bound'>): Pick<FieldRule & { kind: 'hub' }, 'bound'> {
  const given = Object.hasOwn(bound, field) ? bound[field] : undefined
  return given ? { bound: { carriedBy: new Set(given.carriedBy), word: given.word } } : {}
}

/** The fields of a body that are refused, omitted or bound to some formats; absent in nearly every request. */
export type FieldVerdict = Pick<ChatRequest, 'unlisted' | 'unpriced' | 'bound'>

const NOTHING_FOUND: FieldVerdict = {}

/** Judges each field of `body` by `table`; `prefix` is the path of an object inside a body. */
export function judgeFields(body: JsonObject, table: FieldTable, format: FormatName, prefix = ''): FieldVerdict {
  let verdict = NOTHING_FOUND
  for (const field in body) {
    const rule = table.get(field)
    if (rule?.kind === 'hub' || rule?.kind === 'passed') {
      const { bound } = rule
      if (!bound || !asksFor(body[field], bound.word)) continue
      verdict = { ...verdict, bound: [...(verdict.bound ?? []), { field: prefix + field, carriedBy: bound.carriedBy }] }
      continue
    }
    if (rule && costsNothing(rule, body[field])) continue
    if (!rule || rule.kind === 'kept') verdict = { ...verdict, unlisted: [...(verdict.unlisted ?? []), prefix + field] }
    else {
      const code = rule.kind === 'unpriced' ? rule.code : undefined
      const unpriced: UnpricedField = { format, field: prefix + field, ...(code !== undefined && { code }) }
      verdict = { ...verdict, unpriced: [...(verdict.unpriced ?? []), unpriced] }
    }
  }
  return verdict
}

function asksFor(value: JsonValue | undefined, word: string | undefined): boolean {
  if (word !== undefined) return Array.isArray(value) && value.includes(word)
  return value !== false && value !== 0 && !isEmpty(value)
}

/** Whether a field is there, and says nothing. */
export function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** The list, or undefined if nothing is in it. */
export function unlessEmpty<Item>(list: Item[]): Item[] | undefined {
  return list.length > 0 ? list : undefined
}

/** Both verdicts as one. */
export function joinVerdicts(one: FieldVerdict, other: FieldVerdict): FieldVerdict {
  return {
    unlisted: unlessEmpty([...(one.unlisted ?? []), ...(other.unlisted ?? [])]),
    unpriced: unlessEmpty([...(one.unpriced ?? []), ...(other.unpriced ?? [])]),
    bound: unlessEmpty([...(one.bound ?? []), ...(other.bound ?? [])]),
  }
}

/** The verdict on a body with that of what stands inside it. */
export function withInside(verdict: FieldVerdict, { unlisted, bound }: InsideVerdict): FieldVerdict {
  if (unlisted.length === 0 && bound.length === 0) return verdict
  return joinVerdicts(verdict, { unlisted: [...unlisted], bound: [...bound] })
}

/** Whether a field with such a rule is at this value as good as not there. */
export function costsNothing(
  rule: Extract<FieldRule, { kind: 'values' | 'kept' | 'unpriced' }>,
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
/** The name of the field at any place of a body. */
export const CACHE_CONTROL_FIELD = 'cache_control'

const NOTHING: readonly string[] = []

/** Which fields of the caller's body a target of the caller's own format is not sent. */
export function leftOutFields(
  { unlisted, hasCacheControl }: Pick<ChatRequest, 'unlisted' | 'hasCacheControl'>,
  { quirks, passFields }: { quirks: ReadonlySet<string>; passFields?: ReadonlySet<string> },
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
