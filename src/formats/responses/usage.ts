/** Converts token usage of responses, whose input count includes the cache and whose output count includes reasoning. */
import { tokenParts } from '@/chat/units'
import { inputTokens, readCount, type Usage } from '@/chat/usage'
import type { CostPlace } from '@/formats/format'
import { mediaDetails } from '@/formats/token-details'
import { createUnknownUsageSearch } from '@/formats/unknown-usage'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

/** The place of the usage in an answer. In a stream, only the last event's response has it. */
export const COST_PLACE: CostPlace = {
  usagePath({ response, usage }) {
    if (isJsonObject(response)) return isJsonObject(response.usage) ? ['response', 'usage'] : undefined
    return isJsonObject(usage) ? ['usage'] : undefined
  },
  parts: { input: 'upstream_inference_input_cost', output: 'upstream_inference_output_cost' },
}

/**
 * Splits the usage object into counts by kind. Undefined unless both totals are non-negative safe integers: our own count is then used.
 * Tokens that only the total includes are output, so that all are paid. A cache count larger than the input is ignored, so that it gives no
 * discount.
 */
export function decodeUsage(usage: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(usage)) return undefined
  const input = readCount(usage.input_tokens)
  const stated = readCount(usage.output_tokens)
  if (input === undefined || stated === undefined) return undefined
  const inputDetails = isJsonObject(usage.input_tokens_details) ? usage.input_tokens_details : NO_DETAILS
  const outputDetails = isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : NO_DETAILS
  const total = readCount(usage.total_tokens)
  const output = total === undefined ? stated : Math.max(stated, total - input)
  const decoded: Usage = {
    ...divideInput(input, inputDetails),
    output,
    reasoning: Math.min(readCount(outputDetails.reasoning_tokens) ?? 0, output),
  }
  const parts = tokenParts(
    decoded.uncached,
    readCount(inputDetails.audio_tokens) ?? 0,
    readCount(inputDetails.image_tokens) ?? 0,
    output,
    readCount(outputDetails.audio_tokens) ?? 0,
    readCount(outputDetails.image_tokens) ?? 0,
  )
  if (parts) decoded.units = parts
  return decoded
}

const NO_DETAILS: JsonObject = {}

function divideInput(
  input: number,
  details: JsonObject,
): Pick<Usage, 'uncached' | 'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h'> {
  const cacheRead = readCount(details.cached_tokens) ?? 0
  const split = isJsonObject(details.cache_write_tokens_details) ? details.cache_write_tokens_details : {}
  const short = readCount(split.ttl_30m_tokens)
  const long = readCount(split.ttl_12h_tokens)
  const written = readCount(details.cache_write_tokens) ?? (short ?? 0) + (long ?? 0)
  if (cacheRead + written > input) return { uncached: input, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }
  const cacheWrite1h = Math.min(long ?? 0, written)
  return { uncached: input - cacheRead - written, cacheRead, cacheWrite5m: written - cacheWrite1h, cacheWrite1h }
}

/** An answer's `usage`, always with both details objects and their counts, which some clients require. */
export function encodeUsage(usage: Usage): JsonObject {
  const input = inputTokens(usage)
  const { units } = usage
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
      ...(units && mediaDetails(units, 'input')),
    },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning, ...(units && mediaDetails(units, 'output')) },
    total_tokens: input + usage.output,
  }
}

export const findUnknownUsage = createUnknownUsageSearch(['input_tokens', 'output_tokens', 'total_tokens'], {
  input_tokens_details: ['cached_tokens', 'cache_write_tokens', 'audio_tokens', 'image_tokens', 'text_tokens'],
  output_tokens_details: ['reasoning_tokens', 'audio_tokens', 'image_tokens', 'text_tokens'],
})
