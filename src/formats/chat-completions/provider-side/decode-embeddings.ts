/** What a chat-completions provider answers to a request for embeddings. */
import type { EmbeddingAnswer, Vector, VectorEncoding } from '@/chat/embedding'
import { readCount, type Usage, ZERO_USAGE } from '@/chat/usage'
import type { ExpectedVectors } from '@/formats/embeddings'
import { holdsVectors, isNumberedInOrder } from '@/formats/unread-list'
import { readVector } from '@/formats/vectors'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { findUnreadList, readList } from '@/lib/json-source/long-list'

const LIST = 'data'
const VECTOR_KEY = '"embedding":'
const NUMBER_KEY = '"index":'

/** The vectors, left as they are where they may be. Undefined where they are not what was asked for. */
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

/** By their numbers, where each has one of its own: many clients go by the place. */
function inOrder(entries: readonly Entry[]): readonly Entry[] {
  const numbers = new Set(entries.map(({ index }) => (typeof index === 'number' ? index : undefined)))
  if (numbers.size < entries.length || numbers.has(undefined)) return entries
  return entries.toSorted((one, other) => Number(one.index) - Number(other.index))
}

/** Null where nothing usable is said: no input takes no tokens at all. */
function decodeEmbeddingsUsage(usage: JsonValue | undefined): Usage | null {
  if (!isJsonObject(usage)) return null
  const tokens = readCount(usage.prompt_tokens) || readCount(usage.total_tokens)
  return tokens ? { ...ZERO_USAGE, uncached: tokens } : null
}
