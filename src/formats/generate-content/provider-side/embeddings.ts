/** Embeddings at a generate-content provider: encodes requests and decodes answers. */
import type { EmbeddingAnswer, EmbeddingInput, EmbeddingRequest, VectorEncoding } from '@/chat/embedding'
import { readCount, type Usage, ZERO_USAGE } from '@/chat/usage'
import { leftOutFields } from '@/formats/body-fields'
import type { EmbeddingCall, EmbeddingTraits, ExpectedVectors } from '@/formats/embeddings'
import { LIMITS } from '@/formats/generate-content/limits'
import { holdsVectors, readVector } from '@/formats/vectors'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { findUnreadList, readList } from '@/lib/json-source/long-list'

export const MAX_INPUTS = LIMITS.embeddings.requests.maxItems

/** The only encoding of this format. */
export function askedEncoding(): VectorEncoding {
  return 'float'
}

/** The body of one call, always a batch, equivalent to single requests. Requests of this format's callers are sent as they are. */
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

const LIST = 'embeddings'
const VECTOR_KEY = '"values":'

/** The answer's vectors, as unparsed JSON if possible. Undefined if they are not the expected ones. */
export async function decodeEmbeddingsResponse(
  bytes: Uint8Array,
  { written, count }: ExpectedVectors,
): Promise<EmbeddingAnswer | undefined> {
  return (written && keepWritten(bytes, count)) ?? readAll(bytes, count)
}

function keepWritten(bytes: Uint8Array, count: number): EmbeddingAnswer | undefined {
  const found = findUnreadList(bytes, LIST)
  if (!found || !holdsVectors(found.inside, { key: VECTOR_KEY, count, encoding: 'float' })) return undefined
  return { written: found.inside, usage: decodeEmbeddingsUsage(found.around.usageMetadata) }
}

async function readAll(bytes: Uint8Array, count: number): Promise<EmbeddingAnswer | undefined> {
  const list = await readList(bytes, LIST, ({ values }) => readVector(values))
  if (list?.entries.length !== count) return undefined
  return { vectors: list.entries, usage: decodeEmbeddingsUsage(list.around.usageMetadata) }
}

/** Null if the reported count is missing or zero: every input has at least one token. */
function decodeEmbeddingsUsage(usage: JsonValue | undefined): Usage | null {
  if (!isJsonObject(usage)) return null
  const tokens = readCount(usage.promptTokenCount) || readCount(usage.totalTokenCount)
  return tokens ? { ...ZERO_USAGE, uncached: tokens } : null
}
