/** Sampling parameters for a chat-completions provider: clamped to the format, dropped where the model takes none. */
import { invalidRequest } from '@/chat/error'
import { lost } from '@/chat/features'
import type { ChatRequest, Feature, Warning } from '@/chat/request'
import { LIMITS } from '@/formats/chat-completions/limits'
import { QUIRKS } from '@/formats/chat-completions/quirks'
import type { TargetTraits } from '@/formats/format'
import type { JsonObject } from '@/lib/json'

/** What a model may take none of. */
const CHOSEN = ['temperature', 'topP', 'frequencyPenalty', 'presencePenalty'] as const satisfies Feature[]

/** Reads the quirk `noSampling`. Throws a GatewayError `invalid_request` for too many stop sequences, unless a loss is fine. */
export function encodeSampling(
  { sampling, preferences }: Pick<ChatRequest, 'sampling' | 'preferences'>,
  traits: TargetTraits,
  warnings: Warning[],
): JsonObject {
  const { temperature, topP, frequencyPenalty, presencePenalty, seed, stop, logprobs, topLogprobs } = sampling
  const chosen: JsonObject = {
    temperature: clamped(temperature, LIMITS.temperature),
    top_p: clamped(topP, LIMITS.topP),
    frequency_penalty: clamped(frequencyPenalty, LIMITS.penalty),
    presence_penalty: clamped(presencePenalty, LIMITS.penalty),
  }
  const isRefused = traits.quirks.has(QUIRKS.noSampling)
  if (isRefused) {
    for (const feature of CHOSEN)
      if (sampling[feature] !== undefined) warnings.push(lost(feature, 'this model takes none'))
  }
  return withoutAbsent({
    ...(isRefused ? {} : chosen),
    seed,
    stop: encodeStop(stop, preferences?.lossy === true, warnings),
    logprobs,
    top_logprobs: clamped(topLogprobs, LIMITS.topLogprobs),
  })
}

function clamped(value: number | undefined, range: { minimum: number; maximum: number }): number | undefined {
  return value === undefined ? undefined : Math.min(range.maximum, Math.max(range.minimum, value))
}

/** A stop sequence left out would let the answer run on, so too many are refused. */
function encodeStop(stop: string[] | undefined, isLossy: boolean, warnings: Warning[]): string[] | undefined {
  const { maxItems } = LIMITS.stop
  const sequences = stop?.filter((sequence) => sequence !== '') ?? []
  if (sequences.length > maxItems) {
    if (!isLossy) throw invalidRequest(`This model takes at most ${maxItems} stop sequences`)
    warnings.push(lost('stop', `only the first ${maxItems} sequences are kept`))
  }
  return sequences.length === 0 ? undefined : sequences.slice(0, maxItems)
}

function withoutAbsent(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
