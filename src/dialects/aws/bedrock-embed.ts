/** Bedrock's embedding models: called through InvokeModel with a body per model family, for chat-completions requests. */
import type { EmbeddingInput, EmbeddingRequest } from '@/chat/embedding'
import { readCount, ZERO_USAGE } from '@/chat/usage'
import type { DialectKind, ProviderEmbeddings } from '@/dialects/dialect'
import { readVector } from '@/formats/vectors'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { decodeBedrockError, modelUrl } from './bedrock-endpoint'

type Family = {
  name: RegExp
  maxInputs: number
  body(texts: readonly string[], dimensions: number | undefined): JsonObject
}

const FAMILIES: readonly Family[] = [
  {
    name: /cohere\.embed/,
    maxInputs: 96,
    body: (texts, size) => ({
      ...{ texts: [...texts], input_type: 'search_document', embedding_types: ['float'] },
      ...(size !== undefined && { output_dimension: size }),
    }),
  },
  {
    name: /nova-.*embed/,
    maxInputs: 1,
    body: ([value = ''], size) => ({
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        ...{ embeddingPurpose: 'GENERIC_INDEX', text: { truncationMode: 'NONE', value } },
        ...(size !== undefined && { embeddingDimension: size }),
      },
    }),
  },
]
const TITAN: Family = {
  name: /titan-embed/,
  maxInputs: 1,
  body: ([inputText = ''], dimensions) => ({ inputText, ...(dimensions !== undefined && { dimensions }) }),
}

const decoder = new TextDecoder()

export const bedrockEmbed: DialectKind = {
  formats: ['chat-completions'],
  needsVersion: false,
  create(_, { mediaUrl: __, ...endpoint }) {
    return {
      ...endpoint,
      name: 'bedrock-embed',
      credential: { header: 'authorization', prefix: 'Bearer ' },
      headers: { accept: 'application/json' },
      url: (call) => modelUrl(call, 'invoke'),
      embeddingsUrl: (call) => modelUrl({ ...call, stream: false }, 'invoke'),
      embeddings: (model) => embeddingsOf(FAMILIES.find(({ name }) => name.test(model)) ?? TITAN),
      decodeError: decodeBedrockError,
    }
  },
}

function embeddingsOf({ maxInputs, body }: Family): ProviderEmbeddings {
  return {
    maxInputs,
    takesTokens: false,
    askedEncoding: () => 'float',
    encodeRequest: ({ request, start, end }) => body(textsOf(request, start, end), request.dimensions),
    async decodeResponse(bytes, { count }) {
      const json = parseJson(decoder.decode(bytes))
      if (!isJsonObject(json)) return undefined
      const vectors = vectorsIn(json).flatMap((value) => {
        const vector = readVector(value)
        return vector === undefined ? [] : [vector]
      })
      if (vectors.length !== count) return undefined
      const tokens = readCount(json.inputTextTokenCount) ?? readCount(json.inputTokenCount)
      return { vectors, usage: tokens ? { ...ZERO_USAGE, uncached: tokens } : null }
    },
  }
}

function textsOf({ inputs }: EmbeddingRequest, start: number, end: number): string[] {
  return inputs.slice(start, end).map((input: EmbeddingInput) => (input.type === 'text' ? input.text : ''))
}

/** The vectors of an answer. Titan returns one; Cohere a list, or a list per type; Nova a list of objects. */
function vectorsIn({ embedding, embeddings }: JsonObject): JsonValue[] {
  if (embedding !== undefined) return [embedding]
  const list = isJsonObject(embeddings) ? embeddings.float : embeddings
  if (!Array.isArray(list)) return []
  return list.map((item) => (isJsonObject(item) ? (item.embedding ?? null) : item))
}
