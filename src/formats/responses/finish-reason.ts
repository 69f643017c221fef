/** Finish reasons of responses, decoded and encoded: `status` and `incomplete_details`. */
import type { FinishKind, FinishReason } from '@/chat/response'
import { unlistedFinish } from '@/formats/unlisted-finish'
import { isJsonObject, type JsonObject, textOf } from '@/lib/json'

/** The fields of a response that say why it ended. */
export type Ending = { status: 'completed' | 'incomplete' | 'failed'; incomplete_details: { reason: string } | null }

type Emitted = { hasToolCalls: boolean; hasRefusal: boolean }

/** Known values of `incomplete_details.reason`. A missing reason means the output limit. */
const KIND_OF_REASON: ReadonlyMap<string, FinishKind> = new Map([
  ['max_output_tokens', 'length'],
  ['max_tokens', 'length'],
  ['length', 'length'],
  ['max_messages', 'length'],
  // The answer was interrupted by new input.
  ['steered', 'length'],
  ['content_filter', 'content-filter'],
])
const FAILED: ReadonlySet<string> = new Set(['failed', 'cancelled'])
const COMPLETED: ReadonlySet<string> = new Set(['completed', 'complete'])

/** Decodes a response's finish reason. An incomplete response stays incomplete; a missing status counts as completed. */
export function decodeFinishReason(response: JsonObject, emitted: Emitted): FinishReason {
  const status = textOf(response.status)
  if (status === 'incomplete') {
    const details = response.incomplete_details
    const raw = isJsonObject(details) ? textOf(details.reason) : undefined
    const kind = raw === undefined ? 'length' : KIND_OF_REASON.get(raw)
    // In an incomplete answer, a call may be incomplete too.
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

/** Encodes why an answer ended. Calls and refusals are visible in the content, so they don't affect the status. */
export function encodeFinishReason({ kind }: FinishReason): Ending {
  switch (kind) {
    case 'length':
    case 'context-length':
      return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    // An answer that ended for an unknown reason must not look complete, and this is the closest value.
    case 'unknown':
    case 'content-filter':
      return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
    case 'error':
      return { status: 'failed', incomplete_details: null }
    default:
      return { status: 'completed', incomplete_details: null }
  }
}
