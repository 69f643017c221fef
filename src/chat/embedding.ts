/** A request to a model that embeds, and its answer, in no format's own words: texts in, a vector for each out. */
import type { JsonObject } from '@/lib/json'
import type { RoutePreferences } from './preferences'
import type { Usage } from './usage'

/** How the numbers of a vector are written: as JSON, or as the base64 of little-endian 32-bit floats. */
export type VectorEncoding = 'float' | 'base64'

/** One thing to embed. `own`: the format's own fields, for its providers; `title`: read by the model too. */
export type EmbeddingInput =
  | { type: 'text'; text: string; title?: string; own?: JsonObject }
  /** The text as tokens of the model's vocabulary. */
  | { type: 'tokens'; tokens: readonly number[] }

/** Tokens of all inputs of one request together. */
export const MAX_EMBEDDING_TOKENS = 300_000

export type EmbeddingRequest = {
  model: string
  /** Never empty. */
  inputs: readonly EmbeddingInput[]
  /** Whether the caller's format asks for one vector, rather than for a list of one. */
  isLone: boolean
  /** How long the vectors are to be; undefined = the model's own length. */
  dimensions?: number
  /** How the caller wants the vectors. */
  encoding: VectorEncoding
  preferences?: RoutePreferences
  /** Whom the caller names as the end user. */
  userId?: string
  /** The caller's fields that only a provider of the caller's own format is sent. */
  nativeFields: readonly string[]
  /** Those that no provider is sent, unless the catalogue has them passed on. */
  unlisted?: string[]
}

/** Numbers, or the base64 of them. */
export type Vector = readonly number[] | string

/** An answer to some inputs, in order: vectors, or the unread list. `usage` is null if none was stated. */
export type EmbeddingAnswer = ({ vectors: readonly Vector[] } | { written: Uint8Array }) & { usage: Usage | null }
