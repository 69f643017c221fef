import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { type SchemaBudget, spend } from './schema-budget'

export type SchemaScope = {
  root: JsonObject
  expanding: ReadonlySet<string>
  budget: SchemaBudget
  depth: number
}

/** A schema without `$ref` and `allOf`, and the scope for its nested schemas. */
export type Flattened = { schema: JsonObject; scope: SchemaScope }

/** Inlines `$ref` and merges `allOf`; undefined if circular. Ignores unknown references. Throws if the budget is exceeded. */
export function flattenSchema(schema: JsonObject, scope: SchemaScope): Flattened | undefined {
  const expanding = new Set(scope.expanding)
  const flat = merged(schema, scope, expanding)
  return flat && { schema: flat, scope: { ...scope, expanding } }
}

/** Adds each followed reference to `followed`; nested schemas of the result must not follow them again. */
function merged(schema: JsonObject, scope: SchemaScope, followed: Set<string>): JsonObject | undefined {
  const { $ref: reference, allOf, ...rest } = schema
  let result: JsonObject = {}
  if (typeof reference === 'string') {
    if (scope.expanding.has(reference) || scope.expanding.size >= MAX_REFERENCES) return undefined
    spend(scope.budget, MERGE_BYTES + reference.length)
    followed.add(reference)
    const target = resolvePointer(scope.root, reference)
    const inner = { ...scope, expanding: new Set([...scope.expanding, reference]) }
    const flat = target && merged(target, inner, followed)
    if (target && !flat) return undefined
    result = overlay(result, flat ?? {}, scope)
  }
  for (const part of Array.isArray(allOf) ? allOf : []) {
    if (!isJsonObject(part)) continue
    spend(scope.budget, MERGE_BYTES)
    const flat = merged(part, scope, followed)
    if (flat) result = overlay(result, flat, scope)
  }
  return overlay(result, rest, scope)
}

/** The object at a pointer such as `#/$defs/Node` within `root`. */
function resolvePointer(root: JsonObject, reference: string): JsonObject | undefined {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let target: JsonValue | undefined = root
  for (const segment of reference.slice(2).split('/')) {
    const key = decodePointerSegment(segment)
    if (!isJsonObject(target) || !Object.hasOwn(target, key)) return undefined
    target = target[key]
  }
  return isJsonObject(target) ? target : undefined
}

function decodePointerSegment(segment: string): string {
  const unescaped = segment.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(unescaped)
  } catch {
    return unescaped
  }
}

/** Merges two schemas: properties and required are combined; otherwise the second has priority. */
function overlay(first: JsonObject, second: JsonObject, scope: SchemaScope): JsonObject {
  for (const _ in first) spend(scope.budget, KEY_BYTES)
  const both: JsonObject = { ...first, ...second }
  if (isJsonObject(first.properties) && isJsonObject(second.properties)) {
    both.properties = { ...first.properties, ...second.properties }
    // Copying costs budget, because many references to one large schema would take quadratic time.
    spend(scope.budget, MERGE_BYTES * Object.keys(first.properties).length)
  }
  if (Array.isArray(first.required) && Array.isArray(second.required)) {
    both.required = [...first.required, ...second.required]
    spend(scope.budget, MERGE_BYTES * first.required.length)
  }
  return both
}

const MAX_REFERENCES = 64
const MERGE_BYTES = 16
const KEY_BYTES = 1
