/** Finish reasons of chat-completions, decoded and encoded. */
import type { FinishKind, FinishReason } from '@/chat/response'
import { unlistedFinish } from '@/formats/unlisted-finish'
import type { JsonValue } from '@/lib/json'

/** OpenAI's five values, and values of compatible providers. */
const KIND_OF_WORD: ReadonlyMap<string, FinishKind> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop-sequence'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'context-length'],
  ['tool_calls', 'tool-calls'],
  ['tool_use', 'tool-calls'],
  ['function_call', 'tool-calls'],
  ['content_filter', 'content-filter'],
  ['safety', 'content-filter'],
  ['refusal', 'content-filter'],
  ['error', 'error'],
])

/** Values that some providers send instead of null. */
const NO_WORDS: ReadonlySet<string> = new Set(['', 'null', 'none'])
/** The parts of an answer that decide how its finish reason is encoded. */
type Emitted = { hasToolCalls: boolean; hasRefusal: boolean }

/** Decodes a finish reason, corrected by the content: a stop with a call is a tool call, for instance. */
export function decodeFinishReason(word: string | undefined, { hasToolCalls, hasRefusal }: Emitted): FinishReason {
  const isSaid = word !== undefined && !NO_WORDS.has(word.toLowerCase())
  const said = isSaid ? KIND_OF_WORD.get(word.toLowerCase()) : 'stop'
  if (said === undefined && word !== undefined && !hasRefusal) return unlistedFinish(word, hasToolCalls)
  const settled = settleToolCalls(said ?? 'unknown', hasToolCalls)
  const kind = hasRefusal && (settled === 'stop' || settled === 'unknown') ? 'content-filter' : settled
  return word === undefined ? { kind } : { kind, raw: word }
}

/**
 * Encodes a finish reason. A refusal by the model is `stop`, because clients that parse answers throw at any other value. An answer that
 * failed or ended for an unknown reason must not look complete: `content_filter` is the closest published value.
 */
export function encodeFinishReason(
  finish: FinishReason,
  { hasToolCalls, hasRefusal }: Emitted,
  isDeprecated = false,
): string {
  switch (settleToolCalls(finish.kind, hasToolCalls)) {
    case 'length':
    case 'context-length':
      return 'length'
    case 'tool-calls':
      return isDeprecated ? 'function_call' : 'tool_calls'
    case 'error':
    case 'unknown':
    case 'content-filter':
      return hasRefusal && !hasToolCalls ? 'stop' : 'content_filter'
    default:
      return 'stop'
  }
}

const PUBLISHED: ReadonlySet<string> = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call'])

/** Converts a provider's reason to one of the five published values; unchanged if its meaning is unknown, null if missing. */
export function publishedReason(given: JsonValue): string | null {
  if (typeof given !== 'string' || NO_WORDS.has(given.toLowerCase())) return null
  const kind = PUBLISHED.has(given) ? undefined : KIND_OF_WORD.get(given.toLowerCase())
  return kind === undefined || kind === 'error'
    ? given
    : encodeFinishReason({ kind }, { hasToolCalls: kind === 'tool-calls', hasRefusal: false })
}

/** Kinds that become `tool-calls` if the answer has a tool call. */
const OVERRULED_BY_CALLS: ReadonlySet<FinishKind> = new Set(['stop', 'stop-sequence', 'pause', 'unknown'])

/** A truncated answer keeps its finish reason, since its calls may be incomplete. */
function settleToolCalls(kind: FinishKind, hasToolCalls: boolean): FinishKind {
  if (hasToolCalls) return OVERRULED_BY_CALLS.has(kind) ? 'tool-calls' : kind
  return kind === 'tool-calls' ? 'stop' : kind
}
