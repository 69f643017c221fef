/** How complete and streamed answers are corrected where official clients break on them. Null and absent count alike. */
import type { AnswerContext } from '@/formats/format'
import { formatDataUrl } from '@/formats/media'
import type { Repair } from '@/formats/repairs'
import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import type { JsonEdit } from '@/lib/json-splice'
import { decodeContent } from './answer-content'
import { publishedReason } from './finish-reason'
import { decodeArguments, encodeArguments } from './tool-arguments'

/** Takes note that what stands at `path` is to be `value`, or to go, because `repair` was not as published. */
export type Put = (path: JsonEdit['path'], value: JsonValue | undefined, repair: Repair) => void

/** The fields that every answer and chunk has. `id` is what it is called where it has none. */
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

/** Mistral and others write contents as parts; whatever can be told of them goes where clients look for it. */
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

/** A choice's place, its log probabilities, and why it ended; `otherwise` is that reason where one has to be given. */
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

/** The calls of a complete message: each has an id, a type and its arguments as a text. One without a name can't be answered, and goes. */
export function repairCalls(put: Put, path: JsonEdit['path'], calls: JsonValue | undefined): void {
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

/** A usage object that can be read says its sum as well. */
export function repairSum(put: Put, usage: JsonValue | undefined): void {
  if (!isJsonObject(usage) || typeof usage.total_tokens === 'number') return
  put(['usage', 'total_tokens'], Number(usage.prompt_tokens) + Number(usage.completion_tokens), 'usage')
}
