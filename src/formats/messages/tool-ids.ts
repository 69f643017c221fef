/**
 * Tool-call ids that the messages format accepts: letters, digits, `_` and `-`, unique where the API wants them unique.
 */
import { sha256Hex } from '@/lib/ids'

const LEGAL = /^[a-zA-Z0-9_-]+$/
const ILLEGAL_CHARACTERS = /[^a-zA-Z0-9_-]/g
const MAX_CHARS = 128
const KEPT_CHARS = 48
const DIGEST_CHARS = 8

/** The same legal id for the same `id` every time; a legal one stays as it is. Different ids stay different. */
function encodeToolId(id: string): string {
  if (LEGAL.test(id) && id.length <= MAX_CHARS) return id
  const clean = id.replace(ILLEGAL_CHARACTERS, '_').slice(0, KEPT_CHARS)
  return `${clean || 'toolu'}_${sha256Hex(id).slice(0, DIGEST_CHARS)}`
}

/** Hands out a legal id for each call, a fresh one where the same was handed out before. Constant time per call. */
export function createToolIds(): (id: string) => string {
  const used = new Set<string>()
  const counts = new Map<string, number>()
  return (id) => {
    const base = encodeToolId(id)
    let unique = base
    while (used.has(unique)) {
      const count = (counts.get(base) ?? 1) + 1
      counts.set(base, count)
      unique = `${base}_${count}`
    }
    used.add(unique)
    return unique
  }
}
