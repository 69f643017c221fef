/** Sampling parameters for a responses provider: few are left of them, and what has no word here is dropped or refused. */
import { invalidRequest } from '@/chat/error'
import { lost } from '@/chat/features'
import type { ChatRequest, Warning } from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import { QUIRKS } from '@/formats/responses/quirks'
import type { JsonObject } from '@/lib/json'

const TEMPERATURE = { minimum: 0, maximum: 2 }
const TOP_P = { minimum: 0, maximum: 1 }
const TOP_LOGPROBS = { minimum: 0, maximum: 20 }
/** What has to be included in an answer for its log probabilities to be in it. */
export const LOGPROBS_INCLUDE = 'message.output_text.logprobs'

/**
 * Reads the quirk `noSampling`. Throws a GatewayError `invalid_request` for stop sequences, for which the format has no word, and for
 * log probabilities beside that quirk, unless a loss is fine: an answer that runs on past a stop sequence is another answer.
 */
export function encodeSampling(
  {
    sampling: { temperature, topP, stop, logprobs, topLogprobs },
    preferences,
  }: Pick<ChatRequest, 'sampling' | 'preferences'>,
  traits: TargetTraits,
  warnings: Warning[],
): JsonObject {
  const leaveOut = (feature: 'stop' | 'logprobs', what: string) => {
    if (!preferences?.lossy)
      throw invalidRequest(`${feature}: this model takes no ${what}; send the request without them`, feature)
    warnings.push(lost(feature, `this model takes no ${what}`))
  }
  if (stop?.some((sequence) => sequence !== '')) leaveOut('stop', 'stop sequences (stop_sequences, stopSequences)')
  const chosen: JsonObject = {
    ...(temperature !== undefined && { temperature: clamped(temperature, TEMPERATURE) }),
    ...(topP !== undefined && { top_p: clamped(topP, TOP_P) }),
    ...(logprobs && { top_logprobs: clamped(topLogprobs ?? 0, TOP_LOGPROBS) }),
  }
  if (!traits.quirks.has(QUIRKS.noSampling)) return chosen
  if (temperature !== undefined) warnings.push(lost('temperature', 'this model takes none'))
  if (topP !== undefined) warnings.push(lost('topP', 'this model takes none'))
  if (logprobs) leaveOut('logprobs', 'log probabilities')
  return {}
}

function clamped(value: number, range: { minimum: number; maximum: number }): number {
  return Math.min(range.maximum, Math.max(range.minimum, value))
}
