/** What a generate-content provider answers to a batch of requests for embeddings. */
import type { EmbeddingAnswer, Vector } from '@/chat/embedding'
import { readCount, type Usage, ZERO_USAGE } from '@/chat/usage'
import type { ExpectedVectors } from '@/formats/embeddings'
import { findUnreadList, holdsVectors } from '@/formats/unread-list'
import { readVector } from '@/formats/vectors'
import { isJsonObject, type JsonValue, parseJson } from '@/lib/json'

const LIST = 'embeddings'
const VECTOR_KEY = '"values":'

const decoder = new TextDecoder()

/** The vectors, left as they are where they may be. Undefined where they are not what was asked for. */
export function decodeEmbeddingsResponse(bytes: Uint8Array, expected: ExpectedVectors): EmbeddingAnswer | undefined {
  return (expected.written && keepWritten(bytes, expected.count)) ?? readAll(bytes, expected.count)
}

function keepWritten(bytes: Uint8Array, count: number): EmbeddingAnswer | undefined {
  const found = findUnreadList(bytes, LIST)
  if (!found || !holdsVectors(found.inside, { key: VECTOR_KEY, count, encoding: 'float' })) return undefined
  return { written: found.inside, usage: decodeEmbeddingsUsage(found.around.usageMetadata) }
}

function readAll(bytes: Uint8Array, count: number): EmbeddingAnswer | undefined {
  const json = parseJson(decoder.decode(bytes))
  const list = isJsonObject(json) ? json[LIST] : undefined
  if (!isJsonObject(json) || !Array.isArray(list) || list.length !== count) return undefined
  const vectors = list.map((entry) => (isJsonObject(entry) ? readVector(entry.values) : undefined))
  return vectors.every(isVector) ? { vectors, usage: decodeEmbeddingsUsage(json.usageMetadata) } : undefined
}

function isVector(vector: Vector | undefined): vector is Vector {
  return vector !== undefined
}

/** Null where nothing usable is said: no input takes no tokens at all. */
function decodeEmbeddingsUsage(usage: JsonValue | undefined): Usage | null {
  if (!isJsonObject(usage)) return null
  const tokens = readCount(usage.promptTokenCount) || readCount(usage.totalTokenCount)
  return tokens ? { ...ZERO_USAGE, uncached: tokens } : null
}
