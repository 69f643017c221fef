/** Sampling parameters for a generate-content provider: clamped to what the format takes. */
import { invalidRequest } from '@/chat/error'
import { lost } from '@/chat/features'
import type { ChatRequest, Warning } from '@/chat/request'
import { LIMITS } from '@/formats/generate-content/limits'
import type { JsonObject } from '@/lib/json'

/** The sampling fields of generationConfig. Throws `invalid_request` for too many stop sequences, unless lossy. */
export function encodeSampling(
  { sampling, preferences }: Pick<ChatRequest, 'sampling' | 'preferences'>,
  warnings: Warning[],
): JsonObject {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, seed, logprobs, topLogprobs } = sampling
  const stop = encodeStop(sampling.stop ?? [], preferences?.lossy === true, warnings)
  const isSeedKept = seed !== undefined && seed >= LIMITS.seed.minimum && seed <= LIMITS.seed.maximum
  if (seed !== undefined && !isSeedKept) warnings.push(lost('seed', 'only 32-bit seeds are possible'))
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

/** A stop sequence left out would let the answer run on, so too many are refused. */
function encodeStop(stop: readonly string[], isLossy: boolean, warnings: Warning[]): string[] {
  const { maxItems } = LIMITS.stopSequences
  const kept = stop.filter((sequence) => sequence !== '')
  if (kept.length > maxItems) {
    if (!isLossy) throw invalidRequest(`the provider of this model takes at most ${maxItems} stop sequences`)
    warnings.push(lost('stop', `only the first ${maxItems} sequences are kept`))
  }
  return kept.slice(0, maxItems)
}

function clamp(value: number, { minimum, maximum }: { minimum: number; maximum: number }): number {
  return Math.min(Math.max(value, minimum), maximum)
}
