/** Puts the environment into the catalogue file: `${NAME}` and `${NAME:-default}` inside any string. */
import type { JsonValue } from '@/lib/json'

/**
 * The value with every variable replaced, the variables that had neither a value nor a default, and the places of strings
 * with a `${` that begins no variable.
 */
type Substitution = { value: JsonValue; missing: MissingVariable[]; broken: string[] }
/** `place` is the string's path in the file, e.g. `providers.provider2.baseUrl`. */
type MissingVariable = { place: string; name: string }

/** How a variable is written, in words for a message. */
export const VARIABLE_FORMS = `\${NAME} or \${NAME:-default}`

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/**
 * Replaces variables in all strings of `value`, not in property names. An empty variable counts as unset. A string with a
 * missing variable becomes empty as a whole.
 */
export function substituteVariables(value: JsonValue, environment: Record<string, string | undefined>): Substitution {
  const missing: MissingVariable[] = []
  const broken: string[] = []

  function visit(part: JsonValue, place: string): JsonValue {
    if (typeof part === 'string') return visitText(part, place)
    if (Array.isArray(part)) return part.map((item, index) => visit(item, `${place}[${index}]`))
    if (part === null || typeof part !== 'object') return part
    const entries = Object.entries(part).map(([key, item]) => [
      key,
      visit(item as JsonValue, place === '' ? key : `${place}.${key}`),
    ])
    return Object.fromEntries(entries)
  }

  function visitText(text: string, place: string): string {
    if (!text.includes('${')) return text
    if (text.replace(VARIABLE, '').includes('${')) broken.push(place)
    let isComplete = true
    const replaced = text.replace(VARIABLE, (_, name: string, fallback?: string) => {
      const resolved = (Object.hasOwn(environment, name) && environment[name]) || fallback
      if (resolved === undefined) {
        missing.push({ place, name })
        isComplete = false
      }
      return resolved ?? ''
    })
    return isComplete ? replaced : ''
  }

  return { value: visit(value, ''), missing, broken }
}
