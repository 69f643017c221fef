/** Finish reasons of messages: `stop_reason`, decoded and encoded. */
import type { FinishKind, FinishReason } from '@/chat/response'
import { unlistedFinish } from '@/formats/unlisted-finish'
import { textOf } from '@/lib/json'

const KIND_OF_STOP_REASON = new Map<string, FinishKind>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop-sequence'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context-length'],
  ['tool_use', 'tool-calls'],
  ['refusal', 'content-filter'],
  ['pause_turn', 'pause'],
  ['compaction', 'pause'],
])

/** An answer that failed or ended for an unknown reason must not look complete: `refusal` is the closest value. */
const STOP_REASON_OF_KIND: Record<FinishKind, string> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'context-length': 'model_context_window_exceeded',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
  pause: 'pause_turn',
  error: 'refusal',
  unknown: 'refusal',
}

/** Kinds that are replaced if the answer has a tool call or a refusal. With any other kind, a call may be incomplete or unwanted. */
const OVERRULED_BY_CALLS: ReadonlySet<FinishKind> = new Set(['stop', 'stop-sequence', 'error', 'unknown'])

/** A missing reason is a plain stop. An answer with a tool call ended for that call, whatever the provider reports. */
export function decodeFinishReason(stopReason: unknown, stopSequence: unknown, hasToolCalls: boolean): FinishReason {
  const raw = textOf(stopReason)
  const kind = KIND_OF_STOP_REASON.get(raw ?? 'end_turn')
  if (kind === undefined) return unlistedFinish(raw ?? '', hasToolCalls)
  return {
    kind: hasToolCalls && OVERRULED_BY_CALLS.has(kind) ? 'tool-calls' : kind,
    ...(raw !== undefined && { raw }),
    ...(typeof stopSequence === 'string' && { sequence: stopSequence }),
  }
}

/** The parts of an answer that decide how its finish reason is encoded. */
export type Emitted = { hasToolCalls: boolean; hasRefusal: boolean }

export type StopFields = { stop_reason: string; stop_sequence: string | null }

/** A stop sequence that the provider doesn't report becomes `end_turn`; `tool_use` is only sent if a call was emitted. */
export function encodeFinishReason(finish: FinishReason, emitted: Emitted): StopFields {
  const kind = effectiveKind(finish, emitted)
  return {
    stop_reason: STOP_REASON_OF_KIND[kind],
    stop_sequence: kind === 'stop-sequence' ? (finish.sequence ?? null) : null,
  }
}

function effectiveKind({ kind, sequence }: FinishReason, { hasToolCalls, hasRefusal }: Emitted): FinishKind {
  if (hasToolCalls && OVERRULED_BY_CALLS.has(kind)) return 'tool-calls'
  if (hasRefusal && OVERRULED_BY_CALLS.has(kind)) return 'content-filter'
  if (kind === 'tool-calls' && !hasToolCalls) return 'stop'
  return kind === 'stop-sequence' && sequence === undefined ? 'stop' : kind
}
