/** Corrects providers' responses that would break OpenAI's official clients. */

import type { AnswerContext, PassHooks } from '@/formats/format'
import type { Repair } from '@/formats/repairs'
import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { asWritten, parseAsWritten } from '@/lib/json-source/as-written'
import { editJson, type JsonEdit } from '@/lib/json-splice'
import { decodeArguments, encodeArguments } from './tool-calls'
import { decodeUsage, encodeUsage } from './usage'

/** Fields that repeat the request. The gateway sets the caller's values, since the provider may have got other values. */
const ECHOED = [
  'store',
  'previous_response_id',
  'instructions',
  'metadata',
  'tools',
  'max_output_tokens',
  'max_tool_calls',
  'prompt_cache_key',
  'safety_identifier',
] as const

/** The answer's id and the fields that repeat the request, with the gateway's values, not the provider's. */
type Identity = { id: string; created: number; own: [name: string, value: JsonValue, text: string][] }

/** Prefix of our ids, such as `req_`; this format's ids begin with `resp_`. */
const PREFIX = /^[a-z]+_/

/** The fields of one answer that get the gateway's values. */
export function identityOf({ id, created, model, answerEcho: echo = {} }: AnswerContext): Identity {
  const ownId = textOf(echo.id) ?? `resp_${id.replace(PREFIX, '')}`
  const fields: [string, JsonValue | undefined][] = [
    ['id', ownId],
    ['model', model],
    ...ECHOED.map((name): [string, JsonValue | undefined] => [name, echo[name]]),
  ]
  const own = fields.flatMap(([name, value]): Identity['own'] =>
    value === undefined ? [] : [[name, value, JSON.stringify(value)]],
  )
  return { id: ownId, created, own }
}

/** Edits for a response object at `path`: our own values, and required fields. */
export function repairHead(
  put: Put,
  edits: JsonEdit[],
  path: JsonEdit['path'],
  json: JsonObject,
  whose: Identity,
): void {
  for (const [name, value, text] of whose.own) {
    const stated = json[name]
    const isSame = typeof stated === 'object' ? JSON.stringify(stated) === text : stated === value
    if (!isSame) edits.push({ path: [...path, name], value, text })
  }
  if (json.object !== 'response') put([...path, 'object'], 'response', 'object')
  if (typeof json.created_at !== 'number') put([...path, 'created_at'], whose.created, 'created')
}

/** Repairs a finished answer's usage: adds counts that clients read, or the charged usage if the answer has none. */
export function repairUsage(put: Put, path: JsonEdit['path'], stated: JsonValue | undefined, hooks: PassHooks): void {
  const usage = decodeUsage(stated)
  if (!usage || !isJsonObject(stated)) {
    put(path, encodeUsage(hooks.charged()), 'usage')
    return
  }
  for (const [name, full] of Object.entries(encodeUsage(usage))) {
    const given = stated[name]
    if (!isJsonObject(full)) {
      if (given === undefined || given === null) put([...path, name], full, 'usage')
    } else if (!isJsonObject(given)) put([...path, name], full, 'usage')
    else
      for (const [inner, count] of Object.entries(full)) {
        if (typeof given[inner] !== 'number') put([...path, name, inner], count, 'usage')
      }
  }
}

const ID_PREFIXES: ReadonlyMap<string, string> = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['custom_tool_call', 'ctc'],
  ['image_generation_call', 'ig'],
  ['web_search_call', 'ws'],
])

/** A new id for an item without one. */
export function newItemId(type: JsonValue | undefined): string {
  return randomId(ID_PREFIXES.get(textOf(type) ?? '') ?? 'item')
}

const STATUSES: ReadonlySet<JsonValue | undefined> = new Set(['in_progress', 'completed', 'incomplete'])

/** Repairs an output item, finished (`isDone`) or just begun, except for its id. */
export function repairItem(put: Put, path: JsonEdit['path'], item: JsonObject, isDone: boolean): void {
  switch (item.type) {
    case 'message':
      repairStatus(put, path, item, isDone)
      if (!Array.isArray(item.content)) put([...path, 'content'], contentOf(item.content), 'content')
      else for (const [index, part] of item.content.entries()) repairPart(put, [...path, 'content', index], part)
      return
    case 'reasoning':
      if (!Array.isArray(item.summary)) put([...path, 'summary'], [], 'summary')
      return
    case 'function_call': {
      repairStatus(put, path, item, isDone)
      if (isDone) repairArguments(put, [...path, 'arguments'], item.arguments)
      else if (typeof item.arguments !== 'string') put([...path, 'arguments'], '', 'arguments')
      return
    }
    case 'custom_tool_call':
      repairStatus(put, path, item, isDone)
  }
}

/** A copy of a finished item with all repairs. */
export function repairedItem(item: JsonObject): JsonValue {
  const edits: JsonEdit[] = []
  repairItem((path, value) => edits.push({ path, value }), [], item, true)
  const text = JSON.stringify(asWritten(item))
  return edits.length > 0 ? (parseAsWritten(editJson(text, edits)) ?? item) : asWritten(item)
}

function repairStatus(put: Put, path: JsonEdit['path'], { status }: JsonObject, isDone: boolean): void {
  if (!STATUSES.has(status)) put([...path, 'status'], isDone ? 'completed' : 'in_progress', 'status')
}

function contentOf(content: JsonValue | undefined): JsonValue {
  return typeof content === 'string' && content !== '' ? [{ type: 'output_text', text: content, annotations: [] }] : []
}

/** Repairs a message's part: a text needs a list of valid annotations, which may be empty. */
export function repairPart(put: Put, path: JsonEdit['path'], part: JsonValue | undefined): void {
  if (!isJsonObject(part) || part.type !== 'output_text') return
  if (Array.isArray(part.annotations)) repairAnnotations(put, [...path, 'annotations'], part.annotations)
  else put([...path, 'annotations'], [], 'annotations')
}

/** Arguments must be a parsable text. */
export function repairArguments(put: Put, path: JsonEdit['path'], given: JsonValue | undefined): void {
  const text = encodeArguments(decodeArguments(given))
  if (text !== given) put(path, text, 'arguments')
}

/** Lists the edits that repair an answer. If the answer states no valid usage, the charged usage is added. */
export function repairAnswer(json: JsonObject, context: AnswerContext, hooks: PassHooks): JsonEdit[] {
  const edits: JsonEdit[] = []
  const put: Put = (path, value, repair) => {
    edits.push({ path, value })
    hooks.repaired(repair)
  }
  repairHead(put, edits, [], json, identityOf(context))
  for (const [index, item] of (Array.isArray(json.output) ? json.output : []).entries()) {
    if (!isJsonObject(item)) {
      put(['output', index], undefined, 'output')
      continue
    }
    if (!textOf(item.id)) put(['output', index, 'id'], newItemId(item.type), 'id')
    repairItem(put, ['output', index], item, true)
  }
  repairUsage(put, ['usage'], json.usage, hooks)
  return edits
}

/** Records that the value at `path` must become `value` (or be removed, if undefined). `repair` names the reason. */
export type Put = (path: JsonEdit['path'], value: JsonValue | undefined, repair: Repair) => void

type Kind = { about: string; rest: Readonly<Record<string, string | number>> }

/** The required field of each kind of annotation, and defaults of its other fields. */
const KINDS: ReadonlyMap<JsonValue | undefined, Kind> = new Map<JsonValue | undefined, Kind>([
  ['url_citation', { about: 'url', rest: { title: '', start_index: 0, end_index: 0 } }],
  ['file_citation', { about: 'file_id', rest: { filename: '', index: 0 } }],
  [
    'container_file_citation',
    { about: 'file_id', rest: { container_id: '', filename: '', start_index: 0, end_index: 0 } },
  ],
  ['file_path', { about: 'file_id', rest: { index: 0 } }],
])

/** Repairs an annotation; false if clients don't know its kind: it must then be removed. */
export function repairAnnotation(put: Put, path: JsonEdit['path'], annotation: JsonValue | undefined): boolean {
  if (!isKnownAnnotation(annotation)) return false
  for (const [name, none] of Object.entries(KINDS.get(annotation.type)?.rest ?? {})) {
    if (typeof annotation[name] !== typeof none) put([...path, name], none, 'annotations')
  }
  return true
}

function repairAnnotations(put: Put, path: JsonEdit['path'], list: readonly JsonValue[]): void {
  for (const [place, annotation] of list.entries()) {
    if (!repairAnnotation(put, [...path, place], annotation)) put([...path, place], undefined, 'annotations')
  }
}

/** Whether clients know an annotation's kind, and its required field is present. */
export function isKnownAnnotation(annotation: JsonValue | undefined): annotation is JsonObject {
  if (!isJsonObject(annotation)) return false
  const kind = KINDS.get(annotation.type)
  return kind !== undefined && Boolean(textOf(annotation[kind.about]))
}
