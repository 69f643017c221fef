/** Sampling parameters for a generate-content provider: clamped to what the format takes. */
import type { Sampling, Warning } from '@/chat/request'
import { LIMITS } from '@/formats/generate-content/limits'
import type { JsonObject } from '@/lib/json'

/** The fields of generationConfig that say how to choose among words. */
export function encodeSampling(sampling: Sampling, warnings: Warning[]): JsonObject {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, seed, logprobs, topLogprobs } = sampling
  const stop = encodeStop(sampling.stop ?? [], warnings)
  const isSeedKept = seed !== undefined && seed >= LIMITS.seed.minimum && seed <= LIMITS.seed.maximum
  if (seed !== undefined && !isSeedKept)
    warnings.push({ feature: 'sampling.seed', detail: 'only 32-bit seeds are possible' })
  return {
    ...(temperature !== undefined && { temperature: clamp(temperature, LIMITS.temperature) }),
    ...(topP !== undefined && { topP: clamp(topP, LIMITS.topP) }),
    ...(topK !== undefined && topK > 0 && { topK }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty: clamp(frequencyPenalty, PENALTY) }),
    ...(presencePenalty !== undefined && { presencePenalty: clamp(presencePenalty, PENALTY) }),
    ...(isSeedKept && { seed }),
    ...(logprobs && { responseLogprobs: true, ...(topLogprobs !== undefined && { logprobs: topLogprobs }) }),
    ...(stop.length > 0 && { stopSequences: stop }),
  }
}

/** Providers take penalties from -2 up to, but not including, 2. */
const PENALTY = { minimum: LIMITS.penalty.minimum, maximum: 1.99 }

function encodeStop(stop: readonly string[], warnings: Warning[]): string[] {
  const { maxItems } = LIMITS.stopSequences
  const kept = stop.filter((sequence) => sequence !== '')
  if (kept.length > maxItems)
    warnings.push({ feature: 'sampling.stop', detail: `only the first ${maxItems} sequences are kept` })
  return kept.slice(0, maxItems)
}

function clamp(value: number, { minimum, maximum }: { minimum: number; maximum: number }): number {
  return Math.min(Math.max(value, minimum), maximum)
}
