/** Finish reasons that no table lists: the nearest kind by their name, and never a plain stop. */
import type { FinishKind, FinishReason } from '@/chat/response'

const MAX_RAW_CHARS = 64

/** The first that matches counts: `TOOL_CALL_BLOCKED` was filtered, `max_tool_calls` was a limit. */
const KINDS_BY_NAME: readonly (readonly [RegExp, FinishKind])[] = [
  [
    /safe|harm|block|armou?r|prohibit|filter|guard|refus|reject|denied|forbid|moderat|polic|recit|violat|censor|escalat|jailbreak|sensitive|pii/i,
    'content-filter',
  ],
  [/max|length|limit|token|truncat|budget|exceed|context/i, 'length'],
  [/tool|function/i, 'tool-calls'],
  [/error|fail|malform|abort|cancel/i, 'error'],
]

/**
 * The reason of a word that the format's table lacks. `isUnlisted` has it logged and counted. A name that means tool calls is `unknown`
 * where the answer has none; an answer with calls ended for them unless the name says otherwise.
 */
export function unlistedFinish(word: string, hasToolCalls: boolean): FinishReason {
  const named = KINDS_BY_NAME.find(([name]) => name.test(word))?.[1] ?? 'unknown'
  const isOfCalls = named === 'tool-calls' || named === 'unknown'
  return {
    kind: isOfCalls ? (hasToolCalls ? 'tool-calls' : 'unknown') : named,
    raw: word.slice(0, MAX_RAW_CHARS),
    isUnlisted: true,
  }
}
