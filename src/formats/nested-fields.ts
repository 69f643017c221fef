/** The allow-list of what stands inside a body: tools and parts of a conversation. The rest is left out and named. */
import { isJsonObject, type JsonObject, type JsonValue, rawJson } from '@/lib/json'

/** The fields of an object or of each in a list: `own` names (any where missing), `inside` those with fields of their own. */
export type FieldTree = { own?: ReadonlySet<string>; inside?: ReadonlyMap<string, FieldTree> }

/** A tree from lists. */
export function fieldTree(own: readonly string[] | undefined, inside: Record<string, FieldTree> = {}): FieldTree {
  return { ...(own && { own: new Set(own) }), inside: new Map(Object.entries(inside)) }
}

/** The name of a field in the tree, where callers may spell it in several ways. */
type NameOf = (field: string) => string

const ownName: NameOf = (field) => field

/** The paths of what no list knows, each once, e.g. `tools.function.model` or `messages.content.container`. */
export function unlistedInside(body: JsonObject, tree: FieldTree, nameOf = ownName): readonly string[] {
  // So it is in nearly all requests, for which no path is put together.
  if (isListed(body, tree, nameOf)) return NOTHING
  const found = new Set<string>()
  collect(body, tree, '', { found, nameOf })
  return [...found]
}

const NOTHING: readonly string[] = []

function isListed(value: JsonValue | undefined, tree: FieldTree, nameOf: NameOf): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) {
    for (const item of value) if (!isListed(item, tree, nameOf)) return false
    return true
  }
  const { own, inside } = tree
  for (const field in value) {
    const name = nameOf(field)
    if (own && !own.has(name)) return false
    const held = value[field]
    if (typeof held !== 'object' || held === null) continue
    const inner = inside?.get(name)
    if (inner && !isListed(held, inner, nameOf)) return false
  }
  return true
}

type Collecting = { found: Set<string>; nameOf: NameOf }

function collect(value: JsonValue | undefined, tree: FieldTree, prefix: string, collecting: Collecting): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) collect(item, tree, prefix, collecting)
    return
  }
  const { own, inside } = tree
  for (const field in value) {
    const name = collecting.nameOf(field)
    const inner = inside?.get(name)
    if (inner) collect(value[field], inner, `${prefix}${name}.`, collecting)
    if (own && !own.has(name)) collecting.found.add(prefix + name)
  }
}

/** Takes the fields at these paths out of `own`, without changing what it shares with the caller's body. */
export function leaveOutInside(own: JsonObject, paths: readonly string[], tree: FieldTree, nameOf = ownName): void {
  const left = new Set(paths.filter((path) => path.includes('.')))
  if (left.size === 0) return
  const held = new Set([...left].map((path) => path.slice(0, path.indexOf('.'))))
  for (const [field, value] of Object.entries(own)) {
    const inner = tree.inside?.get(nameOf(field))
    if (inner && held.has(nameOf(field)))
      own[field] = without(value, inner, `${nameOf(field)}.`, { left, nameOf }) ?? null
  }
}

type Leaving = { left: ReadonlySet<string>; nameOf: NameOf }

/** Built by fromEntries, which defines own properties, so that a field named `__proto__` stays a field. */
function without(
  value: JsonValue | undefined,
  tree: FieldTree,
  prefix: string,
  leaving: Leaving,
): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => without(item, tree, prefix, leaving) ?? null)
  if (!isJsonObject(value) || rawJson.isRawJSON(value)) return value
  const kept: [string, JsonValue | undefined][] = []
  for (const [field, held] of Object.entries(value)) {
    const name = leaving.nameOf(field)
    if (leaving.left.has(prefix + name)) continue
    const inner = tree.inside?.get(name)
    kept.push([field, inner ? without(held, inner, `${prefix}${name}.`, leaving) : held])
  }
  return Object.fromEntries(kept)
}
