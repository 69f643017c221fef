/** One stored answer with the input of its own request, and the items that both are made of. */
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import { inspectJson } from '@/lib/json-source/scan'

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
  /** In both texts; null or left out where nobody has measured it, as in what older versions have stored. */
  jsonValues?: number | null
  /** That its provider counted of the whole prompt; likewise. */
  tokens?: number | null
  /** What it builds on; known of fresh ones. */
  before?: ChainSum
}

/** What a chain of answers comes to. */
export type ChainSum = { links: number; bytes: number; values: number }

/** What is to be read before a request can go on: bytes, and the tokens that providers counted when they read it last. */
export type StoredSum = { bytes: number; tokens: number }

/** One that is about to be stored, with its items: those of its input, then those of the answer. */
export type NewResponse = StoredResponse & {
  items: readonly { id: string; bytes: number }[]
  inputItems: number
  outputItems: number
}

/** How many values a text of JSON holds. */
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

/** Numbers keep their digits, however often a conversation goes on. */
function readBack(text: string): JsonValue | undefined {
  const value = parseJson(text)
  rememberNumbers(value, text)
  return value
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
