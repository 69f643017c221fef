/** The duties of a format that has embeddings as well as conversations. Other formats omit this part of the contract. */
import type { EmbeddingAnswer, EmbeddingRequest, VectorEncoding } from '@/chat/embedding'
import type { JsonObject } from '@/lib/json'

/** One call of several that a request may take: the inputs from `start` up to `end`. */
export type EmbeddingCall = {
  request: EmbeddingRequest
  start: number
  end: number
  /** The caller's own body, where the caller speaks the provider's format. */
  body: JsonObject | undefined
  /** How the vectors are asked for, where a provider can be asked. */
  encoding: VectorEncoding
}

/** What an answer is held against. */
export type ExpectedVectors = {
  count: number
  /** The encoding in which the list of vectors may stay as the provider wrote it; undefined if it is to be read. */
  written: VectorEncoding | undefined
}

/** What of a target the format's providers need to know, as for a conversation. */
export type EmbeddingTraits = { model: string; quirks: ReadonlySet<string>; passFields: ReadonlySet<string> }

/** The content of an answer besides its vectors. */
export type ToldEmbedding = {
  request: Pick<EmbeddingRequest, 'isLone' | 'encoding'>
  /** The public model id. */
  model: string
  /** The tokens that are charged. */
  inputTokens: number
}

export interface Embeddings {
  /** The most inputs of one call. */
  readonly maxInputs: number
  /** Whether its providers read tokens as well as texts. */
  readonly takesTokens: boolean
  /** How a provider of the format is asked to write the vectors of a call. */
  askedEncoding(request: EmbeddingRequest, traits: EmbeddingTraits): VectorEncoding
  encodeRequest(call: EmbeddingCall, traits: EmbeddingTraits): JsonObject
  /** Returns undefined where `bytes` is no answer of this format, or one to another number of inputs. */
  decodeResponse(bytes: Uint8Array, expected: ExpectedVectors): Promise<EmbeddingAnswer | undefined>
  /** The answer in pieces: it can be too long for one text. */
  encodeResponse(answer: EmbeddingAnswer, told: ToldEmbedding): Iterable<string | Uint8Array>
}
