import { KindGuard, type TSchema } from '@sinclair/typebox'
import { ITEMS } from '@/formats/responses/client-side/wire'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'

/** Maximum characters of a name or id, which providers don't count as text. */
const MAX_WORD_CHARS = 512
const WORDS = ['type', 'role', 'call_id', 'name', 'namespace', 'detail', 'file_id', 'filename', 'format', 'effort']
/** Maximum characters of the items of a request that are stored whole, since only providers know their fields. */
const MAX_UNREAD_CHARS = 128 * 1024
/** Fields that items of every type may have. */
const OF_EVERY_ITEM = ['type', 'id', 'status', 'phase']

/** Selects input items' known fields to store, at every depth; undefined if they are too large. Numbers keep their digits. */
export function keptItems(items: readonly JsonObject[]): JsonObject[] | undefined {
  let unread = 0
  const kept: JsonObject[] = []
  for (const item of items) {
    const whole = asWritten(item)
    const schema = schemaOf(whole)
    if (!schema) unread += JSON.stringify(whole).length
    if (unread > MAX_UNREAD_CHARS) return undefined
    const known = schema ? knownItem(schema, whole) : whole
    if (!known) return undefined
    kept.push(known)
  }
  return kept
}

/** The schema of the item's type; undefined for tools, which may have any shape. */
function schemaOf({ type }: JsonObject): TSchema | undefined {
  const name = typeof type === 'string' ? type : 'message'
  if (name === 'additional_tools' || !Object.hasOwn(ITEMS, name)) return undefined
  return ITEMS[name as keyof typeof ITEMS]
}

function knownItem(schema: TSchema, item: JsonObject): JsonObject | undefined {
  const kept = knownOf(schema, item)
  if (!isJsonObject(kept)) return undefined
  for (const name of OF_EVERY_ITEM) {
    const word = item[name]
    if (typeof word === 'string' && word.length <= MAX_WORD_CHARS) kept[name] = word
  }
  return kept
}

/** `value` without fields that `schema` doesn't have; undefined if a name or id is too long. */
function knownOf(schema: TSchema, value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) {
    const items: TSchema | undefined = memberFor(schema, 'Array')?.items
    if (!items) return value
    const kept = value.map((one) => knownOf(items, one))
    return kept.includes(undefined) ? undefined : (kept as JsonValue[])
  }
  if (!isJsonObject(value)) return value
  const properties: Record<string, TSchema> = memberFor(schema, 'Object')?.properties ?? {}
  if (Object.keys(properties).length === 0) return value
  const kept: JsonObject = {}
  for (const [name, part] of Object.entries(properties)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    if (given === undefined) continue
    if (WORDS.includes(name) && typeof given === 'string' && given.length > MAX_WORD_CHARS) return undefined
    const known = knownOf(part, given)
    if (known === undefined) return undefined
    kept[name] = known
  }
  return kept
}

/** The schema itself, or the variant of a union for this `kind` of value; undefined if anything is allowed. */
function memberFor(schema: TSchema, kind: 'Array' | 'Object'): TSchema | undefined {
  if (KindGuard.IsUnion(schema)) return schema.anyOf.map((one) => memberFor(one, kind)).find((one) => one !== undefined)
  return (kind === 'Array' ? KindGuard.IsArray(schema) : KindGuard.IsObject(schema)) ? schema : undefined
}
