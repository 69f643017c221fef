/** Vectors as chat-completions clients read them. */
import type { EmbeddingAnswer } from '@/chat/embedding'
import type { ToldEmbedding } from '@/formats/embeddings'
import { vectorText } from '@/formats/vectors'

/** The answer in pieces, a vector in each. */
export function* encodeEmbeddings(
  answer: EmbeddingAnswer,
  { request, model, inputTokens }: ToldEmbedding,
): Generator<string | Uint8Array> {
  yield '{"object":"list","data":['
  if ('written' in answer) yield answer.written
  else {
    for (const [index, vector] of answer.vectors.entries()) {
      const separator = index === 0 ? '' : ','
      yield `${separator}{"object":"embedding","index":${index},"embedding":${vectorText(vector, request.encoding)}}`
    }
  }
  const usage = { prompt_tokens: inputTokens, total_tokens: inputTokens }
  yield `],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`
}
