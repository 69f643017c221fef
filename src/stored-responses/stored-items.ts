/** One stored answer with the input of its own request, and the items that both are made of. */
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import { STORED_ID } from './limits'

export type StoredResponse = {
  accountId: string
  id: string
  keyId: string
  /** The answer that the request built on. */
  parentId: string | null
  /** As the caller named it. */
  model: string
  createdMs: number
  expiresMs: number
  /** The items of the request's own input, each with an id, as a JSON array. */
  input: string
  /** The answer as its caller was told it, as a JSON object. */
  answer: string
  /** Of both texts. */
  bytes: number
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

/** The ids of `items` by which a later request may name them. */
export function idsOf(items: readonly JsonObject[]): string[] {
  return items.flatMap(({ id }) => (typeof id === 'string' && STORED_ID.test(id) ? [id] : []))
}

/** Numbers keep their digits, however often a conversation goes on. */
function readBack(text: string): JsonValue | undefined {
  const value = parseJson(text)
  rememberNumbers(value, text)
  return value
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
