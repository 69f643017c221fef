/** A request to sort documents by their relevance to a query, independent of formats. */
import type { JsonObject, JsonValue } from '@/lib/json'

export type RerankRequest = {
  /** The version of Cohere's API that defines the answer's shape. */
  version: 1 | 2
  /** The model's name in the caller's request. */
  model: string
  /** The texts of the documents, as providers rank them. */
  texts: readonly string[]
  /** The documents as the caller sent them; undefined if the answer omits them. */
  documents: readonly JsonValue[] | undefined
  /** Maximum number of results that the caller wants. */
  mostResults: number
  /** Estimated search units, used if the provider states none. */
  searchUnits: number
  /** The caller's fields that are passed on. */
  fields: JsonObject
  unlisted: readonly string[]
}
