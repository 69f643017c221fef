/** Token usage of generate-content: its prompt count includes the cache, its candidates count excludes thoughts. */
import { serviceTierOf } from '@/chat/service-tier'
import { tokenParts, tokensOf, type UnitCount } from '@/chat/units'
import { inputTokens, readCount, type Usage } from '@/chat/usage'
import type { CostPlace } from '@/formats/format'
import { createUnknownUsageSearch } from '@/formats/unknown-usage'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { isFinished } from './finish-reason'

/** Every chunk of a stream has the usage so far: the last is in the chunk with the finish reason, or in a later chunk with only usage. */
export const COST_PLACE: CostPlace = {
  usagePath({ candidates, usageMetadata }) {
    if (!isJsonObject(usageMetadata)) return undefined
    const isLast = !Array.isArray(candidates) || candidates.length === 0 || candidates.some(isFinished)
    return isLast ? ['usageMetadata'] : undefined
  },
  parts: { input: 'upstream_inference_prompt_cost', output: 'upstream_inference_completions_cost' },
}

/**
 * Splits `usageMetadata` into counts by kind. Undefined without a prompt count, or if any count is not a non-negative safe integer: our own
 * count is then used. Tokens that only the total includes are output, so that all are paid. A cache count larger than the prompt is
 * ignored, so that it gives no discount.
 */
export function decodeUsage(usage: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(usage) || readCount(usage.promptTokenCount) === undefined) return undefined
  const [prompt, cached, candidates, thoughts, toolUse, total] = COUNTS.map((name) => {
    const value = usage[name]
    return value === undefined || value === null ? 0 : readCount(value)
  })
  if (prompt === undefined || cached === undefined || candidates === undefined) return undefined
  if (thoughts === undefined || toolUse === undefined || total === undefined) return undefined
  const known = prompt + toolUse + candidates + thoughts
  const output = candidates + thoughts + Math.max(0, total - known)
  const cacheRead = cached <= prompt ? cached : 0
  const decoded = { ...NO_CACHE_WRITES, uncached: prompt - cacheRead + toolUse, cacheRead, output, reasoning: thoughts }
  if (!Object.values(decoded).every(Number.isSafeInteger)) return undefined
  const parts = readParts(usage, decoded.uncached, output)
  return parts ? { ...decoded, units: parts } : decoded
}

/** Token counts of sounds and pictures. Cached tokens don't count as uncached input. */
function readParts(usage: JsonObject, uncached: number, output: number): UnitCount[] | undefined {
  const { promptTokensDetails: prompt, toolUsePromptTokensDetails: tools, cacheTokensDetails: cache } = usage
  const { candidatesTokensDetails: candidates } = usage
  if (!hasMedia(prompt) && !hasMedia(tools) && !hasMedia(candidates)) return undefined
  const read = (modality: string) =>
    Math.max(0, tokensIn(prompt, modality) + tokensIn(tools, modality) - tokensIn(cache, modality))
  const [audio, image] = [tokensIn(candidates, 'AUDIO'), tokensIn(candidates, 'IMAGE')]
  return tokenParts(uncached, read('AUDIO'), read('IMAGE'), output, audio, image)
}

/** Whether the details of a count contain another modality than text. */
function hasMedia(details: JsonValue | undefined): boolean {
  return Array.isArray(details) && details.some((one) => isJsonObject(one) && one.modality !== 'TEXT')
}

function tokensIn(details: JsonValue | undefined, modality: string): number {
  let tokens = 0
  for (const one of Array.isArray(details) ? details : [])
    if (isJsonObject(one) && one.modality === modality) tokens += readCount(one.tokenCount) ?? 0
  return tokens
}

/** Prefix of Vertex AI's names for pay-per-use tiers. */
const PAID_BY_USE = /^ON_DEMAND_/

/** The service tier in `usageMetadata`: Gemini's own field, or Vertex AI's. */
export function tierOfUsage(usage: JsonValue | undefined): string | undefined {
  if (!isJsonObject(usage)) return undefined
  const { serviceTier, trafficType } = usage
  return serviceTierOf(serviceTier) ?? serviceTierOf(textOf(trafficType)?.replace(PAID_BY_USE, ''))
}

/** `usageMetadata` of an answer. */
export function encodeUsage(usage: Usage): JsonObject {
  const prompt = inputTokens(usage)
  const thoughts = Math.min(usage.reasoning, usage.output)
  const { units } = usage
  return {
    promptTokenCount: prompt,
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    candidatesTokenCount: usage.output - thoughts,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    totalTokenCount: prompt + usage.output,
    ...(units && detailsOf('promptTokensDetails', units, 'input', prompt)),
    ...(units && detailsOf('candidatesTokensDetails', units, 'output', usage.output - thoughts)),
  }
}

/** The details of a count by modality; nothing if all of it is text. */
function detailsOf(
  name: string,
  units: readonly UnitCount[],
  side: 'input' | 'output',
  total: number,
): JsonObject | undefined {
  const [audio, image] = [tokensOf(units, `${side}_audio`), tokensOf(units, `${side}_image`)]
  if (audio + image === 0) return undefined
  const counts = [
    { modality: 'TEXT', tokenCount: total - audio - image },
    { modality: 'AUDIO', tokenCount: audio },
    { modality: 'IMAGE', tokenCount: image },
  ]
  return { [name]: counts.filter(({ tokenCount }) => tokenCount > 0) }
}

const NO_CACHE_WRITES = { cacheWrite5m: 0, cacheWrite1h: 0 }
const COUNTS = [
  'promptTokenCount',
  'cachedContentTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
  'toolUsePromptTokenCount',
  'totalTokenCount',
]

/** Finds kinds of tokens in `usageMetadata` that have no price here. If the total includes them, they are charged as output. */
export const findUnknownUsage = createUnknownUsageSearch(COUNTS)
