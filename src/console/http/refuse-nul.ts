/** Refuses the one character that no database stores: a text with a NUL in it would fail wherever it ends up. */
import { invalidRequest } from '@/chat/error'
import type { JsonValue } from '@/lib/json'

const NUL = String.fromCharCode(0)

/** Throws `invalid_request` for a body with a NUL in any text or name. Its depth is bounded by whoever has read it. */
export function refuseNul(body: JsonValue): void {
  if (hasNul(body)) throw invalidRequest('The body must not contain the character NUL (U+0000).')
}

/** Likewise for an address and its query. */
export function refuseNulIn(url: string): void {
  if (url.includes('%00')) throw invalidRequest('The address must not contain the character NUL (U+0000).')
}

function hasNul(value: JsonValue): boolean {
  if (typeof value === 'string') return value.includes(NUL)
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasNul)
  return Object.entries(value).some(([name, item]) => name.includes(NUL) || hasNul(item as JsonValue))
}
