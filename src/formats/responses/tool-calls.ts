/** The calls of tools: their arguments, and ids that providers of responses take. */
import { createNumberedIds, fitToolId } from '@/formats/openai'

export { decodeArguments, encodeArguments } from '@/formats/openai'

const ACCEPTED_ID = /^[A-Za-z0-9_-]{1,64}$/
const KEPT_CHARS = 40

/** An id that providers of responses accept, always the same for `id`, so that calls keep their outputs. */
export function encodeToolId(id: string): string {
  return fitToolId(id, ACCEPTED_ID, KEPT_CHARS)
}

/** Hands out the ids of one conversation: calls of one id in several turns, as some providers count them anew, are distinguished. */
export function createToolIds(): (id: string) => string {
  return createNumberedIds(encodeToolId)
}
