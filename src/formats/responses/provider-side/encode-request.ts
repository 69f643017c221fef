import { invalidRequest } from '@/chat/error'
import { lacking, lost } from '@/chat/features'
import type { ChatRequest, Reasoning, TextBlock, Warning } from '@/chat/request'
import { isClientMark } from '@/formats/client-marks'
import type { EncodedRequest, TargetTraits } from '@/formats/format'
import {
  cacheKeyOf,
  clamped,
  effortOfBudget,
  encodeServiceTier,
  encodeUserId,
  outputLimit,
  schemaName,
} from '@/formats/openai'
import { LACKING } from '@/formats/responses/body-fields'
import { QUIRKS } from '@/formats/responses/provider'
import type { JsonObject } from '@/lib/json'
import { encodeCache, textPart } from './encode-content'
import { encodeTools } from './encode-tools'
import { encodeTurns } from './encode-turns'

/** Encodes a responses request with the quirks of `provider.ts`. Throws `invalid_request` if an omission would change the meaning. */
export function encodeRequest(request: ChatRequest, traits: TargetTraits): EncodedRequest {
  const [native] = request.nativeOnly ?? []
  if (native !== undefined) throw invalidRequest(`This model cannot take ${native}`, native.split(' ')[0])
  if (request.choices > 1) throw invalidRequest('n (candidateCount): this model gives one answer to a request', 'n')
  const warnings = lacking(request, LACKING, traits.quirks.has(QUIRKS.cacheBreakpoints) ? 'cacheHints' : undefined)
  const turns = encodeTurns(request.turns, traits, warnings)
  const { instructions, input } = encodeSystem(request.system, turns, traits.quirks)
  const sampling = encodeSampling(request, traits, warnings)
  const cacheKey = cacheKeyOf(traits, request.cacheKey)
  const limit = outputLimit(request, traits, MIN_OUTPUT_TOKENS, warnings)
  const body: JsonObject = {
    ...request.extensions.responses,
    model: traits.model,
    ...(instructions !== undefined && { instructions }),
    input: request.output.type === 'json' ? withMentionOfJson(input) : input,
    ...(request.stream && { stream: true }),
    // The provider stores nothing, so the answer must contain all data for the next request.
    store: false,
    ...encodeInclude(sampling, traits.quirks),
    ...(limit !== undefined && { max_output_tokens: limit }),
    ...sampling,
    ...encodeOutput(request, traits, warnings),
    ...encodeReasoning(request.reasoning, traits, warnings),
    ...encodeTools(request, traits),
    ...(request.userId !== undefined && { safety_identifier: encodeUserId(request.userId) }),
    ...(cacheKey !== undefined && { prompt_cache_key: cacheKey }),
    ...encodeServiceTier(request.serviceTier, traits.serviceTier, warnings),
  }
  return { body, warnings }
}

/** The system prompt becomes `instructions`; or a message, if a part has a cache hint or there are no other items. */
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

/** Providers refuse a lower limit. */
const MIN_OUTPUT_TOKENS = 16

/** `text`; empty for plain text of default verbosity. Uses the quirk `noVerbosity`. */
function encodeOutput(
  { output, verbosity }: Pick<ChatRequest, 'output' | 'verbosity'>,
  traits: TargetTraits,
  warnings: Warning[],
): { text?: JsonObject } {
  const isRefused = verbosity !== undefined && traits.quirks.has(QUIRKS.noVerbosity)
  if (isRefused) warnings.push(lost('verbosity', 'this model is not told how much to say'))
  const format = encodeFormat(output)
  const said = isRefused ? undefined : verbosity
  if (!format && said === undefined) return {}
  return { text: { ...(format && { format }), ...(said !== undefined && { verbosity: said }) } }
}

/** `strict` is always sent, since its default differs from that of other formats. */
function encodeFormat(output: ChatRequest['output']): JsonObject | undefined {
  if (output.type === 'text') return undefined
  if (output.type === 'json') return { type: 'json_object' }
  const { schema, name, description, strict } = output
  return {
    type: 'json_schema',
    name: schemaName(name),
    ...(description !== undefined && { description }),
    schema,
    strict: strict ?? false,
  }
}

/** Providers refuse JSON mode if no input item mentions JSON (`instructions` don't count). A message is then added. */
function withMentionOfJson(input: JsonObject[]): JsonObject[] {
  if (input.some((item) => /json/i.test(JSON.stringify(item)))) return input
  return [{ role: 'developer', content: 'Answer with a JSON object.' }, ...input]
}

const TEMPERATURE = { minimum: 0, maximum: 2 }
const TOP_P = { minimum: 0, maximum: 1 }
const TOP_LOGPROBS = { minimum: 0, maximum: 20 }
/** The `include` value that requests log probabilities. */
const LOGPROBS_INCLUDE = 'message.output_text.logprobs'

/**
 * Uses the quirk `noSampling`. Unless losses are accepted, throws a GatewayError `invalid_request` for stop sequences, which the format
 * lacks. With the quirk, it also throws for log probabilities. An answer that runs past a stop sequence is a different answer.
 */
function encodeSampling(
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

/** `reasoning` with the effort, or the effort for a budget. Uses the quirk `noReasoning`. */
function encodeReasoning(
  reasoning: Reasoning | undefined,
  traits: TargetTraits,
  warnings: Warning[],
): { reasoning?: JsonObject } {
  const effort = reasoning?.effort ?? effortOfBudget(reasoning?.budgetTokens)
  const isShown = reasoning?.visible === true && effort !== 'none'
  if (effort === undefined && !isShown) return {}
  if (traits.quirks.has(QUIRKS.noReasoning)) {
    if (effort !== 'none') warnings.push(lost('reasoning', 'this model does not think'))
    return {}
  }
  return { reasoning: { ...(effort !== undefined && { effort }), ...(isShown && { summary: 'auto' }) } }
}
