/** Why an answer ended, between the hub and a response's `status` and `incomplete_details`, both ways. */
import type { FinishKind, FinishReason } from '@/chat/response'
import { isJsonObject, type JsonObject, textOf } from '@/lib/json'

/** How a response says why it ended. */
export type Ending = { status: 'completed' | 'incomplete' | 'failed'; incomplete_details: { reason: string } | null }

/** What the answer held beside its ending. */
type Emitted = { hasToolCalls: boolean; hasRefusal: boolean }

/** Those of `incomplete_details.reason` that were seen. Some leave it out: it is the length then. */
const KIND_OF_REASON: ReadonlyMap<string, FinishKind> = new Map([
  ['max_output_tokens', 'length'],
  ['max_tokens', 'length'],
  ['length', 'length'],
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
    return { kind: raw === undefined ? 'length' : (KIND_OF_REASON.get(raw) ?? 'unknown'), raw: raw ?? status }
  }
  return { kind: kindOfStatus(status, emitted), ...(status !== undefined && { raw: status }) }
}

function kindOfStatus(status: string | undefined, { hasToolCalls, hasRefusal }: Emitted): FinishKind {
  if (status !== undefined && FAILED.has(status)) return 'error'
  if (hasToolCalls) return 'tool-calls'
  if (hasRefusal) return 'content-filter'
  return status === undefined || COMPLETED.has(status) ? 'stop' : 'unknown'
}

/** The reason as a response says it. What its calls and refusals say by being there, its status does not repeat. */
export function encodeFinishReason({ kind }: FinishReason): Ending {
  switch (kind) {
    case 'length':
    case 'context-length':
      return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    case 'content-filter':
      return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
    case 'error':
      return { status: 'failed', incomplete_details: null }
    default:
      return { status: 'completed', incomplete_details: null }
  }
}
