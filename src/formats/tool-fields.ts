/**
 * The allow-list of a body's fields, inside its tools: what a provider may one day read there can cost as much, or keep as much, as a field
 * of the body. What no list knows is left out of every tool, and named as `tools.field`.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

/** The fields of a tool, and of the objects inside it that have fields of their own, by their name. */
export type ToolFields = { own: ReadonlySet<string>; inside?: ReadonlyMap<string, ReadonlySet<string>> }

/** The paths of what no list knows, each once, e.g. `tools.container` or `tools.function.model`. */
export function unlistedInTools(tools: JsonValue | undefined, fields: ToolFields): readonly string[] {
  if (!Array.isArray(tools)) return []
  const found = new Set<string>()
  for (const tool of tools) {
    if (!isJsonObject(tool)) continue
    for (const field in tool) {
      if (!fields.own.has(field)) found.add(`tools.${field}`)
      const known = fields.inside?.get(field)
      const inner = tool[field]
      if (!known || !isJsonObject(inner)) continue
      for (const name in inner) if (!known.has(name)) found.add(`tools.${field}.${name}`)
    }
  }
  return [...found]
}

/** `tools` without the fields of these paths. The same where none of them is one of a tool. */
export function withoutToolFields(tools: JsonValue | undefined, paths: readonly string[]): JsonValue | undefined {
  if (!Array.isArray(tools) || !paths.some((path) => path.startsWith('tools.'))) return tools
  const left = new Set(paths)
  return tools.map((tool) => (isJsonObject(tool) ? without(tool, 'tools.', left) : tool))
}

/** Built by fromEntries, which defines own properties, so that a field named `__proto__` stays a field. */
function without(object: JsonObject, prefix: string, left: ReadonlySet<string>): JsonObject {
  const kept = Object.entries(object).filter(([name]) => !left.has(prefix + name))
  if (prefix !== 'tools.') return Object.fromEntries(kept)
  return Object.fromEntries(
    kept.map(([name, value]) => [name, isJsonObject(value) ? without(value, `tools.${name}.`, left) : value]),
  )
}
