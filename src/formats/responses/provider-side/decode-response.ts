/** Decodes a complete response of a responses provider. */
import type { AnswerBlock, ChatResponse } from '@/chat/response'
import { serviceTierOf } from '@/chat/service-tier'
import { movedBy } from '@/chat/sources'
import { decodeFinishReason } from '@/formats/responses/finish-reason'
import { decodeToolUses } from '@/formats/responses/server-tools'
import { decodeUsage, findUnknownUsage } from '@/formats/responses/usage'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { decodeItem } from './decode-content'

const FAILED: ReadonlySet<JsonValue | undefined> = new Set(['failed', 'cancelled'])
/** Statuses of an unfinished answer. Without a stream, the rest of the answer never arrives. */
const UNFINISHED: ReadonlySet<JsonValue | undefined> = new Set(['queued', 'in_progress'])

/** Decodes an answer. Undefined if `body` has another shape, or is a response that failed (with status 200) or has not started. */
export function decodeResponse(body: JsonValue): ChatResponse | undefined {
  if (!isJsonObject(body) || body.error || FAILED.has(body.status) || !Array.isArray(body.output)) return undefined
  const content = withTextPlaces(body.output.flatMap(decodeItem))
  if (content.length === 0 && UNFINISHED.has(body.status)) return undefined
  const emitted = {
    hasToolCalls: content.some((block) => block.type === 'tool-call'),
    hasRefusal: content.some((block) => block.type === 'refusal'),
  }
  const unknownUsage = findUnknownUsage(body.usage)
  const serviceTier = serviceTierOf(body.service_tier)
  const toolUses = decodeToolUses(body)
  const logprobs = readLogprobs(body.output)
  return {
    id: textOf(body.id) ?? '',
    created: readCreated(body.created_at),
    model: textOf(body.model) ?? '',
    choices: [{ index: 0, content, finish: decodeFinishReason(body, emitted), ...(logprobs && { logprobs }) }],
    usage: decodeUsage(body.usage) ?? null,
    ...(unknownUsage && { unknownUsage }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(toolUses && { toolUses }),
  }
}

/** Converts source positions, which this format counts per part, to positions in the whole text. */
function withTextPlaces(content: AnswerBlock[]): AnswerBlock[] {
  let before = 0
  for (const block of content) {
    if (block.type !== 'text') continue
    if (block.sources && before > 0) block.sources = movedBy(block.sources, before)
    before += block.text.length
  }
  return content
}

/** Whole seconds, since some providers send fractions. 0 for an invalid time. */
export function readCreated(value: JsonValue | undefined): number {
  return typeof value === 'number' && Number.isSafeInteger(Math.floor(value)) ? Math.max(0, Math.floor(value)) : 0
}

function readLogprobs(output: readonly JsonValue[]): JsonObject | undefined {
  const parts = output.flatMap((item) => (isJsonObject(item) && Array.isArray(item.content) ? item.content : []))
  const content = parts.flatMap((part) => (isJsonObject(part) && Array.isArray(part.logprobs) ? part.logprobs : []))
  return content.length > 0 ? { content, refusal: null } : undefined
}
