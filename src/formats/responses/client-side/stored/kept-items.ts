/** What is kept of input items: known fields, at every depth. Others would be stored for nothing. */
import { KindGuard, type TSchema } from '@sinclair/typebox'
import { ITEMS } from '@/formats/responses/client-side/wire'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'

/** Names and ids: none is longer, and a provider counts no tokens of them. */
const MAX_WORD_CHARS = 512
const WORDS = ['type', 'role', 'call_id', 'name', 'namespace', 'detail', 'file_id', 'filename', 'format', 'effort']
/** Of all items of a request that only providers read, and that are kept whole. */
const MAX_UNREAD_CHARS = 128 * 1024
/** What any item may have beside the fields of its own kind. */
const OF_EVERY_ITEM = ['type', 'id', 'status', 'phase']

/** The items as they are kept; undefined if they are beyond what a client that means well sends. Numbers keep their digits. */
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

/** What is known of the item's kind; nothing of tools, which are of any shape. */
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

/** `value` without what `schema` does not name; undefined if it has a word that is none. */
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

/** The schema itself, or of a choice the one that `kind` of value may have; undefined for what may be anything. */
function memberFor(schema: TSchema, kind: 'Array' | 'Object'): TSchema | undefined {
  if (KindGuard.IsUnion(schema)) return schema.anyOf.map((one) => memberFor(one, kind)).find((one) => one !== undefined)
  return (kind === 'Array' ? KindGuard.IsArray(schema) : KindGuard.IsObject(schema)) ? schema : undefined
}
