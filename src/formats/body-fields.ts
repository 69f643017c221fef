/** The allow-list of body fields; fields on no list are omitted (docs/decisions/0008-unlisted-fields-are-left-out.md). */
import type { FormatName } from '@/chat/format-name'
import type { BoundField, ChatRequest, Feature, UnpricedField } from '@/chat/request'
import type { JsonObject, JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import type { InsideVerdict, NestedFields } from './nested-fields'

/**
 * `hub`: the hub contains the field, and its cost is known. `passed`: the field costs nothing beyond the answer's tokens. `values`: like
 * `passed`, but only with these values. `kept`: the field asks the provider to store the request; only a value that refuses storage is
 * passed on. `unpriced`: may cost more than the usage reports, or read data that the gateway can't see; `code`: an error code for clients.
 */
type FieldRule =
  | ({ kind: 'hub' } & Across & { isOurs?: true; isNative?: true })
  | ({ kind: 'passed'; because: string } & Across)
  | ({ kind: 'values'; values: ReadonlySet<JsonValue>; because: string } & Across)
  | { kind: 'kept'; because: string }
  | { kind: 'unpriced'; because: string; code?: string }

/**
 * `bound`: it constrains the answer, so it is not omitted without consent. `carriedBy`: other formats that can express it, in whole
 * answers, and in streams only if `inStreams`; `word`: the only value in a list that constrains the answer. `isOurs`: a hub field that the
 * gateway itself uses. `isNative`: a hub field that only the format's own providers use.
 */
type Across = { bound?: Pick<BoundField, 'carriedBy' | 'inStreams'> & { word: string | undefined } }

export type FieldTable = ReadonlyMap<string, FieldRule>

/** A format's request fields, and the features it lacks. */
export type RequestFields = {
  nested: NestedFields
  /** Tables of fields, by the name of the object that contains the fields; '' for the body. */
  tables: Readonly<Record<string, FieldTable>>
  /** The callers' field names for each feature; missing if they can't request it. */
  spelling: Readonly<Partial<Record<Feature, readonly string[]>>>
  /** Features that its providers lack; they are omitted. */
  lacking: readonly Feature[]
  /** Features that its providers lack and that would change the answer; such a request is refused. */
  refusing: readonly Feature[]
  /** For each quirk: further features that are omitted for a provider with that quirk. */
  lackingWith: Readonly<Record<string, readonly Feature[]>>
  /** The fields that have no effect on a model without this capability. Missing for formats that list no fields. */
  needs?: Readonly<Partial<Record<'tools' | 'reasoning', readonly string[]>>>
  /** Embeddings fields that providers get (`all`), and those that only providers of this format support (`native`). */
  ofEmbeddings?: { all: ReadonlySet<string>; native: readonly string[] }
}

type Listed = {
  hub: readonly string[]
  ours?: readonly string[]
  native?: readonly string[]
  /** Fields that constrain the answer, with the other formats that can express them; see {@link Across}. */
  bound?: Record<string, { carriedBy?: readonly FormatName[]; word?: string; inStreams?: true }>
  /** Fields that are passed on, grouped by the reason. */
  passed: Record<string, readonly string[]>
  values?: Record<string, { values: readonly JsonValue[]; because: string }>
  /** Fields of the kind `kept`, grouped by the reason. */
  kept?: Record<string, readonly string[]>
  /** Fields that are refused, grouped by the reason. */
  unpriced: Record<string, readonly string[]>
  codes?: Record<string, string>
}

/** Builds a field table from lists. */
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
    table.set(field, {
      kind: 'values',
      values: new Set(rule.values),
      because: rule.because,
      ...boundTo(field, across),
    })
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
  if (!given) return {}
  const { carriedBy, word, inStreams } = given
  return { bound: { carriedBy: new Set(carriedBy), word, ...(inStreams && { inStreams }) } }
}

/** The fields of a body that are refused, omitted or bound to some formats; missing in nearly every request. */
export type FieldVerdict = Pick<ChatRequest, 'unlisted' | 'unpriced' | 'bound'>

const NOTHING_FOUND: FieldVerdict = {}

/** Classifies each field of `body` by `table`; `prefix` is the path of an object inside a body. */
export function judgeFields(body: JsonObject, table: FieldTable, format: FormatName, prefix = ''): FieldVerdict {
  let verdict = NOTHING_FOUND
  for (const field in body) {
    const rule = table.get(field)
    const isFree = rule?.kind === 'values' && costsNothing(rule, body[field])
    if (isFree || rule?.kind === 'hub' || rule?.kind === 'passed') {
      const { bound } = rule
      if (!bound || !asksFor(body[field], bound.word)) continue
      const { word: _, ...across } = bound
      verdict = { ...verdict, bound: [...(verdict.bound ?? []), { field: prefix + field, ...across }] }
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

/** Whether a field's value is missing, null, or an empty text, list or object. */
export function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** The list; undefined if it is empty. */
export function unlessEmpty<Item>(list: Item[]): Item[] | undefined {
  return list.length > 0 ? list : undefined
}

/** Combines the fields of two verdicts into one verdict. */
export function joinVerdicts(one: FieldVerdict, other: FieldVerdict): FieldVerdict {
  return {
    unlisted: unlessEmpty([...(one.unlisted ?? []), ...(other.unlisted ?? [])]),
    unpriced: unlessEmpty([...(one.unpriced ?? []), ...(other.unpriced ?? [])]),
    bound: unlessEmpty([...(one.bound ?? []), ...(other.bound ?? [])]),
  }
}

/** Adds the verdict on nested fields to the verdict on the body's own fields. */
export function withInside(verdict: FieldVerdict, { unlisted, bound }: InsideVerdict): FieldVerdict {
  if (unlisted.length === 0 && bound.length === 0) return verdict
  return joinVerdicts(verdict, { unlisted: [...unlisted], bound: [...bound] })
}

/** Whether this value of a field has no effect, and so no cost. */
export function costsNothing(
  rule: Extract<FieldRule, { kind: 'values' | 'kept' | 'unpriced' }>,
  value: JsonValue | undefined,
): boolean {
  if (value === undefined || value === null || value === false || value === '') return true
  if (Array.isArray(value)) return value.every((item) => rule.kind === 'values' && rule.values.has(item))
  return rule.kind === 'values' && rule.values.has(value)
}

/** Quirk of a provider that gets every field: the operator pays if a field causes extra charges. */
export const UNPRICED_EXTRAS = 'unpriced-extras'

/** Quirk of a provider that supports `cache_control` although its format does not. */
export const CACHE_CONTROL = 'cache-control'
export const CACHE_CONTROL_FIELD = 'cache_control'

const NOTHING: readonly string[] = []

/** The fields of the caller's body that are not sent to a target of the same format. */
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
 * `body` for a provider of the caller's format. Only numbers change: they are sent as the gateway read them, so that the provider executes
 * the request that was priced. Copy the result before changing it. `nameOf` maps a field to its name in the table.
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

/** Field names for a header or log. They come from the caller, so their number, length and characters are limited. */
export function showFields(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_CHARS).replace(/[^\w.-]/g, '?'))
  return shown.join(', ') + (names.length > MAX_NAMES ? ', ...' : '')
}
