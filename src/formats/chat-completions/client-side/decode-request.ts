/** A chat-completions request as a request of the hub. */
import { invalidRequest } from '@/chat/error'
import { type ChatRequest, EFFORTS, type Effort, type OutputShape, type Reasoning, type Sampling } from '@/chat/request'
import type { JsonObject, JsonValue } from '@/lib/json'
import { checkRequest } from './check-request'
import { decodeToolChoice, decodeTools } from './decode-tools'
import { decodeMessages } from './decode-turns'
import { listNativeOnly } from './native-only'
import type { WireRequest } from './wire'

/** Throws a GatewayError `invalid_request` that names the field and the limit it breaks. Never changes `body`. */
export function decodeRequest(body: JsonObject): ChatRequest {
  const request = checkRequest(body)
  const { tools, others } = decodeTools(request)
  const toolChoice = decodeToolChoice(request.tool_choice ?? request.function_call)
  const output = decodeOutput(request)
  const reasoning = decodeReasoning(request.reasoning_effort)
  const maxOutputTokens = decodeOutputLimit(request)
  const nativeOnly = listNativeOnly(request)
  const userId = request.safety_identifier ?? request.user
  return {
    model: request.model,
    stream: request.stream ?? false,
    ...decodeMessages(request.messages),
    tools,
    ...(toolChoice && { toolChoice }),
    ...(typeof request.parallel_tool_calls === 'boolean' && { parallelToolCalls: request.parallel_tool_calls }),
    sampling: decodeSampling(request),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    choices: request.n ?? 1,
    ...(reasoning && { reasoning }),
    output: output ?? { type: 'text' },
    ...(userId && { userId }),
    ...(request.prompt_cache_key && { cacheKey: request.prompt_cache_key }),
    ...(request.service_tier && { serviceTier: request.service_tier }),
    fallback: request.fallback ?? [],
    wantsUsage: request.stream_options?.include_usage === true,
    ...(nativeOnly.length > 0 && { nativeOnly }),
    extensions: {
      'chat-completions': extensionsOf(body, {
        tools: others.length > 0 ? (others as JsonValue) : undefined,
        response_format: output ? undefined : body.response_format,
        tool_choice: toolChoice ? undefined : body.tool_choice,
        reasoning_effort: reasoning ? undefined : body.reasoning_effort,
        top_k: topK(body) === undefined ? body.top_k : undefined,
      }),
    },
  }
}

/** The request's own limit on output tokens. Two different ones are refused: which of them a provider obeys is unknown, and one pays for it. */
function decodeOutputLimit(request: WireRequest): number | undefined {
  const { max_tokens: old, max_completion_tokens: current } = request
  if (typeof old === 'number' && typeof current === 'number' && old !== current) {
    throw invalidRequest('max_tokens and max_completion_tokens must not differ; send only one of them', 'max_tokens')
  }
  return current ?? old ?? undefined
}

function decodeSampling(request: WireRequest): Sampling {
  const stop = typeof request.stop === 'string' ? [request.stop] : request.stop
  return withoutAbsent({
    temperature: request.temperature,
    topP: request.top_p,
    topK: topK(request as JsonObject),
    frequencyPenalty: request.frequency_penalty,
    presencePenalty: request.presence_penalty,
    seed: request.seed,
    stop: stop && stop.length > 0 ? stop : undefined,
    logprobs: request.logprobs,
    topLogprobs: request.top_logprobs,
  })
}

/** No field of OpenAI's own, but many compatible services have it. */
function topK(body: JsonObject): number | undefined {
  const value = body.top_k
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}

/** Whoever asks for effort gets to read what it bought, where the provider shows it; this format has no field to say so. */
function decodeReasoning(given: WireRequest['reasoning_effort']): Reasoning | undefined {
  const effort = EFFORTS.find((candidate): candidate is Effort => candidate === given)
  if (effort === undefined) return undefined
  return effort === 'none' ? { effort } : { effort, visible: true }
}

/** Undefined where the hub has no word for the wanted format. */
function decodeOutput(request: WireRequest): OutputShape | undefined {
  const format = request.response_format
  if (!format || format.type === 'text') return { type: 'text' }
  if (format.type === 'json_object') return { type: 'json' }
  if (format.type !== 'json_schema') return undefined
  const definition = format.json_schema
  if (!definition) throw invalidRequest('response_format.json_schema is required', 'response_format.json_schema')
  const { schema, name, description, strict } = definition
  if (!schema) return { type: 'json' }
  return { type: 'json-schema', schema, ...withoutAbsent({ name, description, strict }) }
}

/** Fields that are said in the hub's words, and so don't ride along. */
const DECODED_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'stop',
  'seed',
  'logprobs',
  'top_logprobs',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'functions',
  'function_call',
  'response_format',
  'reasoning_effort',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
  'fallback',
])

/** `Object.fromEntries` makes own properties even of `__proto__`, which an assignment would not. */
function extensionsOf(body: JsonObject, leftOver: JsonObject): { [field: string]: JsonValue | undefined } {
  const unknown = Object.entries(body).filter(([field, value]) => !DECODED_FIELDS.has(field) && value !== undefined)
  const left = Object.entries(leftOver).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries([...unknown, ...left])
}

type Present<Values> = { [Key in keyof Values]?: NonNullable<Values[Key]> }

function withoutAbsent<Values extends Record<string, unknown>>(values: Values): Present<Values> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== null),
  ) as Present<Values>
}
