/** Usage of messages: `input_tokens` excludes the cache, `output_tokens` includes reasoning. */
import { serviceTierOf } from '@/chat/service-tier'
import { type Usage, ZERO_USAGE } from '@/chat/usage'
import type { CostPlace } from '@/formats/format'
import { createUnknownUsageSearch } from '@/formats/unknown-usage'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

/** Larger counts are invalid: no model reads or writes so much in one request. */
const MAX_TOKENS = 1_000_000_000

/** The cost is added to the last usage. The first usage of a stream is a field of `message`, so this path does not match it. */
export const COST_PLACE: CostPlace = {
  usagePath: ({ usage }) => (isJsonObject(usage) ? ['usage'] : undefined),
  parts: { input: 'upstream_inference_input_cost', output: 'upstream_inference_output_cost' },
}

/** Decodes a usage object. Undefined if a count is implausible: our own count is then used. Fractions are rounded up. */
export function decodeUsage(usage: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(usage)) return undefined
  const uncached = count(usage.input_tokens)
  const output = count(usage.output_tokens)
  const cacheRead = optionalCount(usage.cache_read_input_tokens)
  const cacheWrite = decodeCacheWrite(usage)
  if (uncached === undefined || output === undefined || cacheRead === undefined || !cacheWrite) return undefined
  const details = usage.output_tokens_details
  const thinking = isJsonObject(details) ? (count(details.thinking_tokens) ?? 0) : 0
  return { uncached, cacheRead, ...cacheWrite, output, reasoning: Math.min(thinking, output) }
}

/** Cache writes by lifetime. Tokens of the total that no part includes count as 5m, or as 1h if only 1h writes are stated. */
function decodeCacheWrite(
  usage: JsonObject,
): Pick<Usage, 'cacheWrite5m' | 'cacheWrite1h' | 'areWritesSplit'> | undefined {
  const split = isJsonObject(usage.cache_creation) ? usage.cache_creation : {}
  const split5m = optionalCount(split.ephemeral_5m_input_tokens)
  const split1h = optionalCount(split.ephemeral_1h_input_tokens)
  if (split5m === undefined || split1h === undefined) return undefined
  const stated = usage.cache_creation_input_tokens
  const total = stated === undefined || stated === null ? split5m + split1h : count(stated)
  if (total === undefined) return undefined
  const cacheWrite1h = split5m === 0 && split1h > 0 ? total : Math.min(split1h, total)
  const isSplit = total > 0 && split5m + split1h >= total
  return { cacheWrite5m: total - cacheWrite1h, cacheWrite1h, ...(isSplit && { areWritesSplit: true }) }
}

function count(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= MAX_TOKENS ? Math.abs(Math.ceil(value)) : undefined
}

/** A missing count is zero; a present count must be valid. */
function optionalCount(value: JsonValue | undefined): number | undefined {
  return value === undefined || value === null ? 0 : count(value)
}

/** Merges a later usage object of the stream: its fields replace earlier ones, but the output count never decreases. */
export function mergeUsage(earlier: JsonObject, later: JsonValue | undefined): JsonObject {
  if (!isJsonObject(later)) return earlier
  const merged = { ...earlier }
  for (const field of USAGE_FIELDS) {
    const value = later[field]
    if (value !== undefined && value !== null) merged[field] = value
  }
  const before = count(earlier.output_tokens)
  const after = count(later.output_tokens)
  if (before !== undefined && after !== undefined) merged.output_tokens = Math.max(before, after)
  return merged
}

const USAGE_FIELDS = [
  'input_tokens',
  'output_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'cache_creation',
  'output_tokens_details',
  'service_tier',
] as const

/** The service tier named by a usage object. */
export function tierOfUsage(usage: JsonValue | undefined): string | undefined {
  return isJsonObject(usage) ? serviceTierOf(usage.service_tier) : undefined
}

/** Encodes a usage object with all fields that client libraries read. */
export function encodeUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.uncached,
    cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite5m,
      ephemeral_1h_input_tokens: usage.cacheWrite1h,
    },
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
    server_tool_use: null,
    service_tier: null,
  }
}

/** A usage object to send before the provider has reported usage, marked as an estimate; the charged usage follows at the end. */
export function encodeEstimate(inputTokens: number): JsonObject {
  return { ...encodeUsage(estimatedUsage(inputTokens)), estimated: true }
}

/** The usage assumed before the provider has reported any: estimated input, no output. */
export function estimatedUsage(inputTokens: number): Usage {
  return { ...ZERO_USAGE, uncached: inputTokens }
}

/** Finds kinds of tokens in a usage object that have no price here. */
export const findUnknownUsage = createUnknownUsageSearch(
  ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'],
  {
    cache_creation: ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'],
    output_tokens_details: ['thinking_tokens'],
    server_tool_use: [],
  },
)
