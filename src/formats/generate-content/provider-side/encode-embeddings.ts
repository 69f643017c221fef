/** A request for embeddings as generate-content providers take it: always as a batch, which does what a lone one does. */
import type { EmbeddingInput, EmbeddingRequest, VectorEncoding } from '@/chat/embedding'
import { leftOutFields } from '@/formats/body-fields'
import type { EmbeddingCall, EmbeddingTraits } from '@/formats/embeddings'
import { LIMITS } from '@/formats/generate-content/limits'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'

export const MAX_INPUTS = LIMITS.embeddings.requests.maxItems

/** Providers of this format know no other. */
export function askedEncoding(): VectorEncoding {
  return 'float'
}

/** The body of one call: the caller's own requests, where the caller speaks this format. */
export function encodeEmbeddingsRequest(call: EmbeddingCall, traits: EmbeddingTraits): JsonObject {
  const { request, body, start, end } = call
  const leftOut = body ? new Set(leftOutFields(request, traits)) : undefined
  const requests = request.inputs.slice(start, end).map((input) => ({
    ...(leftOut ? ownFields(input, leftOut) : commonFields(input, request)),
    model: `models/${traits.model}`,
  }))
  return { requests }
}

function ownFields({ own }: EmbeddingInput & { own?: JsonObject }, leftOut: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(own ?? {}).filter(([field]) => !leftOut.has(field)))
}

function commonFields(input: EmbeddingInput, { dimensions }: EmbeddingRequest): JsonObject {
  assert(input.type === 'text', 'no tokens are sent to who reads none')
  return {
    content: { parts: [{ text: input.text }] },
    ...(dimensions !== undefined && { outputDimensionality: dimensions }),
  }
}
