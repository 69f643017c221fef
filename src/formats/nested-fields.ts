/**
 * The allow-list of what stands inside a body: tools, parts of a conversation and settings. The rest is left out and named. It also says
 * which of these fields other formats have no word for.
 */
import type { FormatName } from '@/chat/format-name'
import type { BoundField } from '@/chat/request'
import { isJsonObject, type JsonObject, type JsonValue, rawJson } from '@/lib/json'

/** Whether a field's value asks for something; `holder` is the object that it stands in. */
type Says = (value: JsonValue | undefined, holder: JsonObject) => boolean

/** A field that only `carriedBy` and its own format can say. At the others it is named, or refused where it constrains the answer. */
export type NestedLoss = { carriedBy: ReadonlySet<FormatName>; isBound: boolean; says: Says }

/**
 * The fields of an object or of each in a list: `own` names (any where missing), `inside` those with fields of their own, `losses` those
 * that not all formats have, and of these again `bounds` those that constrain the answer.
 */
export type FieldTree = {
  own?: ReadonlySet<string>
  inside?: ReadonlyMap<string, FieldTree>
  losses?: ReadonlyMap<string, NestedLoss>
  bounds?: ReadonlyMap<string, NestedLoss>
}

/** A tree from lists. */
export function fieldTree(
  own: readonly string[] | undefined,
  inside: Record<string, FieldTree> = {},
  losses: Record<string, NestedLoss> = {},
): FieldTree {
  const lost = Object.entries(losses)
  const bound = lost.filter(([, { isBound }]) => isBound)
  return {
    ...(own && { own: new Set(own) }),
    inside: new Map(Object.entries(inside)),
    ...(lost.length > 0 && { losses: new Map(lost) }),
    ...(bound.length > 0 && { bounds: new Map(bound) }),
  }
}

const isStated: Says = (value) => {
  if (value === undefined || value === null || value === '' || value === false) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

/** A field that is left out and named at formats other than these, where it `says` something. */
export function lostExcept(carriedBy: readonly FormatName[], says: Says = isStated): NestedLoss {
  return { carriedBy: new Set(carriedBy), isBound: false, says }
}

/** Likewise at every other format. */
export const LOST: NestedLoss = lostExcept([])

/** A field that constrains the answer, and that no other format has. */
export function boundWhere(says: Says): NestedLoss {
  return { carriedBy: new Set(), isBound: true, says }
}

/** The name of a field in the tree, where callers may spell it in several ways. */
type NameOf = (field: string) => string

const ownName: NameOf = (field) => field

/** Nested fields that are omitted, and those that are bound to some formats. */
export type InsideVerdict = { unlisted: readonly string[]; bound: readonly BoundField[] }

/** The paths of what no list knows, or what constrains the answer, each once, e.g. `tools.function.model`. */
export function judgeInside(body: JsonObject, tree: FieldTree, nameOf = ownName): InsideVerdict {
  // So it is in nearly all requests, for which no path is put together.
  if (isPlain(body, tree, nameOf)) return NOTHING
  const unlisted = new Set<string>()
  const bound = new Map<string, BoundField>()
  walk(body, tree, nameOf, (path, name, value, holder, { own, bounds }) => {
    if (own && !own.has(name)) unlisted.add(path)
    const rule = bounds?.get(name)
    if (rule?.says(value, holder)) bound.set(path, { field: path, carriedBy: rule.carriedBy })
  })
  return { unlisted: [...unlisted], bound: [...bound.values()] }
}

/** Adds the paths of what a provider of `format`, another one, is not told; left out: one that can say none of it. */
export function addLosses(
  names: Set<string>,
  body: JsonObject,
  format: FormatName | undefined,
  { tree, nameOf }: NestedFields,
): void {
  walk(body, tree, nameOf, (path, name, value, holder, { losses }) => {
    const loss = losses?.get(name)
    const isCarried = format !== undefined && loss?.carriedBy.has(format)
    if (loss && !isCarried && loss.says(value, holder)) names.add(path)
  })
}

/** The list of a format, and how its callers may spell a name. */
export type NestedFields = { tree: FieldTree; nameOf: NameOf; losses: ReadonlyMap<string, NestedLoss> }

/** The fields inside a format's bodies; `losses` are by path those that not all formats have, each once, where it stands first. */
export function nestedFields(tree: FieldTree, nameOf = ownName): NestedFields {
  return { tree, nameOf, losses: listLosses(tree) }
}

function listLosses(tree: FieldTree): ReadonlyMap<string, NestedLoss> {
  const listed = new Map<string, NestedLoss>()
  const seen = new Set<FieldTree>()
  const list = (node: FieldTree, prefix: string): void => {
    if (seen.has(node)) return
    seen.add(node)
    for (const [name, loss] of node.losses ?? []) listed.set(prefix + name, loss)
    for (const [name, inner] of node.inside ?? []) list(inner, `${prefix}${name}.`)
  }
  list(tree, '')
  return listed
}

const NOTHING: InsideVerdict = { unlisted: [], bound: [] }

function isPlain(value: JsonValue | undefined, tree: FieldTree, nameOf: NameOf): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) {
    for (const item of value) if (!isPlain(item, tree, nameOf)) return false
    return true
  }
  const { own, inside, bounds } = tree
  for (const field in value) {
    const name = nameOf(field)
    if (own && !own.has(name)) return false
    const held = value[field]
    if (bounds?.get(name)?.says(held, value)) return false
    if (typeof held !== 'object' || held === null) continue
    const inner = inside?.get(name)
    if (inner && !isPlain(held, inner, nameOf)) return false
  }
  return true
}

type Visit = (path: string, name: string, value: JsonValue | undefined, holder: JsonObject, tree: FieldTree) => void

function walk(value: JsonValue | undefined, tree: FieldTree, nameOf: NameOf, visit: Visit, prefix = ''): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) walk(item, tree, nameOf, visit, prefix)
    return
  }
  for (const field in value) {
    const name = nameOf(field)
    const inner = tree.inside?.get(name)
    if (inner) walk(value[field], inner, nameOf, visit, `${prefix}${name}.`)
    visit(prefix + name, name, value[field], value, tree)
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
