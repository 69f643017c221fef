/** Corrections of complete and streamed answers that would break official clients. A null field counts as missing. */

import type { AnswerContext, PassHooks } from '@/formats/format'
import { formatDataUrl } from '@/formats/media'
import type { Repair } from '@/formats/repairs'
import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import type { JsonEdit } from '@/lib/json-splice'
import { decodeContent } from './answer-content'
import { encodeFinishReason, publishedReason } from './finish-reason'
import { decodeArguments, encodeArguments } from './tool-calls'
import { decodeUsage, encodeUsage } from './usage'

/** Records that the value at `path` must become `value` (or be removed, if undefined). `repair` names the reason. */
export type Put = (path: JsonEdit['path'], value: JsonValue | undefined, repair: Repair) => void

/** Repairs the fields that every answer and chunk must have; `id` is used if there is none. */
export function repairHead(put: Put, json: JsonObject, object: string, id: string, { created }: AnswerContext): void {
  if (typeof json.id !== 'string') put(['id'], id, 'id')
  if (json.object !== object) put(['object'], object, 'object')
  if (!Number.isSafeInteger(json.created)) put(['created'], readSeconds(json.created) ?? created, 'created')
}

function readSeconds(given: JsonValue | undefined): number | undefined {
  const seconds = Math.floor(typeof given === 'string' && given !== '' ? Number(given) : Number.NaN)
  const whole = typeof given === 'number' ? Math.floor(given) : seconds
  return Number.isSafeInteger(whole) && whole >= 0 ? whole : undefined
}

/** Mistral and other providers send content as parts; each part is moved to the field that clients read. */
export function repairContent(put: Put, path: JsonEdit['path'], message: JsonObject): void {
  const { content } = message
  if (content === undefined || content === null || typeof content === 'string') return
  const parts = decodeContent({ content })
  const textOfKind = (kind: 'text' | 'reasoning' | 'refusal') =>
    parts.flatMap((part) => (part.type === kind ? [part.text] : [])).join('')
  const text = textOfKind('text')
  put([...path, 'content'], text === '' ? null : text, 'content')
  for (const [kind, field] of [
    ['reasoning', 'reasoning_content'],
    ['refusal', 'refusal'],
  ] as const) {
    const own = textOfKind(kind)
    if (own !== '' && !textOf(message[field])) put([...path, field], own, 'content')
  }
  const images = parts.flatMap((part) => (part.type === 'image' ? [encodeImage(part.source)] : []))
  if (images.length > 0 && !Array.isArray(message.images)) put([...path, 'images'], images, 'content')
}

type ImageSource = Extract<ReturnType<typeof decodeContent>[number], { type: 'image' }>['source']

function encodeImage(source: ImageSource): JsonObject {
  const url =
    source.type === 'base64' ? formatDataUrl(source.mediaType, source.data) : source.type === 'url' && source.url
  return { type: 'image_url', image_url: { url: url || '' } }
}

/** Repairs a choice's index, log probabilities and finish reason; `otherwise` is the default reason. */
export function repairChoice(
  put: Put,
  path: JsonEdit['path'],
  choice: JsonObject,
  index: number,
  otherwise?: string,
): void {
  if (choice.index !== index) put([...path, 'index'], index, 'index')
  const { logprobs, finish_reason: given } = choice
  if (logprobs !== undefined && logprobs !== null && !isJsonObject(logprobs))
    put([...path, 'logprobs'], null, 'logprobs')
  const reason = given === undefined ? null : publishedReason(given)
  const fresh = reason ?? otherwise ?? null
  if (fresh !== (given ?? null)) put([...path, 'finish_reason'], fresh, 'finish_reason')
}

/** The calls of a complete message: each needs an id, a type and arguments as a text. A call without a name is removed. */
function repairCalls(put: Put, path: JsonEdit['path'], calls: JsonValue | undefined): void {
  if (calls === undefined || calls === null) return
  if (!Array.isArray(calls)) put(path, undefined, 'tool_calls')
  for (const [index, call] of Array.isArray(calls) ? calls.entries() : []) {
    const place = [...path, index]
    const isCustom = isJsonObject(call) && isJsonObject(call.custom)
    const target = isJsonObject(call) ? (isCustom ? call.custom : call.function) : undefined
    if (!isJsonObject(call) || !isJsonObject(target) || !textOf(target.name)) {
      put(place, undefined, 'tool_calls')
      continue
    }
    if (!textOf(call.id)) put([...place, 'id'], randomId('call'), 'id')
    const type = isCustom ? 'custom' : 'function'
    if (call.type !== type) put([...place, 'type'], type, 'type')
    const text = isCustom ? undefined : encodeArguments(decodeArguments(target.arguments))
    if (text !== undefined && text !== target.arguments) put([...place, 'function', 'arguments'], text, 'arguments')
  }
}

/** Adds the missing total to a usage object. */
export function repairSum(put: Put, usage: JsonValue | undefined): void {
  if (!isJsonObject(usage) || typeof usage.total_tokens === 'number') return
  put(['usage', 'total_tokens'], Number(usage.prompt_tokens) + Number(usage.completion_tokens), 'usage')
}

/** Lists the edits that repair an answer. If the answer has no usage, the charged usage is added. */
export function repairAnswer(json: JsonObject, context: AnswerContext, hooks: PassHooks): JsonEdit[] {
  const edits: JsonEdit[] = []
  const put: Put = (path, value, repair) => {
    edits.push({ path, value })
    hooks.repaired(repair)
  }
  repairHead(put, json, 'chat.completion', context.id, context)
  const choices = Array.isArray(json.choices) ? json.choices : []
  for (const [index, choice] of choices.entries()) {
    if (isJsonObject(choice) && isJsonObject(choice.message)) repairWhole(put, index, choice, choice.message)
    else put(['choices', index], undefined, 'choices')
  }
  if (decodeUsage(json.usage)) repairSum(put, json.usage)
  else put(['usage'], encodeUsage(hooks.charged()), 'usage')
  if (context.forOpenRouter && json.system_fingerprint === undefined)
    edits.push({ path: ['system_fingerprint'], value: null })
  return edits
}

function repairWhole(put: Put, place: number, choice: JsonObject, message: JsonObject): void {
  const path = ['choices', place, 'message']
  const hasCalls = Array.isArray(message.tool_calls) && message.tool_calls.length > 0
  const index = Number.isSafeInteger(choice.index) && Number(choice.index) >= 0 ? Number(choice.index) : place
  const otherwise = isJsonObject(message.function_call)
    ? 'function_call'
    : encodeFinishReason({ kind: 'stop' }, { hasToolCalls: hasCalls, hasRefusal: false })
  repairChoice(put, ['choices', place], choice, index, otherwise)
  if (message.role !== 'assistant') put([...path, 'role'], 'assistant', 'role')
  repairContent(put, path, message)
  repairAnnotations(put, path, message.annotations)
  repairCalls(put, [...path, 'tool_calls'], message.tool_calls)
}

/** Libraries throw at other vendors' annotations, and at citations without a required field. */
export function repairAnnotations(put: Put, path: JsonEdit['path'], annotations: JsonValue | undefined): void {
  if (!Array.isArray(annotations)) return
  const list = [...path, 'annotations']
  for (const [place, annotation] of annotations.entries()) {
    const citation = isJsonObject(annotation) && annotation.type === 'url_citation' && annotation.url_citation
    if (isJsonObject(citation) && textOf(citation.url)) repairCitation(put, [...list, place, 'url_citation'], citation)
    else put([...list, place], undefined, 'annotations')
  }
}

function repairCitation(put: Put, path: JsonEdit['path'], citation: JsonObject): void {
  if (typeof citation.title !== 'string') put([...path, 'title'], '', 'annotations')
  for (const name of ['start_index', 'end_index']) {
    if (typeof citation[name] !== 'number') put([...path, name], 0, 'annotations')
  }
}

/** Repairs lists in one choice's messages, except tool calls. The lists arrive in chunks. */
export class ListRepair {
  private lengths: Map<string, number> | undefined

  /** Gives each item in a list of `delta` its index in the whole list, if it has none. */
  repair(put: Put, path: JsonEdit['path'], delta: JsonObject): void {
    for (const name in delta) {
      const list = delta[name]
      if (Array.isArray(list) && name !== 'tool_calls' && name !== 'content') this.repairList(put, path, name, list)
    }
  }

  private repairList(put: Put, path: JsonEdit['path'], name: string, list: readonly JsonValue[]): void {
    this.lengths ??= new Map()
    let length = this.lengths.get(name) ?? 0
    for (const [place, item] of list.entries()) {
      if (!isJsonObject(item)) continue
      const isPlaced = typeof item.index === 'number'
      if (!isPlaced) put([...path, name, place, 'index'], length, 'index')
      length = Math.max(length, (isPlaced ? Number(item.index) : length) + 1)
    }
    this.lengths.set(name, length)
  }
}
