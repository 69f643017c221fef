/** Decodes a chat-completions request into the hub. */

import { markLastTurn } from '@/chat/cache-hints'
import { invalidRequest } from '@/chat/error'
import {
  type ChatRequest,
  EFFORTS,
  type Effort,
  type OutputShape,
  type PicturesAsked,
  type Reasoning,
  type Sampling,
  VERBOSITIES,
} from '@/chat/request'
import { type FieldVerdict, judgeFields, unlessEmpty, withInside } from '@/formats/body-fields'
import { BODY_FIELDS, NESTED_FIELDS } from '@/formats/chat-completions/body-fields'
import { listServerTools } from '@/formats/chat-completions/server-tools'
import type { Recognition } from '@/formats/format'
import { judgeInside } from '@/formats/nested-fields'
import { schemaOutput } from '@/formats/openai'
import { readRouting, withNamedModel } from '@/formats/routing-words'
import type { JsonObject, JsonValue } from '@/lib/json'
import { decodeCacheControl, hasCacheControl } from './decode-content'
import { decodeToolChoice, decodeTools } from './decode-tools'
import { decodeTurns } from './decode-turns'
import { listHostedHistory, listNativeMedia, listNativeOnly } from './native-only'
import { checkRequest, type RequestCheck, type WireRequest } from './wire'

/** Throws a GatewayError `invalid_request` that names the field and its limit. Never changes `body`. */
export function decodeRequest(body: JsonObject, check: RequestCheck = checkRequest): ChatRequest {
  const request = check(withNamedModel(body))
  const { tools, others, origins } = decodeTools(request)
  const toolChoice = decodeToolChoice(request.tool_choice ?? request.function_call)
  // Callers who send the deprecated `functions` expect at most one call.
  const isDeprecated = (request.functions?.length ?? 0) > 0 && (request.tools?.length ?? 0) === 0
  const parallelToolCalls = isDeprecated ? false : request.parallel_tool_calls
  const output = decodeOutput(request)
  const reasoning = decodeReasoning(request)
  const verbosity = request.verbosity ? oneOf(VERBOSITIES, request.verbosity) : undefined
  const maxOutputTokens = decodeOutputLimit(request)
  const hostedHistory = listHostedHistory(request)
  const userId = request.safety_identifier ?? request.user
  const { system, turns, hasSystemName } = decodeTurns(request.messages)
  markLastTurn(turns, decodeCacheControl(request.cache_control))
  return {
    model: request.model,
    stream: request.stream ?? false,
    system,
    turns,
    hasSystemName,
    tools,
    toolChoice,
    parallelToolCalls: typeof parallelToolCalls === 'boolean' ? parallelToolCalls : undefined,
    wantsFunctionCall: isDeprecated || undefined,
    toolOrigins: origins,
    sampling: decodeSampling(request),
    maxOutputTokens,
    choices: request.n ?? 1,
    reasoning,
    output: output ?? { type: 'text' },
    pictures: decodePictures(request),
    verbosity,
    userId: userId || undefined,
    cacheKey: request.prompt_cache_key || undefined,
    serviceTier: request.service_tier || undefined,
    hasCacheControl: hasCacheControl(request) || undefined,
    ...readRouting(request),
    wantsUsage: request.stream_options?.include_usage === true || request.usage?.include === true,
    nativeOnly: unlessEmpty(listNativeOnly(request)),
    hostedHistory: unlessEmpty(hostedHistory),
    nativeMedia: hostedHistory.length > 0 ? listNativeMedia(request) : undefined,
    serverTools: unlessEmpty(listServerTools(request)),
    ...judge(body),
    extensions: {
      'chat-completions': decodeExtensions(body, {
        tools: others.length > 0 ? (others as JsonValue) : undefined,
        response_format: output ? undefined : body.response_format,
        tool_choice: toolChoice ? undefined : body.tool_choice,
        reasoning_effort: reasoning ? undefined : body.reasoning_effort,
        verbosity: verbosity ? undefined : body.verbosity,
        top_k: decodeTopK(body) === undefined ? body.top_k : undefined,
      }),
    },
  }
}

/** OpenRouter's fields for pictures in answers. A shape or size alone also requests pictures. */
function decodePictures({ modalities, image_config: config }: WireRequest): PicturesAsked | undefined {
  if (!modalities && !config) return undefined
  const shape = {
    ...(config?.aspect_ratio && { aspectRatio: config.aspect_ratio }),
    ...(config?.image_size && { imageSize: config.image_size }),
  }
  const isAsked = modalities?.includes('image')
  if (!isAsked && Object.keys(shape).length === 0) return undefined
  return isAsked && !modalities?.includes('text') ? { isOnly: true, ...shape } : shape
}

/** Omits `metadata`, which belongs to stored answers: providers refuse it if nothing is stored. */
function judge(body: JsonObject): FieldVerdict {
  const ofBody = judgeFields(body, BODY_FIELDS, 'chat-completions')
  const verdict = withInside(ofBody, judgeInside(body, NESTED_FIELDS))
  if (!verdict.unlisted?.includes('store') || body.metadata === undefined) return verdict
  return { ...verdict, unlisted: [...verdict.unlisted, 'metadata'] }
}

/** The request's limit of output tokens. Two different limits are refused: it is unknown which one a provider obeys. */
function decodeOutputLimit(request: WireRequest): number | undefined {
  const { max_tokens: old, max_completion_tokens: current } = request
  if (typeof old === 'number' && typeof current === 'number' && old !== current) {
    throw invalidRequest('max_tokens and max_completion_tokens must not differ; send only one of them', 'max_tokens')
  }
  return current ?? old ?? undefined
}

/** With `Object.fromEntries`, even `__proto__` becomes an own property; an assignment would change the prototype. */
function decodeExtensions(body: JsonObject, leftOver: JsonObject): { [field: string]: JsonValue | undefined } {
  const own: [string, JsonValue | undefined][] = []
  for (const field in body)
    if (body[field] !== undefined && BODY_FIELDS.get(field)?.kind !== 'hub') own.push([field, body[field]])
  for (const field in leftOver)
    if (leftOver[field] !== undefined && leftOver[field] !== null) own.push([field, leftOver[field]])
  return Object.fromEntries(own)
}

function decodeOutput(request: WireRequest): OutputShape | undefined {
  const format = request.response_format
  if (!format || format.type === 'text') return { type: 'text' }
  if (format.type === 'json_object') return { type: 'json' }
  if (format.type !== 'json_schema') return undefined
  const definition = format.json_schema
  if (!definition) throw invalidRequest('response_format.json_schema is required', 'response_format.json_schema')
  const { schema } = definition
  if (!schema) return { type: 'json' }
  return schemaOutput({ ...definition, schema })
}

/** A caller who sets an effort also gets the reasoning, since this format has no field to request it. */
function decodeReasoning({ reasoning_effort: given }: WireRequest): Reasoning | undefined {
  const effort: Effort | undefined = given ? oneOf(EFFORTS, given) : undefined
  if (effort === undefined) return undefined
  return effort === 'none' ? { effort } : { effort, visible: true }
}

function oneOf<Word extends string>(words: readonly Word[], given: string): Word | undefined {
  return words.find((word) => word === given)
}

function decodeSampling(request: WireRequest): Sampling {
  const stop = typeof request.stop === 'string' ? [request.stop] : request.stop
  return {
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    topK: decodeTopK(request as JsonObject),
    frequencyPenalty: request.frequency_penalty ?? undefined,
    presencePenalty: request.presence_penalty ?? undefined,
    seed: request.seed ?? undefined,
    stop: stop && stop.length > 0 ? stop : undefined,
    logprobs: request.logprobs ?? undefined,
    topLogprobs: request.top_logprobs ?? undefined,
  }
}

/** A valid `top_k`: not a field of OpenAI, but of many compatible services. */
function decodeTopK(body: JsonObject): number | undefined {
  const value = body.top_k
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}

/** Chat-completions requests are recognised only by their path: it is the default format. */
export const recognition: Recognition = {
  headers: [],
  keyHeaders: [],
  isOwnPath: (path) => /^\/(v1\/)*(chat\/|embeddings\b)/.test(path),
  isOwnBody: () => false,
}
