/** What a generate-content provider answers to a batch of requests for embeddings. */
import type { EmbeddingAnswer } from '@/chat/embedding'
import { readCount, type Usage, ZERO_USAGE } from '@/chat/usage'
import type { ExpectedVectors } from '@/formats/embeddings'
import { holdsVectors } from '@/formats/unread-list'
import { readVector } from '@/formats/vectors'
import { isJsonObject, type JsonValue } from '@/lib/json'
import { findUnreadList, readList } from '@/lib/json-source/long-list'

const LIST = 'embeddings'
const VECTOR_KEY = '"values":'

/** The vectors, left as they are where they may be. Undefined where they are not what was asked for. */
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

/** Null where nothing usable is said: no input takes no tokens at all. */
function decodeEmbeddingsUsage(usage: JsonValue | undefined): Usage | null {
  if (!isJsonObject(usage)) return null
  const tokens = readCount(usage.promptTokenCount) || readCount(usage.totalTokenCount)
  return tokens ? { ...ZERO_USAGE, uncached: tokens } : null
}
