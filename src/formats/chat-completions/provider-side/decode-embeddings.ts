/** What a chat-completions provider answers to a request for embeddings. */
import type { EmbeddingAnswer, Vector, VectorEncoding } from '@/chat/embedding'
import { readCount, type Usage, ZERO_USAGE } from '@/chat/usage'
import type { ExpectedVectors } from '@/formats/embeddings'
import { findUnreadList, holdsVectors, isNumberedInOrder } from '@/formats/unread-list'
import { readVector } from '@/formats/vectors'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'

const LIST = 'data'
const VECTOR_KEY = '"embedding":'
const NUMBER_KEY = '"index":'

const decoder = new TextDecoder()

/** The vectors, left as they are where they may be. Undefined where they are not what was asked for. */
export function decodeEmbeddingsResponse(bytes: Uint8Array, expected: ExpectedVectors): EmbeddingAnswer | undefined {
  return (expected.written && keepWritten(bytes, expected.count, expected.written)) ?? readAll(bytes, expected.count)
}

function keepWritten(bytes: Uint8Array, count: number, encoding: VectorEncoding): EmbeddingAnswer | undefined {
  const found = findUnreadList(bytes, LIST)
  if (!found || !holdsVectors(found.inside, { key: VECTOR_KEY, count, encoding })) return undefined
  if (!isNumberedInOrder(found.inside, NUMBER_KEY, count)) return undefined
  return { written: found.inside, usage: decodeEmbeddingsUsage(found.around.usage) }
}

function readAll(bytes: Uint8Array, count: number): EmbeddingAnswer | undefined {
  const json = parseJson(decoder.decode(bytes))
  if (!isJsonObject(json) || !Array.isArray(json[LIST]) || json[LIST].length !== count) return undefined
  const entries = json[LIST].filter(isJsonObject)
  const vectors = inOrder(entries).map(({ embedding }) => readVector(embedding))
  if (vectors.length !== count || !vectors.every(isVector)) return undefined
  return { vectors, usage: decodeEmbeddingsUsage(json.usage) }
}

/** By their numbers, where each has one of its own: many clients go by the place. */
function inOrder(entries: readonly JsonObject[]): readonly JsonObject[] {
  const numbers = new Set(entries.map(({ index }) => (typeof index === 'number' ? index : undefined)))
  if (numbers.size < entries.length || numbers.has(undefined)) return entries
  return entries.toSorted((one, other) => Number(one.index) - Number(other.index))
}

function isVector(vector: Vector | undefined): vector is Vector {
  return vector !== undefined
}

/** Null where nothing usable is said: no input takes no tokens at all. */
function decodeEmbeddingsUsage(usage: JsonValue | undefined): Usage | null {
  if (!isJsonObject(usage)) return null
  const tokens = readCount(usage.prompt_tokens) || readCount(usage.total_tokens)
  return tokens ? { ...ZERO_USAGE, uncached: tokens } : null
}
