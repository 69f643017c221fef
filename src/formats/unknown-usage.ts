import { isJsonObject, type JsonValue } from '@/lib/json'

/** Names of token counts in any of the formats. */
const TOKENS = /(?:_tokens|_token_count|TokenCount)$/
/** Maximum number of names that are reported for an answer. */
const MAX_NAMES = 8
const MAX_NAME_CHARS = 64

/** Finds non-zero token counts of a usage whose names are not in `known`: they have no price. `details`: objects with further counts. */
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
