/** A request of the hub as a responses request, for callers of the other formats. */
import { invalidRequest } from '@/chat/error'
import { lacking } from '@/chat/features'
import type { ChatRequest, TextBlock, Warning } from '@/chat/request'
import { cacheKeyOf } from '@/formats/cache-key'
import { isClientMark } from '@/formats/client-marks'
import type { EncodedRequest, TargetTraits } from '@/formats/format'
import { encodeServiceTier, encodeUserId } from '@/formats/openai'
import { LACKING } from '@/formats/responses/body-fields'
import { QUIRKS } from '@/formats/responses/quirks'
import type { JsonObject } from '@/lib/json'
import { encodeCache } from './encode-cache'
import { textPart } from './encode-content'
import { encodeOutput, withMentionOfJson } from './encode-output'
import { encodeReasoning } from './encode-reasoning'
import { encodeSampling, LOGPROBS_INCLUDE } from './encode-sampling'
import { encodeTools } from './encode-tools'
import { encodeTurns } from './encode-turns'

/** Reads the quirks of `quirks.ts`. Throws a GatewayError `invalid_request` where leaving something out would change the meaning. */
export function encodeRequest(request: ChatRequest, traits: TargetTraits): EncodedRequest {
  const [native] = request.nativeOnly ?? []
  if (native !== undefined) throw invalidRequest(`This model cannot take ${native}`, native.split(' ')[0])
  if (request.choices > 1) throw invalidRequest('n (candidateCount): this model gives one answer to a request', 'n')
  const warnings = lacking(request, LACKING, traits.quirks.has(QUIRKS.cacheBreakpoints) ? 'cacheHints' : undefined)
  const turns = encodeTurns(request.turns, traits, warnings)
  const { instructions, input } = encodeSystem(request.system, turns, traits.quirks)
  const sampling = encodeSampling(request, traits, warnings)
  const cacheKey = cacheKeyOf(traits, request.cacheKey)
  const body: JsonObject = {
    ...request.extensions.responses,
    model: traits.model,
    ...(instructions !== undefined && { instructions }),
    input: request.output.type === 'json' ? withMentionOfJson(input) : input,
    ...(request.stream && { stream: true }),
    // Nothing of a conversation is left with the provider, so what it needs to go on comes with the answer.
    store: false,
    ...encodeInclude(sampling, traits.quirks),
    ...encodeOutputLimit(request, traits, warnings),
    ...sampling,
    ...encodeOutput(request, traits, warnings),
    ...encodeReasoning(request.reasoning, traits, warnings),
    ...encodeTools(request, traits),
    ...(request.userId !== undefined && { safety_identifier: encodeUserId(request.userId) }),
    ...(cacheKey !== undefined && { prompt_cache_key: cacheKey }),
    ...encodeServiceTier(request.serviceTier, warnings),
  }
  return { body, warnings }
}

/** The system prompt is `instructions`, or a message where a part of it is marked, or where there is nothing else to say. */
function encodeSystem(
  system: readonly TextBlock[],
  turns: JsonObject[],
  quirks: ReadonlySet<string>,
): { instructions?: string; input: JsonObject[] } {
  const blocks = system.filter(({ text }) => text !== '' && !isClientMark(text))
  if (blocks.length === 0) return { input: turns }
  const isMarked = quirks.has(QUIRKS.cacheBreakpoints) && blocks.some(({ cache }) => cache !== undefined)
  if (turns.length > 0 && !isMarked) return { instructions: blocks.map(({ text }) => text).join('\n\n'), input: turns }
  const content = blocks.map(({ text, cache }) => textPart(text, encodeCache(cache, quirks)))
  return { input: [{ role: 'developer', content }, ...turns] }
}

function encodeInclude({ top_logprobs: logprobs }: JsonObject, quirks: ReadonlySet<string>): JsonObject {
  const include = [
    ...(quirks.has(QUIRKS.noReasoning) ? [] : ['reasoning.encrypted_content']),
    ...(logprobs === undefined ? [] : [LOGPROBS_INCLUDE]),
  ]
  return include.length > 0 ? { include } : {}
}

/** Fewer tokens are refused. */
const MIN_OUTPUT_TOKENS = 16

function encodeOutputLimit(request: ChatRequest, traits: TargetTraits, warnings: Warning[]): JsonObject {
  const { maxOutputTokens: wanted } = request
  if (wanted === undefined) return {}
  const limit = Math.max(MIN_OUTPUT_TOKENS, Math.min(wanted, traits.maxOutputTokens))
  if (limit !== wanted) warnings.push({ feature: 'max-output-tokens', detail: `changed from ${wanted} to ${limit}` })
  return { max_output_tokens: limit }
}
