/** The allow-list of nested fields in bodies; other fields are omitted and reported. Also states which fields other formats lack. */
import type { FormatName } from '@/chat/format-name'
import type { BoundField } from '@/chat/request'
import { isJsonObject, type JsonObject, type JsonValue, rawJson } from '@/lib/json'

/** Whether a field's value has an effect; `holder` is the object that contains it. */
type Says = (value: JsonValue | undefined, holder: JsonObject) => boolean

/** A field that only its own format and `carriedBy` have. Other formats omit and report it, or refuse it if it constrains the answer. */
export type NestedLoss = { carriedBy: ReadonlySet<FormatName>; isBound: boolean; says: Says }

/**
 * The fields of an object (or of each object in a list). `own`: allowed names (any if missing); `inside`: fields with nested fields;
 * `losses`: fields that some formats lack; `bounds`: those of them that constrain the answer.
 */
export type FieldTree = {
  own?: ReadonlySet<string>
  inside?: ReadonlyMap<string, FieldTree>
  losses?: ReadonlyMap<string, NestedLoss>
  bounds?: ReadonlyMap<string, NestedLoss>
}

/** Builds a tree from lists. */
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

/** A field that is omitted and reported at formats outside `carriedBy`, if its value `says` anything. */
export function lostExcept(carriedBy: readonly FormatName[], says: Says = isStated): NestedLoss {
  return { carriedBy: new Set(carriedBy), isBound: false, says }
}

/** A field that every other format lacks: it is omitted and reported. */
export const LOST: NestedLoss = lostExcept([])

/** A field that constrains the answer and that no other format has. */
export function boundWhere(says: Says): NestedLoss {
  return { carriedBy: new Set(), isBound: true, says }
}

type NameOf = (field: string) => string

const ownName: NameOf = (field) => field

export type InsideVerdict = { unlisted: readonly string[]; bound: readonly BoundField[] }

/** The paths of unknown fields and of constraining fields, without duplicates, such as `tools.function.model`. */
export function judgeInside(body: JsonObject, tree: FieldTree, nameOf = ownName): InsideVerdict {
  // The common case, for which no paths are built.
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

/** Adds the paths of the fields that providers of another `format` don't get, since `carriedBy` doesn't include it. */
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

export type NestedFields = { tree: FieldTree; nameOf: NameOf; losses: ReadonlyMap<string, NestedLoss> }

/** A format's nested fields. `losses`: the fields that some formats lack, by their first path. */
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

/** Removes the fields at these paths from `own`, without changing parts shared with the caller's body. */
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

/** With `Object.fromEntries`, even `__proto__` becomes an own property; an assignment would change the prototype. */
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
