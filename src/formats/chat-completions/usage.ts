/** Converts token usage between chat-completions, whose prompt count includes the cache, and the hub's five kinds of tokens. */
import { tokenParts } from '@/chat/units'
import { inputTokens, readCount, type Usage } from '@/chat/usage'
import type { CostPlace } from '@/formats/format'
import { mediaDetails } from '@/formats/token-details'
import { createUnknownUsageSearch } from '@/formats/unknown-usage'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { MAX_NANO, NANO_PER_USD, type Nano, nano } from '@/lib/money'

/** The usage as token counts by kind; undefined if a total is not a safe integer. Details that contradict the totals give no discount. */
export function decodeUsage(usage: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(usage)) return undefined
  const prompt = readCount(usage.prompt_tokens)
  const completion = readCount(usage.completion_tokens)
  if (prompt === undefined || completion === undefined) return undefined
  const promptDetails = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : NO_DETAILS
  const completionDetails = isJsonObject(usage.completion_tokens_details) ? usage.completion_tokens_details : NO_DETAILS
  const total = readCount(usage.total_tokens)
  const cached =
    readCount(promptDetails.cached_tokens) ??
    readCount(usage.cached_tokens) ??
    readCount(usage.prompt_cache_hit_tokens) ??
    readCount(usage.cache_read_input_tokens) ??
    0
  const written = readWritten(usage, promptDetails)
  const reasoning = readCount(completionDetails.reasoning_tokens) ?? 0
  const beside = total === undefined ? undefined : total - prompt - completion
  const cache = cached + written.total
  const isBeside = beside !== undefined && isCacheBeside(beside, reasoning, cache)
  const output = divideOutput(completion, reasoning, isBeside ? beside - cache : beside)
  const decoded: Usage = Object.assign(divideInput(isBeside ? prompt + cache : prompt, cached, written), output)
  const parts = tokenParts(
    decoded.uncached,
    readCount(promptDetails.audio_tokens) ?? 0,
    readCount(promptDetails.image_tokens) ?? 0,
    decoded.output,
    readCount(completionDetails.audio_tokens) ?? 0,
    readCount(completionDetails.image_tokens) ?? 0,
  )
  if (parts) decoded.units = parts
  return decoded
}

const NO_DETAILS: JsonObject = {}

/** The cost is added to the usage, which only the last chunk contains. */
export const COST_PLACE: CostPlace = {
  usagePath: ({ usage }) => (isJsonObject(usage) ? ['usage'] : undefined),
  parts: { input: 'upstream_inference_prompt_cost', output: 'upstream_inference_completions_cost' },
}

/** The usage of a whole answer or chunk; some providers send it in an extension or in the choice. */
export function findUsage(body: JsonObject): JsonValue | undefined {
  if (isJsonObject(body.usage)) return body.usage
  if (isJsonObject(body.x_groq) && isJsonObject(body.x_groq.usage)) return body.x_groq.usage
  const choices = Array.isArray(body.choices) ? body.choices : []
  for (const choice of choices) if (isJsonObject(choice) && isJsonObject(choice.usage)) return choice.usage
  return undefined
}

/** xAI reports cost in ticks, 10¹⁰ of which are one USD. */
const TICKS_PER_NANO = 10

/** The cost stated by OpenRouter (USD) or xAI (ticks). Undefined if missing, implausible, or only a fee on another vendor's price. */
export function readStatedCost(usage: JsonValue | undefined): Nano | undefined {
  if (!isJsonObject(usage) || usage.is_byok === true) return undefined
  const { cost, cost_in_usd_ticks: ticks } = usage
  const amount =
    typeof ticks === 'number' ? ticks / TICKS_PER_NANO : typeof cost === 'number' ? cost * NANO_PER_USD : -1
  return amount >= 0 && amount <= MAX_NANO ? nano(Math.round(amount)) : undefined
}

/** Whether a chunk contains only usage, as requested by `stream_options.include_usage`. */
export function isUsageOnlyChunk(chunk: JsonObject): boolean {
  const hasNoChoice = chunk.choices === undefined || (Array.isArray(chunk.choices) && chunk.choices.length === 0)
  return hasNoChoice && isJsonObject(chunk.usage)
}

/** The usage object of an answer. */
export function encodeUsage(usage: Usage): JsonObject {
  const prompt = inputTokens(usage)
  const written = usage.cacheWrite5m + usage.cacheWrite1h
  const { units } = usage
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(written > 0 && { cache_write_tokens: written }),
      ...(units && mediaDetails(units, 'input')),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning, ...(units && mediaDetails(units, 'output')) },
  }
}

type Written = { total: number; forHour: number; isSplit: boolean }

/** Reads the counts of cache writes, in OpenRouter's fields or in LiteLLM's, which equal those of the messages format. */
function readWritten(usage: JsonObject, details: JsonObject): Written {
  const total =
    readCount(details.cache_write_tokens) ??
    readCount(details.cache_creation_tokens) ??
    readCount(usage.cache_creation_input_tokens) ??
    0
  const own = details.cache_creation_token_details
  const split = isJsonObject(own) ? own : usage.cache_creation
  const [brief, long] = isJsonObject(split)
    ? [readCount(split.ephemeral_5m_input_tokens) ?? 0, readCount(split.ephemeral_1h_input_tokens) ?? 0]
    : [0, 0]
  return { total, forHour: Math.min(long, total), isSplit: total > 0 && brief + long >= total }
}

function divideInput(
  prompt: number,
  cached: number,
  { total, forHour, isSplit }: Written,
): Pick<Usage, 'uncached' | 'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h' | 'areWritesSplit'> {
  if (cached + total > prompt) return { uncached: prompt, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }
  const uncached = prompt - cached - total
  const written = {
    cacheWrite5m: total - forHour,
    cacheWrite1h: forHour,
    ...(isSplit && { areWritesSplit: true as const }),
  }
  return { uncached, cacheRead: cached, ...written }
}

function isCacheBeside(beside: number, reasoning: number, cache: number): boolean {
  return cache > 0 && beside !== reasoning && (beside === cache || beside === cache + reasoning)
}

/**
 * `beside`: the total minus prompt and completion; undefined without a total. Some providers count reasoning only in the total. They also
 * state its number (xAI: 12 + 1 + 228 = 241) or not (Gemini: 100 + 10, total 610). Such tokens count as output, so that all are paid.
 * Without a total, reasoning that exceeds the completion is added to the completion.
 */
function divideOutput(
  completion: number,
  reasoning: number,
  beside: number | undefined,
): Pick<Usage, 'output' | 'reasoning'> {
  const more = beside === undefined ? (reasoning > completion ? reasoning : 0) : Math.max(0, beside)
  const output = completion + more
  return Number.isSafeInteger(output)
    ? { output, reasoning: Math.min(Math.max(reasoning, more), output) }
    : { output: completion, reasoning: 0 }
}

/** Finds kinds of tokens that have no price here. Known counts that some services repeat under other names are ignored. */
export const findUnknownUsage = createUnknownUsageSearch(
  [
    'prompt_tokens',
    'completion_tokens',
    'total_tokens',
    'cached_tokens',
    'prompt_cache_hit_tokens',
    'prompt_cache_miss_tokens',
    'cache_read_input_tokens',
    'cache_creation_input_tokens',
    'reasoning_tokens',
    'input_tokens',
    'output_tokens',
  ],
  {
    prompt_tokens_details: [
      'cached_tokens',
      'cache_write_tokens',
      'cache_creation_tokens',
      'audio_tokens',
      'image_tokens',
      'text_tokens',
    ],
    cache_creation: ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'],
    completion_tokens_details: [
      'reasoning_tokens',
      'audio_tokens',
      'image_tokens',
      'text_tokens',
      'accepted_prediction_tokens',
      'rejected_prediction_tokens',
    ],
  },
)
