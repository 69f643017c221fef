/** One stored answer with the input of its own request, and the items of both. */

import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { rememberNumbers, withChanges } from '@/lib/json-source/as-written'
import { inspectJson } from '@/lib/json-source/scan'
import { STORED_ID } from './limits'

export type StoredResponse = {
  accountId: string
  id: string
  keyId: string
  parentId: string | null
  model: string
  createdMs: number
  expiresMs: number
  /** The items of the request's own input, each with an id, as a JSON array. */
  input: string
  /** The sent answer, as a JSON object. */
  answer: string
  /** Size of `input` and `answer` together. */
  bytes: number
  jsonValues: number
  /** The provider's token count of the whole prompt; null if unknown. */
  tokens: number | null
  /** The size of the earlier answers that this one continues; only set for a new answer. */
  before?: ChainSum
}

export type ChainSum = { links: number; bytes: number; values: number }

/** The size of the earlier answers that a request continues: bytes, and tokens as counted by providers. */
export type StoredSum = { bytes: number; tokens: number }

/** An answer to store, with its items: those of the input, then those of the answer. */
export type NewResponse = StoredResponse & {
  items: readonly { id: string; bytes: number }[]
  inputItems: number
  outputItems: number
}

/** The number of values in a JSON text. */
export function countValues(text: string): number {
  return inspectJson(text, { depth: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY }).values
}

/** The items of the request's own input. */
export function inputItems(stored: Pick<StoredResponse, 'input'>): JsonObject[] {
  return objectsOf(readBack(stored.input))
}

/** The items of the answer. */
export function outputItems(stored: Pick<StoredResponse, 'answer'>): JsonObject[] {
  const answer = readBack(stored.answer)
  return isJsonObject(answer) ? objectsOf(answer.output) : []
}

/** Parses a stored text. Numbers keep their digits, even if a conversation is stored many times. */
function readBack(text: string): JsonValue | undefined {
  const value = parseJson(text)
  rememberNumbers(value, text)
  return value
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** The request's own input as items; undefined if invalid: the format's decoder will refuse it. */
export function ownItems(input: JsonValue | undefined): JsonValue[] | undefined {
  if (input === undefined || input === null) return []
  if (typeof input === 'string') {
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
  }
  return Array.isArray(input) ? input : undefined
}

/** The id that `item` refers to; undefined if `item` is no reference. A reference's type may be missing. */
export function referenceOf(item: JsonValue): string | undefined {
  if (!isJsonObject(item) || typeof item.id !== 'string') return undefined
  if (item.type === 'item_reference') return item.id
  return (item.type === undefined || item.type === null) && item.role === undefined ? item.id : undefined
}

/** Whether an id is that of a reasoning item. Unlike other items, it may be missing from a conversation. */
export const isReasoningId = (id: string): boolean => id.startsWith('rs_')

const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  compaction: 'cmp',
}
const OTHER_PREFIX = 'item'

/** The items as stored: each with a type and an id. */
export function withIds(items: readonly JsonValue[]): JsonObject[] {
  return items.filter(isJsonObject).map((item) => {
    const type = typeof item.type === 'string' ? item.type : 'message'
    if (typeof item.id === 'string' && STORED_ID.test(item.id)) return withChanges(item, { type })
    const prefix = Object.hasOwn(PREFIXES, type) ? PREFIXES[type] : OTHER_PREFIX
    return withChanges(item, { type, id: randomId(prefix ?? OTHER_PREFIX) })
  })
}

/** An item in the form for lists: with its status, and with a message's content as a list of parts. */
export function asListed(item: JsonObject): JsonObject {
  const { type, role, content } = item
  if (type !== 'message') return item
  const isAnswer = role === 'assistant'
  const part = isAnswer ? { type: 'output_text', annotations: [] } : { type: 'input_text' }
  const parts = typeof content === 'string' ? [{ ...part, text: content }] : content
  return withChanges(item, { status: item.status ?? 'completed', content: parts })
}
