/**
 * Replaces variables in the catalogue file: `${NAME}`, `${NAME|OTHER}` (OTHER if NAME is unset) and `${NAME:-default}` in any string.
 * `NAME_FILE` may name a file with the value, as container platforms mount secrets. Such a file may change while the process runs.
 */
import { readVariable } from '@/lib/file-variable'
import type { JsonValue } from '@/lib/json'

type Substitution = { value: JsonValue; missing: MissingVariable[]; broken: string[]; unread: UnreadVariable[] }
/** `place` is the string's path in the file, such as `providers.provider2.baseUrl`. */
type MissingVariable = { place: string; name: string }
type UnreadVariable = { place: string; message: string }

export const VARIABLE_FORMS = `\${NAME}, \${NAME|OTHER} or \${NAME:-default}`

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?:\|([A-Za-z_][A-Za-z0-9_]*))?(?::-([^}]*))?\}/g

/** Replaces variables in all strings. An empty variable counts as unset; a string with a missing variable becomes empty. */
export function substituteVariables(value: JsonValue, environment: Record<string, string | undefined>): Substitution {
  const missing: MissingVariable[] = []
  const broken: string[] = []
  const unread: UnreadVariable[] = []

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
    const replaced = text.replace(VARIABLE, (_, name: string, other?: string, fallback?: string) => {
      const own = readVariable(environment, name)
      const isUnset = own.value === undefined && own.message === undefined
      const found = other !== undefined && isUnset ? readVariable(environment, other) : own
      if (found.message !== undefined) unread.push({ place, message: found.message })
      const resolved = found.value || fallback
      if (resolved === undefined) {
        missing.push({ place, name })
        isComplete = false
      }
      return resolved ?? ''
    })
    return isComplete ? replaced : ''
  }

  return { value: visit(value, ''), missing, broken, unread }
}
