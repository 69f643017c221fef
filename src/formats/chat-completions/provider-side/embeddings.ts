/** Embeddings at a chat-completions provider: encodes requests and decodes answers. */
import type { EmbeddingAnswer, EmbeddingRequest, Vector, VectorEncoding } from '@/chat/embedding'
import { readCount, type Usage, ZERO_USAGE } from '@/chat/usage'
import { leftOutFields } from '@/formats/body-fields'
import { OWN_EMBEDDING_FIELDS } from '@/formats/chat-completions/body-fields'
import { LIMITS } from '@/formats/chat-completions/limits'
import { QUIRKS } from '@/formats/chat-completions/provider'
import type { EmbeddingCall, EmbeddingTraits, ExpectedVectors } from '@/formats/embeddings'
import { holdsVectors, isNumberedInOrder, readVector } from '@/formats/vectors'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { findUnreadList, readList } from '@/lib/json-source/long-list'

export const MAX_INPUTS = LIMITS.embeddings.inputs.maxItems

/** Up to this number, vectors are requested as numbers; more are requested in base64, which takes a quarter of the memory. */
const MAX_PLAIN_VECTORS = 256

/** The encoding of vectors to request. */
export function askedEncoding({ encoding, inputs }: EmbeddingRequest, { quirks }: EmbeddingTraits): VectorEncoding {
  if (quirks.has(QUIRKS.noBase64Embeddings)) return 'float'
  return encoding === 'base64' || inputs.length > MAX_PLAIN_VECTORS ? 'base64' : 'float'
}

/** The body of one call. If the caller uses this format and all inputs go in one call, this is the caller's body. */
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

const LIST = 'data'
const VECTOR_KEY = '"embedding":'
const NUMBER_KEY = '"index":'

/** The answer's vectors, as unparsed JSON if possible. Undefined if they are not the expected ones. */
export async function decodeEmbeddingsResponse(
  bytes: Uint8Array,
  { written, count }: ExpectedVectors,
): Promise<EmbeddingAnswer | undefined> {
  return (written && keepWritten(bytes, count, written)) ?? readAll(bytes, count)
}

function keepWritten(bytes: Uint8Array, count: number, encoding: VectorEncoding): EmbeddingAnswer | undefined {
  const found = findUnreadList(bytes, LIST)
  if (!found || !holdsVectors(found.inside, { key: VECTOR_KEY, count, encoding })) return undefined
  if (!isNumberedInOrder(found.inside, NUMBER_KEY, count)) return undefined
  return { written: found.inside, usage: decodeEmbeddingsUsage(found.around.usage) }
}

async function readAll(bytes: Uint8Array, count: number): Promise<EmbeddingAnswer | undefined> {
  const list = await readList(bytes, LIST, readEntry)
  if (list?.entries.length !== count) return undefined
  const vectors = inOrder(list.entries).map(({ vector }) => vector)
  return { vectors, usage: decodeEmbeddingsUsage(list.around.usage) }
}

type Entry = { vector: Vector; index: JsonValue | undefined }

function readEntry({ embedding, index }: JsonObject): Entry | undefined {
  const vector = readVector(embedding)
  return vector === undefined ? undefined : { vector, index }
}

/** Sorts the entries by index if all indexes are unique, because many clients rely on the order. */
function inOrder(entries: readonly Entry[]): readonly Entry[] {
  const numbers = new Set(entries.map(({ index }) => (typeof index === 'number' ? index : undefined)))
  if (numbers.size < entries.length || numbers.has(undefined)) return entries
  return entries.toSorted((one, other) => Number(one.index) - Number(other.index))
}

function decodeEmbeddingsUsage(usage: JsonValue | undefined): Usage | null {
  if (!isJsonObject(usage)) return null
  const tokens = readCount(usage.prompt_tokens) || readCount(usage.total_tokens)
  return tokens ? { ...ZERO_USAGE, uncached: tokens } : null
}
