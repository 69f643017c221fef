/** A hub request as a provider of this format takes it: for callers of the other formats. */

import { invalidRequest } from '@/chat/error'
import type { ChatRequest, OutputShape, Sampling, TextBlock, Warning } from '@/chat/request'
import { isClientMark } from '@/formats/client-marks'
import type { EncodedRequest, TargetTraits } from '@/formats/format'
import { LIMITS } from '@/formats/generate-content/limits'
import { encodeThinkingConfig } from '@/formats/generate-content/reasoning'
import { toOpenApiSchema } from '@/formats/generate-content/schema-to-openapi'
import { encodeToolConfig, encodeTools, OPENAPI_SCHEMA_QUIRK } from '@/formats/generate-content/tools'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { encodeContents } from './encode-turns'

/**
 * Throws a GatewayError `invalid_request` where leaving something out would change the meaning. Quirks read here and below:
 * `openapi-schema`, `thinking-budget`, `no-thinking`, `thought-signatures`, `function-response-parts`, `file-uri`,
 * `no-call-ids`. The model is not part of the body.
 */
export function encodeRequest(request: ChatRequest, traits: TargetTraits): EncodedRequest {
  const [native] = request.nativeOnly ?? []
  if (native !== undefined)
    throw invalidRequest(`the provider of this model can't take ${native}`, native.split(' ')[0])
  const { quirks } = traits
  const warnings: Warning[] = []
  const system = request.system.filter(({ text }) => text !== '' && !isClientMark(text))
  const contents = encodeContents(request.turns, quirks, warnings)
  const { generationConfig: ownConfig, tools: _, ...ownFields } = request.extensions['generate-content'] ?? {}
  refuseImpossibleCall(request)
  const tools = encodeTools(request.tools, quirks)
  const toolConfig = tools && encodeToolConfig(request.toolChoice)
  const generationConfig = {
    ...(isJsonObject(ownConfig) && ownConfig),
    ...encodeGenerationConfig(request, traits, warnings),
  }
  if (request.parallelToolCalls === false)
    warn(warnings, 'parallelToolCalls', 'this format cannot forbid parallel calls')
  if (request.userId !== undefined) warn(warnings, 'userId', 'this format has no field for it')
  if (request.serviceTier !== undefined) warn(warnings, 'serviceTier', 'tiers of other formats mean nothing here')
  const isSystemAll = contents.length === 0
  const body = {
    ...ownFields,
    contents: isSystemAll ? [{ role: 'user', parts: encodeTexts(system) }] : contents,
    ...(system.length > 0 && !isSystemAll && { systemInstruction: { parts: encodeTexts(system) } }),
    ...(tools && { tools }),
    ...(toolConfig && { toolConfig }),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
  }
  if (isSystemAll && system.length === 0) throw invalidRequest('the conversation must hold some content', 'messages')
  return { body, warnings }
}

/** Dropped, the demand would let the model answer in words where the caller wants a call. */
function refuseImpossibleCall({ tools, toolChoice }: ChatRequest): void {
  const isForced = toolChoice?.type === 'required' || toolChoice?.type === 'tool'
  if (isForced && tools.length === 0) throw invalidRequest('A tool call is required, but the request has no tools')
}

function encodeTexts(blocks: readonly TextBlock[]): JsonValue[] {
  return blocks.map(({ text }) => ({ text }))
}

function encodeGenerationConfig(request: ChatRequest, traits: TargetTraits, warnings: Warning[]): JsonObject {
  if (request.choices > LIMITS.candidates.maximum) {
    throw invalidRequest(`the provider of this model gives at most ${LIMITS.candidates.maximum} answers at once`, 'n')
  }
  const { quirks } = traits
  const thinkingConfig = encodeThinkingConfig(request.reasoning, quirks, warnings)
  const limit = request.maxOutputTokens
  return {
    ...encodeSampling(request.sampling, warnings),
    ...(request.choices > 1 && { candidateCount: request.choices }),
    ...(limit !== undefined && { maxOutputTokens: Math.min(limit, traits.maxOutputTokens) }),
    ...encodeOutput(request.output, quirks),
    ...(thinkingConfig && { thinkingConfig }),
  }
}

function encodeSampling(sampling: Sampling, warnings: Warning[]): JsonObject {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, seed, logprobs, topLogprobs } = sampling
  const stop = encodeStop(sampling.stop ?? [], warnings)
  const isSeedKept = seed !== undefined && seed >= LIMITS.seed.minimum && seed <= LIMITS.seed.maximum
  if (seed !== undefined && !isSeedKept) warn(warnings, 'sampling.seed', 'only 32-bit seeds are possible')
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
  if (kept.length > maxItems) warn(warnings, 'sampling.stop', `only the first ${maxItems} sequences are kept`)
  return kept.slice(0, maxItems)
}

function encodeOutput(output: OutputShape, quirks: ReadonlySet<string>): JsonObject {
  switch (output.type) {
    case 'text':
      return {}
    case 'json':
      return { responseMimeType: 'application/json' }
    case 'json-schema':
      return quirks.has(OPENAPI_SCHEMA_QUIRK)
        ? { responseMimeType: 'application/json', responseSchema: toOpenApiSchema(output.schema) }
        : { responseMimeType: 'application/json', responseJsonSchema: output.schema }
  }
}

function clamp(value: number, { minimum, maximum }: { minimum: number; maximum: number }): number {
  return Math.min(Math.max(value, minimum), maximum)
}

function warn(warnings: Warning[], feature: string, detail: string): void {
  warnings.push({ feature, detail })
}
