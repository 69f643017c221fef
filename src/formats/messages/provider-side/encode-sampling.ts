/**
 * Sampling parameters for a messages provider: clamped to what the format takes, dropped where the model takes none.
 */
import { lost } from '@/chat/features'
import type { Feature, Sampling, Warning } from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import { LIMITS } from '@/formats/messages/limits'
import { QUIRKS } from '@/formats/messages/quirks'
import type { JsonObject } from '@/lib/json'

const MAX_TEMPERATURE = LIMITS.temperature.maximum
/** Beside thinking the API takes top_p only from here up. */
const MIN_TOP_P_WITH_THINKING = 0.95

/** Reads the quirks `noSampling` and `temperatureOrTopP`. */
export function encodeSampling(
  sampling: Sampling,
  traits: TargetTraits,
  isThinking: boolean,
  warnings: Warning[],
): JsonObject {
  return { ...encodeStop(sampling.stop, warnings), ...encodeRandomness(sampling, traits, isThinking, warnings) }
}

/** The API refuses stop sequences that are only white space. */
function encodeStop(stop: string[] | undefined, warnings: Warning[]): JsonObject {
  if (!stop) return {}
  const kept = stop.filter((sequence) => sequence.trim() !== '')
  if (kept.length < stop.length) {
    warnings.push(lost('stop', 'stop sequences of white space were left out'))
  }
  return kept.length > 0 ? { stop_sequences: kept } : {}
}

function encodeRandomness(
  sampling: Sampling,
  traits: TargetTraits,
  isThinking: boolean,
  warnings: Warning[],
): JsonObject {
  const { temperature, topP, topK } = sampling
  function drop(feature: Feature, value: number | undefined, detail: string): undefined {
    if (value !== undefined) warnings.push(lost(feature, detail))
    return undefined
  }
  if (traits.quirks.has(QUIRKS.noSampling) || isThinking) {
    const why = isThinking ? 'not possible beside thinking' : 'the model takes no sampling parameters'
    const keepsTopP = !traits.quirks.has(QUIRKS.noSampling) && topP !== undefined && topP >= MIN_TOP_P_WITH_THINKING
    drop('temperature', temperature === 1 ? undefined : temperature, why)
    drop('topK', topK, why)
    if (!keepsTopP) drop('topP', topP, why)
    return keepsTopP ? { top_p: topP } : {}
  }
  if (temperature !== undefined && temperature > MAX_TEMPERATURE) {
    warnings.push({ feature: 'temperature', detail: `clamped to ${MAX_TEMPERATURE}` })
  }
  const isBoth = temperature !== undefined && topP !== undefined && traits.quirks.has(QUIRKS.temperatureOrTopP)
  const keptTopP = isBoth ? drop('topP', topP, 'the model takes temperature or top_p, not both') : topP
  return {
    ...(temperature !== undefined && { temperature: Math.min(temperature, MAX_TEMPERATURE) }),
    ...(keptTopP !== undefined && { top_p: keptTopP }),
    ...(topK !== undefined && { top_k: topK }),
  }
}
