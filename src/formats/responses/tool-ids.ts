/** Ids of calls that providers of responses accept: at most 64 characters of A-Z, a-z, 0-9, `_` and `-`. */
import { sha256Hex } from '@/lib/ids'

const ACCEPTED_ID = /^[A-Za-z0-9_-]{1,64}$/
const ILLEGAL_CHARACTERS = /[^A-Za-z0-9_-]/g
const KEPT_CHARS = 40
const DIGEST_CHARS = 12

/** `id` itself where it is acceptable, else some characters and a digest: always the same, so calls keep their outputs. */
export function encodeToolId(id: string): string {
  if (ACCEPTED_ID.test(id)) return id
  const clean = id.replace(ILLEGAL_CHARACTERS, '_').slice(0, KEPT_CHARS)
  return `${clean || 'call'}_${sha256Hex(id).slice(0, DIGEST_CHARS)}`
}

/** Hands out the ids of one conversation: calls of one id in several turns, as some providers count them anew, are told apart. */
export function createToolIds(): (id: string) => string {
  const occurrences = new Map<string, number>()
  return (id) => {
    const count = (occurrences.get(id) ?? 0) + 1
    occurrences.set(id, count)
    return encodeToolId(count === 1 ? id : `${id}#${count}`)
  }
}
