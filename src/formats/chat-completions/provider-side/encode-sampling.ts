/**
 * Sampling parameters for a chat-completions provider: clamped to what the format takes, dropped where the model takes
 * none.
 */
import { invalidRequest } from '@/chat/error'
import type { Sampling, Warning } from '@/chat/request'
import { LIMITS } from '@/formats/chat-completions/limits'
import { QUIRKS } from '@/formats/chat-completions/quirks'
import type { TargetTraits } from '@/formats/format'
import type { JsonObject } from '@/lib/json'

/** Reads the quirk `noSampling`. Throws a GatewayError `invalid_request` for too many stop sequences. */
export function encodeSampling(sampling: Sampling, traits: TargetTraits, warnings: Warning[]): JsonObject {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, seed, stop, logprobs, topLogprobs } = sampling
  if (topK !== undefined) warnings.push({ feature: 'top-k', detail: 'this format has no top_k' })
  const chosen: JsonObject = {
    temperature: clamped(temperature, LIMITS.temperature),
    top_p: clamped(topP, LIMITS.topP),
    frequency_penalty: clamped(frequencyPenalty, LIMITS.penalty),
    presence_penalty: clamped(presencePenalty, LIMITS.penalty),
  }
  const isRefused = traits.quirks.has(QUIRKS.noSampling)
  if (isRefused && Object.values(chosen).some((value) => value !== undefined)) {
    warnings.push({ feature: 'sampling', detail: 'this model takes no temperature, top_p or penalties' })
  }
  return withoutAbsent({
    ...(isRefused ? {} : chosen),
    seed,
    stop: encodeStop(stop),
    logprobs,
    top_logprobs: clamped(topLogprobs, LIMITS.topLogprobs),
  })
}

function clamped(value: number | undefined, range: { minimum: number; maximum: number }): number | undefined {
  return value === undefined ? undefined : Math.min(range.maximum, Math.max(range.minimum, value))
}

/** A stop sequence left out would let the answer run on, so too many are refused. */
function encodeStop(stop: string[] | undefined): string[] | undefined {
  const sequences = stop?.filter((sequence) => sequence !== '') ?? []
  if (sequences.length > LIMITS.stop.maxItems) {
    throw invalidRequest(`This model takes at most ${LIMITS.stop.maxItems} stop sequences`)
  }
  return sequences.length === 0 ? undefined : sequences
}

function withoutAbsent(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
