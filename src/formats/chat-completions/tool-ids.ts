/** Tool call ids that every chat-completions service accepts: at most 40 characters of A-Z, a-z, 0-9, `_` and `-`. */
import { sha256Hex } from '@/lib/ids'

const MAX_ID_CHARS = 40
const DIGEST_CHARS = 12
const ACCEPTED_ID = /^[A-Za-z0-9_-]{1,40}$/

/** `id` itself where it is acceptable, else some characters and a digest: always the same, so calls keep their results. */
function encodeToolId(id: string): string {
  if (ACCEPTED_ID.test(id)) return id
  const clean = id.slice(0, MAX_ID_CHARS).replaceAll(/[^A-Za-z0-9_-]/g, '_')
  const digest = sha256Hex(id).slice(0, DIGEST_CHARS)
  return `${clean.slice(0, MAX_ID_CHARS - DIGEST_CHARS - 1) || 'call'}_${digest}`
}

/** Hands out the ids of one turn, where alone they have to be unique: a call that repeats one gets told apart by number. */
export function createToolIds(): (id: string) => string {
  const occurrences = new Map<string, number>()
  return (id) => {
    const count = (occurrences.get(id) ?? 0) + 1
    occurrences.set(id, count)
    return encodeToolId(count === 1 ? id : `${id}#${count}`)
  }
}
