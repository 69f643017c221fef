/** A request for embeddings as chat-completions providers take it. */
import type { EmbeddingRequest, VectorEncoding } from '@/chat/embedding'
import { leftOutFields } from '@/formats/body-fields'
import { OWN_EMBEDDING_FIELDS } from '@/formats/chat-completions/embedding-fields'
import { LIMITS } from '@/formats/chat-completions/limits'
import { QUIRKS } from '@/formats/chat-completions/quirks'
import type { EmbeddingCall, EmbeddingTraits } from '@/formats/embeddings'
import type { JsonObject } from '@/lib/json'

export const MAX_INPUTS = LIMITS.embeddings.inputs.maxItems

/** Up to so many vectors, whoever wants numbers gets them as the provider wrote them; more take a quarter of the room in base64. */
const MAX_PLAIN_VECTORS = 256

/** How the provider is asked to write the vectors. */
export function askedEncoding({ encoding, inputs }: EmbeddingRequest, { quirks }: EmbeddingTraits): VectorEncoding {
  if (quirks.has(QUIRKS.noBase64Embeddings)) return 'float'
  return encoding === 'base64' || inputs.length > MAX_PLAIN_VECTORS ? 'base64' : 'float'
}

/** The body of one call: the caller's own, where the caller speaks this format, and all inputs are asked for at once. */
export function encodeEmbeddingsRequest(call: EmbeddingCall, traits: EmbeddingTraits): JsonObject {
  const { request, body, encoding, start, end } = call
  const { dimensions } = request
  if (body) return { ...passedFields(body, request, traits), model: traits.model, encoding_format: encoding }
  return {
    model: traits.model,
    input: request.inputs.slice(start, end).map((input) => (input.type === 'text' ? input.text : [...input.tokens])),
    ...(dimensions !== undefined && { dimensions }),
    encoding_format: encoding,
  }
}

function passedFields(body: JsonObject, request: EmbeddingRequest, traits: EmbeddingTraits): JsonObject {
  const leftOut = new Set(leftOutFields(request, traits))
  const passed = Object.entries(body).filter(
    ([field, value]) => value !== null && !leftOut.has(field) && !OWN_EMBEDDING_FIELDS.has(field),
  )
  return Object.fromEntries(passed)
}
