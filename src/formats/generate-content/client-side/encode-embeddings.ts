/** Vectors as generate-content clients read them. */
import type { EmbeddingAnswer } from '@/chat/embedding'
import type { ToldEmbedding } from '@/formats/embeddings'
import { vectorText } from '@/formats/vectors'

/** The answer in pieces, a vector in each: a list, or the one that was asked for. */
export function* encodeEmbeddings(
  answer: EmbeddingAnswer,
  { request, inputTokens }: ToldEmbedding,
): Generator<string | Uint8Array> {
  yield request.isLone ? '{"embedding":' : '{"embeddings":['
  if ('written' in answer) yield answer.written
  else {
    for (const [index, vector] of answer.vectors.entries()) {
      yield `${index === 0 ? '' : ','}{"values":${vectorText(vector, request.encoding)}}`
    }
  }
  const usage = { promptTokenCount: inputTokens, totalTokenCount: inputTokens }
  yield `${request.isLone ? '' : ']'},"usageMetadata":${JSON.stringify(usage)}}`
}
