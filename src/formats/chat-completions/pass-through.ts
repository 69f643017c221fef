/** Changes to bodies if caller and provider both use chat-completions: model name, fields for metering, repairs of non-standard shapes. */
import type { ChatRequest } from '@/chat/request'
import { CACHE_CONTROL_FIELD, leftOutFields, relayedFields } from '@/formats/body-fields'
import type { AnswerContext, PassHooks, PassingStream, PassThrough, TargetTraits } from '@/formats/format'
import { leaveOutInside } from '@/formats/nested-fields'
import { cacheKeyOf } from '@/formats/openai'
import { ROUTING_FIELDS } from '@/formats/routing-fields'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { asWritten, rememberNumbers } from '@/lib/json-source/as-written'
import { editJson, replaceStringInJson } from '@/lib/json-splice'
import { BODY_FIELDS, NESTED_FIELDS } from './body-fields'
import { DONE } from './framing'
import { QUIRKS } from './provider'
import { repairAnswer } from './repair'
import { StreamRepair } from './repair-stream'
import { restoreSignatures } from './restore-signatures'
import { withChoiceOfAny } from './tool-calls'
import { isUsageOnlyChunk } from './usage'

export const passThrough = { request, response, createStream } satisfies PassThrough

function request(body: JsonObject, decoded: ChatRequest, traits: TargetTraits): JsonObject {
  const own: JsonObject = { ...relayedFields(body, BODY_FIELDS), model: traits.model }
  // Deleted only if present, because deleting slows down later access to the object.
  if (own.fallback !== undefined) delete own.fallback
  if (own.svc !== undefined) delete own.svc
  if (own.fallbacks !== undefined) delete own.fallbacks
  for (const field of ROUTING_FIELDS) if (own[field] !== undefined) delete own[field]
  if (decoded.stream && !traits.quirks.has(QUIRKS.noStreamOptions)) {
    const theirs = isJsonObject(own.stream_options) ? own.stream_options : {}
    own.stream_options = { ...theirs, include_usage: true }
  }
  if (traits.quirks.size > 0) for (const field of refusedFields(traits.quirks)) delete own[field]
  const leftOut = leftOutFields(decoded, traits)
  for (const field of leftOut) delete own[field]
  if (leftOut.includes(CACHE_CONTROL_FIELD)) leaveOutCacheControl(own)
  if (leftOut.length > 0) leaveOutInside(own, leftOut, NESTED_FIELDS)
  const cacheKey = cacheKeyOf(traits, decoded.cacheKey)
  if (cacheKey !== undefined) own.prompt_cache_key = cacheKey
  own.messages = restoreSignatures(own.messages, traits.quirks)
  const chosen = traits.quirks.has(QUIRKS.toolChoiceAny) ? withChoiceOfAny(own) : own
  return withOutputLimit(chosen, decoded.maxOutputTokens, traits)
}

/** Fields that the model refuses according to the catalogue. They are omitted, since a tier may choose such a model unexpectedly. */
function refusedFields(quirks: ReadonlySet<string>): string[] {
  return [
    ...(quirks.has(QUIRKS.noSampling) ? ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty'] : []),
    ...(quirks.has(QUIRKS.noReasoningEffort) ? ['reasoning_effort'] : []),
  ]
}

/** `cache_control` may also be on messages, their parts and calls, and on tools and their definitions. */
function leaveOutCacheControl(own: JsonObject): void {
  for (const field of ['messages', 'tools', 'functions']) {
    const list = own[field]
    if (Array.isArray(list)) own[field] = list.map(withoutCacheControl)
  }
}

const MARKED_INSIDE = ['content', 'tool_calls', 'function']

function withoutCacheControl(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutCacheControl)
  if (!isJsonObject(value)) return value
  const { [CACHE_CONTROL_FIELD]: _, ...rest } = value
  for (const field of MARKED_INSIDE) if (typeof rest[field] === 'object') rest[field] = withoutCacheControl(rest[field])
  return rest
}

/** Sends the output limit that the hold covers, in the field that the provider obeys. */
function withOutputLimit(own: JsonObject, limit: number | undefined, traits: TargetTraits): JsonObject {
  const wantsOldField = traits.quirks.has(QUIRKS.maxTokens)
  const said = wantsOldField ? own.max_tokens : (own.max_completion_tokens ?? own.max_tokens)
  const isUnderstood = !wantsOldField || own.max_completion_tokens === undefined
  if (isUnderstood && (limit === undefined || limit === said)) return own
  const { max_tokens: old, max_completion_tokens: current, ...rest } = own
  if (wantsOldField) return { ...rest, ...(limit !== undefined && { max_tokens: limit }) }
  const usesOldField = typeof old === 'number' && typeof current !== 'number'
  return { ...rest, [usesOldField ? 'max_tokens' : 'max_completion_tokens']: limit }
}

const OBJECT_ARGUMENTS = /"arguments"\s*:\s*\{/

function response(text: string, json: JsonObject, context: AnswerContext, hooks: PassHooks): string {
  // Arguments sent as an object must become a text without changing their numbers.
  if (OBJECT_ARGUMENTS.test(text)) rememberNumbers(json, text)
  const edits = repairAnswer(json, context, hooks)
  const named = withPublicModel(text, json, context.model)
  return edits.length > 0 ? editJson(named, edits) : named
}

function createStream(context: AnswerContext, hooks: PassHooks): PassingStream {
  const repair = new StreamRepair(context, hooks)

  function passChunk(data: string, chunk: JsonObject): string | undefined {
    if (!context.wantsUsage && isUsageOnlyChunk(chunk)) return undefined
    // Azure begins with a chunk about its prompt filters, without choices, although clients read the first choice.
    if (Array.isArray(chunk.choices) && chunk.choices.length === 0 && !isJsonObject(chunk.usage)) return undefined
    // Clients fail at a chunk without choices and usage.
    if (!Array.isArray(chunk.choices) && !isJsonObject(chunk.usage)) {
      hooks.repaired('choices')
      return undefined
    }
    const edits = repair.repair(chunk)
    const named = withPublicModel(data, chunk, context.model)
    return edits.length > 0 ? editJson(named, edits) : named
  }

  /** Corrects chunks that some providers send inside an array, or with a whole message instead of a delta. */
  function straightened(data: string, json: JsonValue | undefined): string | undefined {
    if (Array.isArray(json)) return JSON.stringify(asWritten(json[0]))
    const moves = isJsonObject(json) ? repair.moves(json) : []
    return moves.length > 0 ? editJson(data, moves) : undefined
  }

  return {
    event(data, json) {
      const straight = straightened(data, json)
      const chunk = straight === undefined ? json : parseJson(straight)
      if (straight !== undefined) rememberNumbers(chunk, straight)
      return isJsonObject(chunk) ? passChunk(straight ?? data, chunk) : data
    },
    ending: (isTerminated) => (isTerminated ? repair.ending() : [...repair.ending(), { data: DONE }]),
  }
}

/** Changes only the model's name; an answer without one gets it as its first field. */
function withPublicModel(text: string, json: JsonObject, publicModel: string): string {
  if (typeof json.model === 'string') return replaceStringInJson(text, ['model'], json.model, publicModel)
  if (json.model !== undefined) {
    rememberNumbers(json, text)
    return JSON.stringify({ ...asWritten(json), model: publicModel })
  }
  const firstField = text.indexOf('{') + 1
  const separator = Object.keys(json).length > 0 ? ',' : ''
  return `${text.slice(0, firstField)}"model":${JSON.stringify(publicModel)}${separator}${text.slice(firstField)}`
}
