/** A request to sort documents by their relevance to a query, independent of formats. */
import type { JsonObject, JsonValue } from '@/lib/json'

export type RerankRequest = {
  /** The version of Cohere's API in whose shape the caller is answered. */
  version: 1 | 2
  /** The model by the caller's name. */
  model: string
  /** The texts of the documents, as providers rank them. */
  texts: readonly string[]
  /** The documents as the caller sent them; undefined if the answer has none. */
  documents: readonly JsonValue[] | undefined
  /** The most results that the caller wants. */
  mostResults: number
  /** The likely search units, for an answer whose provider states none. */
  searchUnits: number
  /** The caller's fields that are passed on. */
  fields: JsonObject
  unlisted: readonly string[]
}
