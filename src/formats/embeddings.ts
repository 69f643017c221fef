/** The embeddings part of a format's contract. Formats without embeddings omit it. */
import type { EmbeddingAnswer, EmbeddingRequest, VectorEncoding } from '@/chat/embedding'
import type { JsonObject } from '@/lib/json'

/** One of the calls for a request: the inputs from `start` (inclusive) to `end` (exclusive). */
export type EmbeddingCall = {
  request: EmbeddingRequest
  start: number
  end: number
  /** The caller's own body, if the caller uses the provider's format. */
  body: JsonObject | undefined
  /** The encoding of vectors to request, if the provider supports a choice. */
  encoding: VectorEncoding
}

/** The properties that an answer must have. */
export type ExpectedVectors = {
  count: number
  /** The encoding of a list of vectors that is passed on without parsing; undefined if it must be parsed. */
  written: VectorEncoding | undefined
}

export type EmbeddingTraits = { model: string; quirks: ReadonlySet<string>; passFields: ReadonlySet<string> }

export type ToldEmbedding = {
  request: Pick<EmbeddingRequest, 'isLone' | 'encoding'>
  model: string
  /** Number of input tokens that are charged. */
  inputTokens: number
}

export interface Embeddings {
  /** Maximum number of inputs in one call. */
  readonly maxInputs: number
  /** Whether providers accept tokens as well as texts. */
  readonly takesTokens: boolean
  /** The encoding to request from a provider of the format. */
  askedEncoding(request: EmbeddingRequest, traits: EmbeddingTraits): VectorEncoding
  encodeRequest(call: EmbeddingCall, traits: EmbeddingTraits): JsonObject
  /** Undefined if `bytes` is not an answer of this format, or has another number of vectors. */
  decodeResponse(bytes: Uint8Array, expected: ExpectedVectors): Promise<EmbeddingAnswer | undefined>
  /** The answer in parts, since it may be too long for one string. */
  encodeResponse(answer: EmbeddingAnswer, told: ToldEmbedding): Iterable<string | Uint8Array>
}
