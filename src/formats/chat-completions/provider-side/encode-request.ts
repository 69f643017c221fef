import { invalidRequest } from '@/chat/error'
import { lacking, lost } from '@/chat/features'
import type { ChatRequest, Feature, OutputShape, PicturesAsked, Reasoning, TextBlock, Warning } from '@/chat/request'
import { LACKING } from '@/formats/chat-completions/body-fields'
import { LIMITS } from '@/formats/chat-completions/limits'
import { QUIRKS } from '@/formats/chat-completions/provider'
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
import type { JsonObject } from '@/lib/json'
import { encodeCache, limitBreakpoints, textPart } from './encode-content'
import { encodeTools } from './encode-tools'
import { encodeTurns } from './encode-turns'

/** Encodes a chat-completions request with the quirks of `provider.ts`. Throws `invalid_request` if an omission changes the meaning. */
export function encodeRequest(request: ChatRequest, traits: TargetTraits): EncodedRequest {
  const [native] = request.nativeOnly ?? []
  if (native !== undefined) throw invalidRequest(`This model cannot take ${native}`, native.split(' ')[0])
  const warnings = lacking(request, LACKING, traits.quirks.has(QUIRKS.cacheControl) ? 'cacheHints' : undefined)
  const messages = [...encodeSystem(request.system, traits.quirks), ...encodeTurns(request.turns, traits, warnings)]
  const tools = encodeTools(request, traits)
  if (limitBreakpoints(tools.tools ?? [], messages) > 0) {
    warnings.push({ feature: 'cache_control', detail: 'the earliest cache hints were omitted: the maximum is four' })
  }
  const cacheKey = cacheKeyOf(traits, request.cacheKey)
  const body: JsonObject = {
    ...request.extensions['chat-completions'],
    model: traits.model,
    messages: request.output.type === 'json' ? withMentionOfJson(messages) : messages,
    ...encodeStream(request, traits),
    ...encodeOutputLimit(request, traits, warnings),
    ...encodeSampling(request, traits, warnings),
    ...(request.choices > 1 && { n: request.choices }),
    ...encodeOutput(request.output),
    ...(request.pictures && encodePictures(request.pictures)),
    ...(request.verbosity !== undefined && { verbosity: request.verbosity }),
    ...encodeReasoning(request.reasoning, traits, warnings),
    ...tools,
    ...(request.userId !== undefined && { user: encodeUserId(request.userId) }),
    ...(cacheKey !== undefined && { prompt_cache_key: cacheKey }),
    ...encodeServiceTier(request.serviceTier, traits.serviceTier, warnings),
  }
  return { body, warnings }
}

function encodeSystem(system: readonly TextBlock[], quirks: ReadonlySet<string>): JsonObject[] {
  const blocks = system.filter(({ text }) => text !== '' && !isClientMark(text))
  if (blocks.length === 0) return []
  const parts = blocks.map(({ text, cache }) => textPart(text, encodeCache(cache, quirks)))
  const isMarked = parts.some((part) => part.cache_control !== undefined) && !quirks.has(QUIRKS.stringContent)
  return [{ role: 'system', content: isMarked ? parts : blocks.map(({ text }) => text).join('\n\n') }]
}

function encodeStream(request: ChatRequest, traits: TargetTraits): JsonObject {
  if (!request.stream) return {}
  if (traits.quirks.has(QUIRKS.noStreamOptions)) return { stream: true }
  return { stream: true, stream_options: { include_usage: true } }
}

function encodeOutputLimit(request: ChatRequest, traits: TargetTraits, warnings: Warning[]): JsonObject {
  const limit = outputLimit(request, traits, LIMITS.outputTokens.minimum, warnings)
  return limit === undefined
    ? {}
    : { [traits.quirks.has(QUIRKS.maxTokens) ? 'max_tokens' : 'max_completion_tokens']: limit }
}

function encodeOutput(output: OutputShape): JsonObject {
  if (output.type === 'text') return {}
  if (output.type === 'json') return { response_format: { type: 'json_object' } }
  const { schema, name, description, strict } = output
  const definition = {
    name: schemaName(name),
    ...(description !== undefined && { description }),
    schema,
    ...(strict !== undefined && { strict }),
  }
  return { response_format: { type: 'json_schema', json_schema: definition } }
}

/** OpenRouter's fields for pictures in answers. */
function encodePictures({ isOnly, aspectRatio, imageSize }: PicturesAsked): JsonObject {
  const config = {
    ...(aspectRatio !== undefined && { aspect_ratio: aspectRatio }),
    ...(imageSize !== undefined && { image_size: imageSize }),
  }
  return {
    modalities: isOnly ? ['image'] : ['image', 'text'],
    ...(Object.keys(config).length > 0 && { image_config: config }),
  }
}

/** Providers refuse JSON mode if no message mentions JSON. Other formats don't require this, so a message is added. */
function withMentionOfJson(messages: JsonObject[]): JsonObject[] {
  if (messages.some((message) => /json/i.test(JSON.stringify(message.content ?? '')))) return messages
  const instruction = 'Answer with a JSON object.'
  const [first, ...rest] = messages
  if (first?.role === 'system') return [{ ...first, content: `${first.content}\n\n${instruction}` }, ...rest]
  return [{ role: 'system', content: instruction }, ...messages]
}

/** Sampling settings that models with the quirk `noSampling` refuse. */
const CHOSEN = ['temperature', 'topP', 'frequencyPenalty', 'presencePenalty'] as const satisfies Feature[]

/** Uses the quirk `noSampling`. Throws a GatewayError `invalid_request` for too many stop sequences, unless losses are accepted. */
function encodeSampling(
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

/** Without a stop sequence the answer would run on, so too many are refused. */
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

/** `reasoning_effort` from the hub's effort or budget. Uses the quirk `noReasoningEffort`. */
function encodeReasoning(reasoning: Reasoning | undefined, traits: TargetTraits, warnings: Warning[]): JsonObject {
  const effort = reasoning?.effort ?? effortOfBudget(reasoning?.budgetTokens)
  if (effort === undefined) return {}
  if (traits.quirks.has(QUIRKS.noReasoningEffort)) {
    warnings.push(lost('reasoning', 'this model takes no reasoning effort'))
    return {}
  }
  return { reasoning_effort: effort }
}
