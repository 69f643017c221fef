/** Why an answer ended, between the hub and a response's `status` and `incomplete_details`, both ways. */
import type { FinishKind, FinishReason } from '@/chat/response'
import { unlistedFinish } from '@/formats/unlisted-finish'
import { isJsonObject, type JsonObject, textOf } from '@/lib/json'

/** How a response says why it ended. */
export type Ending = { status: 'completed' | 'incomplete' | 'failed'; incomplete_details: { reason: string } | null }

/** The content of the answer besides its ending. */
type Emitted = { hasToolCalls: boolean; hasRefusal: boolean }

/** Those of `incomplete_details.reason` that were seen. Some leave it out: it is the length then. */
const KIND_OF_REASON: ReadonlyMap<string, FinishKind> = new Map([
  ['max_output_tokens', 'length'],
  ['max_tokens', 'length'],
  ['length', 'length'],
  ['max_messages', 'length'],
  // Cut short for other input.
  ['steered', 'length'],
  ['content_filter', 'content-filter'],
])
const FAILED: ReadonlySet<string> = new Set(['failed', 'cancelled'])
const COMPLETED: ReadonlySet<string> = new Set(['completed', 'complete'])

/** The ending of a whole response. One that was cut off stays so; no status counts as completed. */
export function decodeFinishReason(response: JsonObject, emitted: Emitted): FinishReason {
  const status = textOf(response.status)
  if (status === 'incomplete') {
    const details = response.incomplete_details
    const raw = isJsonObject(details) ? textOf(details.reason) : undefined
    const kind = raw === undefined ? 'length' : KIND_OF_REASON.get(raw)
    // A call in an answer that is incomplete may be cut short.
    return kind === undefined ? unlistedFinish(raw ?? status, false) : { kind, raw: raw ?? status }
  }
  if (status === undefined) return { kind: kindOfCompleted(emitted) }
  if (FAILED.has(status)) return { kind: 'error', raw: status }
  if (!COMPLETED.has(status) && !emitted.hasRefusal) return unlistedFinish(status, emitted.hasToolCalls)
  return { kind: kindOfCompleted(emitted), raw: status }
}

function kindOfCompleted({ hasToolCalls, hasRefusal }: Emitted): FinishKind {
  if (hasToolCalls) return 'tool-calls'
  return hasRefusal ? 'content-filter' : 'stop'
}

/** The reason as a response says it. What its calls and refusals say by being there, its status does not repeat. */
export function encodeFinishReason({ kind }: FinishReason): Ending {
  switch (kind) {
    case 'length':
    case 'context-length':
      return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    // It must not look whole, and the format has no nearer word.
    case 'unknown':
    case 'content-filter':
      return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
    case 'error':
      return { status: 'failed', incomplete_details: null }
    default:
      return { status: 'completed', incomplete_details: null }
  }
}
