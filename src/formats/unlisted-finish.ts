/** Classifies finish reasons that no table lists, by their name, never as a plain stop. */
import type { FinishKind, FinishReason } from '@/chat/response'

const MAX_RAW_CHARS = 64

/** The first match counts: `TOOL_CALL_BLOCKED` means a filter, and `max_tool_calls` a limit. */
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
 * The reason for a value missing from the format's table. `isUnlisted` makes the gateway log and count it. If the answer has calls, the
 * reason is a tool call, unless the value clearly means something else. A value that means tool calls is `unknown` in an answer without
 * calls.
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
