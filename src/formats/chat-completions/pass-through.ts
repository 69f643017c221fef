/** What changes when caller and provider both speak chat-completions: the model's name, and what metering needs. */
import type { ChatRequest } from '@/chat/request'
import { CACHE_CONTROL_FIELD, leftOutFields, relayedFields } from '@/formats/body-fields'
import type { AnswerContext, PassThrough, TargetTraits } from '@/formats/format'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten, rememberNumbers } from '@/lib/json-source/as-written'
import { replaceStringInJson } from '@/lib/json-splice'
import { BODY_FIELDS } from './body-fields'
import { DONE } from './framing'
import { QUIRKS } from './quirks'
import { restoreSignatures } from './restore-signatures'
import { isUsageOnlyChunk } from './usage'

export const passThrough = { request, response, event, missingEnd: { data: DONE } } satisfies PassThrough

function request(body: JsonObject, decoded: ChatRequest, traits: TargetTraits): JsonObject {
  const own: JsonObject = { ...relayedFields(body, BODY_FIELDS), model: traits.model }
  // Only where it is there: an object that loses a field is slower from then on.
  if (own.fallback !== undefined) delete own.fallback
  if (decoded.stream && !traits.quirks.has(QUIRKS.noStreamOptions)) {
    const theirs = isJsonObject(own.stream_options) ? own.stream_options : {}
    own.stream_options = { ...theirs, include_usage: true }
  }
  if (traits.quirks.size > 0) for (const field of refusedFields(traits.quirks)) delete own[field]
  const leftOut = leftOutFields(decoded, traits)
  for (const field of leftOut) delete own[field]
  if (leftOut.includes(CACHE_CONTROL_FIELD)) leaveOutCacheControl(own)
  own.messages = restoreSignatures(own.messages, traits.quirks)
  return withOutputLimit(own, decoded.maxOutputTokens, traits)
}

/** What the catalogue says that the model refuses; a tier may choose such a model for a caller who could not know. */
function refusedFields(quirks: ReadonlySet<string>): string[] {
  return [
    ...(quirks.has(QUIRKS.noSampling) ? ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty'] : []),
    ...(quirks.has(QUIRKS.noReasoningEffort) ? ['reasoning_effort'] : []),
  ]
}

/** It may also stand on messages and their parts and calls, and on tools and what they define. */
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

/** The limit that was paid for is the one that is sent, in a field that the provider obeys. */
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

function response(text: string, json: JsonObject, publicModel: string): string {
  return withPublicModel(text, json, publicModel)
}

function event(data: string, json: JsonValue | undefined, context: AnswerContext): string | undefined {
  if (!isJsonObject(json)) return data
  if (!context.wantsUsage && isUsageOnlyChunk(json)) return undefined
  if (typeof json.model !== 'string' && !Array.isArray(json.choices)) return data
  return withPublicModel(data, json, context.model)
}

/** Touches nothing but the model's name; an answer that names none gets the name as its first field. */
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
