/** Embeddings requests and answers, independent of formats: texts in, one vector each out. */
import type { JsonObject } from '@/lib/json'
import type { RoutePreferences } from './preferences'
import type { Usage } from './usage'

/** Encoding of a vector's numbers: JSON, or base64 of little-endian 32-bit floats. */
export type VectorEncoding = 'float' | 'base64'

/** One input. `own`: fields sent only to providers of the caller's format. `title`: read by the model with the text. */
export type EmbeddingInput =
  | { type: 'text'; text: string; title?: string; own?: JsonObject }
  /** The text as tokens of the model's vocabulary. */
  | { type: 'tokens'; tokens: readonly number[] }

export const MAX_EMBEDDING_TOKENS = 300_000

export type EmbeddingRequest = {
  model: string
  inputs: readonly EmbeddingInput[]
  isLone: boolean
  dimensions?: number
  encoding: VectorEncoding
  preferences?: RoutePreferences
  userId?: string
  /** Fields that are sent only to providers of the caller's own format. */
  nativeFields: readonly string[]
  /** Fields that are not sent, unless the catalogue allows them. */
  unlisted?: string[]
}

export type Vector = readonly number[] | string

/** The vectors of some inputs, in order, or their list as unparsed bytes. `usage` is null if none was reported. */
export type EmbeddingAnswer = ({ vectors: readonly Vector[] } | { written: Uint8Array }) & { usage: Usage | null }
