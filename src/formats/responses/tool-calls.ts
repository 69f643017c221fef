/** Converts the arguments and ids of tool calls for responses providers. */
import { createNumberedIds, fitToolId } from '@/formats/openai'

export { decodeArguments, encodeArguments } from '@/formats/openai'

const ACCEPTED_ID = /^[A-Za-z0-9_-]{1,64}$/
const KEPT_CHARS = 40

/** An id that providers of responses accept, always the same for `id`, so that outputs match their calls. */
export function encodeToolId(id: string): string {
  return fitToolId(id, ACCEPTED_ID, KEPT_CHARS)
}

/** Creates the ids of a conversation. Repeated ids, from providers that restart numbering at each turn, get a number. */
export function createToolIds(): (id: string) => string {
  return createNumberedIds(encodeToolId)
}
