/** Finish reasons of generate-content, decoded and encoded. */
import type { FinishKind, FinishReason } from '@/chat/response'
import { unlistedFinish } from '@/formats/unlisted-finish'
import { isJsonObject, type JsonValue } from '@/lib/json'

const KIND_OF_WORD: ReadonlyMap<string, FinishKind> = new Map([
  ['STOP', 'stop'],
  ['FINISH_REASON_UNSPECIFIED', 'stop'],
  ['MAX_TOKENS', 'length'],
  // The provider would continue on request; the caller got a partial answer.
  ['CONTINUATION', 'length'],
  ['SAFETY', 'content-filter'],
  ['RECITATION', 'content-filter'],
  ['BLOCKLIST', 'content-filter'],
  ['PROHIBITED_CONTENT', 'content-filter'],
  ['SPII', 'content-filter'],
  ['IMAGE_SAFETY', 'content-filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content-filter'],
  ['IMAGE_RECITATION', 'content-filter'],
  ['MODEL_ARMOR', 'content-filter'],
  ['ESCALATION', 'content-filter'],
  ['PUP_LIMITED_DISABLED', 'content-filter'],
  ['LANGUAGE', 'error'],
  ['OTHER', 'error'],
  ['MALFORMED_FUNCTION_CALL', 'error'],
  ['UNEXPECTED_TOOL_CALL', 'error'],
  ['TOO_MANY_TOOL_CALLS', 'error'],
  ['IMAGE_OTHER', 'error'],
  ['NO_IMAGE', 'error'],
  ['MALFORMED_RESPONSE', 'error'],
  ['MISSING_THOUGHT_SIGNATURE', 'error'],
])

/** Decodes a finish reason. In this format, calls end with STOP. A value for a failure only counts if there is no content. */
export function decodeFinishReason(word: string, answer: { hasToolCalls: boolean; hasContent: boolean }): FinishReason {
  const said = KIND_OF_WORD.get(word)
  if (said === undefined) return unlistedFinish(word, answer.hasToolCalls)
  const settled = said === 'error' && answer.hasContent ? 'stop' : said
  return { kind: answer.hasToolCalls && settled === 'stop' ? 'tool-calls' : settled, raw: word }
}

/** The reason if the whole prompt was refused: a 200 without candidates. */
export function decodeBlockReason(word: string): FinishReason {
  return { kind: 'content-filter', raw: word }
}

/** Encodes a finish reason: the provider's own value if this format has it. */
export function encodeFinishReason(finish: FinishReason): string {
  if (finish.raw !== undefined && KIND_OF_WORD.has(finish.raw)) return finish.raw
  switch (finish.kind) {
    case 'length':
    case 'context-length':
      return 'MAX_TOKENS'
    case 'content-filter':
      return 'SAFETY'
    case 'error':
    case 'unknown':
      return 'OTHER'
    default:
      return 'STOP'
  }
}

/** Whether a candidate has a finish reason. */
export function isFinished(candidate: JsonValue): boolean {
  return isJsonObject(candidate) && typeof candidate.finishReason === 'string' && candidate.finishReason !== ''
}
