/** Refuses the one character that no database stores: a text with a NUL in it would fail wherever it ends up. */
import { invalidRequest } from '@/chat/error'
import type { JsonObject, JsonValue } from '@/lib/json'

const NUL = String.fromCharCode(0)

/** Throws `invalid_request` for a body with a NUL in any text or name. Its depth is bounded by whoever has read it. */
export function refuseNul(body: JsonObject): void {
  for (const [name, value] of Object.entries(body)) {
    if (!hasNul(name) && !hasNul(value)) continue
    const field = name.replaceAll(NUL, '')
    throw invalidRequest(`${field || 'The body'}: must not contain the character NUL (U+0000).`, field || undefined)
  }
}

/** Likewise for an address and its query. */
export function refuseNulIn(url: string): void {
  if (!url.includes('%00')) return
  const [field] = [...new URL(url).searchParams].find((parameter) => hasNul(parameter)) ?? []
  throw invalidRequest(`${field ?? 'The address'}: must not contain the character NUL (U+0000).`, field)
}

function hasNul(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return value.includes(NUL)
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasNul)
  return Object.entries(value).some(([name, item]) => name.includes(NUL) || hasNul(item))
}
