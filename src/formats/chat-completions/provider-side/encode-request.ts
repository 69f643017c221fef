/** A request of the hub as a chat-completions request, for callers of the other formats. */
import { invalidRequest } from '@/chat/error'
import type { ChatRequest, Effort, OutputShape, Warning } from '@/chat/request'
import { LIMITS } from '@/formats/chat-completions/limits'
import { QUIRKS } from '@/formats/chat-completions/quirks'
import type { EncodedRequest, TargetTraits } from '@/formats/format'
import { sha256Hex } from '@/lib/ids'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { encodeTools } from './encode-tools'
import { encodeMessages } from './encode-turns'

/** Reads the quirks of `quirks.ts`. Throws a GatewayError `invalid_request` where leaving something out would change the meaning. */
export function encodeRequest(request: ChatRequest, traits: TargetTraits): EncodedRequest {
  const [native] = request.nativeOnly ?? []
  if (native !== undefined) throw invalidRequest(`This model cannot take ${native}`, native.split(' ')[0])
  const { messages, warnings } = encodeMessages(request.system, request.turns, traits)
  const body: JsonObject = {
    ...request.extensions['chat-completions'],
    model: traits.model,
    messages: request.output.type === 'json' ? withMentionOfJson(messages) : messages,
    ...encodeStream(request, traits),
    ...encodeOutputLimit(request, traits, warnings),
    ...encodeSampling(request, traits, warnings),
    ...(request.choices > 1 && { n: request.choices }),
    ...encodeOutput(request.output),
    ...encodeReasoning(request, traits, warnings),
    ...encodeTools(request, traits),
    ...(request.userId !== undefined && { user: encodeUserId(request.userId) }),
    ...(request.cacheKey !== undefined && { prompt_cache_key: request.cacheKey }),
    ...encodeServiceTier(request.serviceTier, warnings),
  }
  return { body, warnings }
}

/** Usage is always asked for: it is what the answer is paid by. */
function encodeStream(request: ChatRequest, traits: TargetTraits): JsonObject {
  if (!request.stream) return {}
  if (traits.quirks.has(QUIRKS.noStreamOptions)) return { stream: true }
  const own = request.extensions['chat-completions']?.stream_options
  return { stream: true, stream_options: { ...(isJsonObject(own) && own), include_usage: true } }
}

function encodeOutputLimit(request: ChatRequest, traits: TargetTraits, warnings: Warning[]): JsonObject {
  const { maxOutputTokens: wanted } = request
  if (wanted === undefined) return {}
  const limit = Math.max(LIMITS.outputTokens.minimum, Math.min(wanted, traits.maxOutputTokens))
  if (limit !== wanted) warnings.push({ feature: 'max-output-tokens', detail: `changed from ${wanted} to ${limit}` })
  return { [traits.quirks.has(QUIRKS.maxTokens) ? 'max_tokens' : 'max_completion_tokens']: limit }
}

function encodeSampling(request: ChatRequest, traits: TargetTraits, warnings: Warning[]): JsonObject {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, seed, stop, logprobs, topLogprobs } =
    request.sampling
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

function encodeOutput(output: OutputShape): JsonObject {
  if (output.type === 'text') return {}
  if (output.type === 'json') return { response_format: { type: 'json_object' } }
  const { schema, name, description, strict } = output
  const definition = withoutAbsent({ name: schemaName(name), description, schema, strict })
  return { response_format: { type: 'json_schema', json_schema: definition } }
}

function schemaName(name: string | undefined): string {
  return (name ?? '').replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'response'
}

/** JSON mode is refused unless some message speaks of JSON; callers of other formats need not have said it. */
function withMentionOfJson(messages: JsonObject[]): JsonObject[] {
  if (messages.some((message) => /json/i.test(JSON.stringify(message.content ?? '')))) return messages
  const instruction = 'Answer with a JSON object.'
  const [first, ...rest] = messages
  if (first?.role === 'system') return [{ ...first, content: `${first.content}\n\n${instruction}` }, ...rest]
  return [{ role: 'system', content: instruction }, ...messages]
}

/** Upper bounds, in tokens, of the budgets that count as low and medium effort; the middle ground between 1k, 8k and 24k. */
const LOW_EFFORT_MAX_TOKENS = 4096
const MEDIUM_EFFORT_MAX_TOKENS = 16_384

function encodeReasoning(request: ChatRequest, traits: TargetTraits, warnings: Warning[]): JsonObject {
  const effort = request.reasoning?.effort ?? effortOfBudget(request.reasoning?.budgetTokens)
  if (effort === undefined) return {}
  if (traits.quirks.has(QUIRKS.noReasoningEffort)) {
    warnings.push({ feature: 'reasoning-effort', detail: 'this model takes no reasoning effort' })
    return {}
  }
  return { reasoning_effort: effort }
}

/** Undefined where the model is to decide. */
function effortOfBudget(budgetTokens: number | undefined): Effort | undefined {
  if (budgetTokens === undefined || budgetTokens < 0) return undefined
  if (budgetTokens === 0) return 'none'
  if (budgetTokens <= LOW_EFFORT_MAX_TOKENS) return 'low'
  return budgetTokens <= MEDIUM_EFFORT_MAX_TOKENS ? 'medium' : 'high'
}

/** OpenAI refuses longer ids; a digest still tells one end user from another. */
const MAX_USER_ID_CHARS = 64

function encodeUserId(userId: string): string {
  return userId.length <= MAX_USER_ID_CHARS ? userId : sha256Hex(userId)
}

const SERVICE_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])

function encodeServiceTier(tier: string | undefined, warnings: Warning[]): JsonObject {
  if (tier === undefined) return {}
  if (tier === 'standard' || tier === 'standard_only') return { service_tier: 'default' }
  if (SERVICE_TIERS.has(tier)) return { service_tier: tier }
  warnings.push({ feature: 'service-tier', detail: 'this format has no such service tier' })
  return {}
}

function withoutAbsent(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
