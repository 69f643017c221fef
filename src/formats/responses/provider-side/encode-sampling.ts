/** Sampling parameters for a responses provider: few are left of them, and what has no word here is dropped or refused. */
import { invalidRequest } from '@/chat/error'
import type { Sampling, Warning } from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import { QUIRKS } from '@/formats/responses/quirks'
import type { JsonObject } from '@/lib/json'

const TEMPERATURE = { minimum: 0, maximum: 2 }
const TOP_P = { minimum: 0, maximum: 1 }
const TOP_LOGPROBS = { minimum: 0, maximum: 20 }
/** What has to be included in an answer for its log probabilities to be in it. */
export const LOGPROBS_INCLUDE = 'message.output_text.logprobs'

/**
 * Reads the quirk `noSampling`. Throws a GatewayError `invalid_request` for stop sequences: the format has no word for them, and
 * an answer that runs on past one is another answer.
 */
export function encodeSampling(sampling: Sampling, traits: TargetTraits, warnings: Warning[]): JsonObject {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, seed, stop, logprobs, topLogprobs } = sampling
  if (stop?.some((sequence) => sequence !== '')) {
    throw invalidRequest('stop: this model takes no stop sequences; send the request without them', 'stop')
  }
  const lacking = { top_k: topK, frequency_penalty: frequencyPenalty, presence_penalty: presencePenalty, seed }
  for (const [feature, value] of Object.entries(lacking)) {
    if (value !== undefined) warnings.push({ feature, detail: 'this format has no such parameter' })
  }
  const chosen: JsonObject = {
    ...(temperature !== undefined && { temperature: clamped(temperature, TEMPERATURE) }),
    ...(topP !== undefined && { top_p: clamped(topP, TOP_P) }),
    ...(logprobs && { top_logprobs: clamped(topLogprobs ?? 0, TOP_LOGPROBS) }),
  }
  if (!traits.quirks.has(QUIRKS.noSampling)) return chosen
  if (Object.keys(chosen).length > 0) {
    warnings.push({ feature: 'sampling', detail: 'this model takes no temperature, top_p or log probabilities' })
  }
  return {}
}

function clamped(value: number, range: { minimum: number; maximum: number }): number {
  return Math.min(range.maximum, Math.max(range.minimum, value))
}
