/** Finds tokens of a provider's usage that are in no known class, so that they are not given away in silence. */
import { isJsonObject, type JsonValue } from '@/lib/json'

/** How a class is spelt in any of the formats. */
const TOKENS = /(?:_tokens|_token_count|TokenCount)$/
/** Names that one answer reports at most. */
const MAX_NAMES = 8
const MAX_NAME_CHARS = 64

/** A search for nonzero classes that are none of `known`; `details` names objects with classes of their own. */
export function createUnknownUsageSearch(
  known: readonly string[],
  details: Record<string, readonly string[]> = {},
): (usage: JsonValue | undefined) => string[] | undefined {
  const names = new Set(known)
  const inside = new Map(Object.entries(details).map(([name, classes]) => [name, new Set(classes)]))

  function search(usage: JsonValue | undefined): string[] | undefined {
    if (!isJsonObject(usage)) return undefined
    let found: string[] | undefined
    for (const name in usage) {
      if (names.has(name)) continue
      const value = usage[name]
      const classes = inside.get(name)
      if (classes && isJsonObject(value)) {
        for (const inner in value) {
          if (!classes.has(inner) && isUnpaid(inner, value[inner])) found = [...(found ?? []), `${name}.${inner}`]
        }
      } else if (isUnpaid(name, value)) found = [...(found ?? []), name]
    }
    return found?.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_CHARS))
  }
  return search
}

function isUnpaid(name: string, value: JsonValue | undefined): boolean {
  return typeof value === 'number' && value !== 0 && TOKENS.test(name)
}
