/** Embeddings for generate-content clients: decodes requests and encodes answers. */

import { type Static, Type } from '@sinclair/typebox'
import type { EmbeddingAnswer, EmbeddingInput, EmbeddingRequest } from '@/chat/embedding'
import { invalidRequest } from '@/chat/error'
import type { ToldEmbedding } from '@/formats/embeddings'
import type { RequestLine } from '@/formats/format'
import { EMBEDDING_FIELDS, NATIVE_EMBEDDING_FIELDS } from '@/formats/generate-content/body-fields'
import { LIMITS } from '@/formats/generate-content/limits'
import { contentOfSystem, renameKeys } from '@/formats/generate-content/normalise'
import { preferencesSchema, readPreferences } from '@/formats/preferences'
import { createRequestCheck } from '@/formats/schema-check'
import { vectorText } from '@/formats/vectors'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { modelOfResource } from './models'

const { requests, dimensions } = LIMITS.embeddings

const Content = Type.Object(
  {
    role: Type.Optional(Type.String()),
    parts: Type.Array(Type.Object({ text: Type.String({ minLength: 1 }) }, { additionalProperties: false }), {
      minItems: 1,
      maxItems: LIMITS.parts.maxItems,
      description: 'Texts; all of them together become one vector',
    }),
  },
  { additionalProperties: false },
)

const EMBED_FIELDS = {
  model: Type.Optional(Type.String({ description: 'models/{model} of the path, if anything' })),
  content: Content,
  taskType: Type.Optional(Type.String({ description: 'Heard by providers of this format only' })),
  title: Type.Optional(Type.String({ description: 'Heard by providers of this format only' })),
  outputDimensionality: Type.Optional(Type.Integer(dimensions)),
  autoTruncate: Type.Optional(Type.Boolean({ description: 'Heard by providers of this format only' })),
}
const Content1 = { content: { parts: [{ text: 'The quick brown fox' }] } }
const Preferences = Type.Optional(preferencesSchema('maxPrice'))

export const EmbedContentRequest = Type.Object({ ...EMBED_FIELDS, svc: Preferences }, { examples: [Content1] })
export const BatchEmbedContentsRequest = Type.Object(
  { requests: Type.Array(Type.Object(EMBED_FIELDS), requests), svc: Preferences },
  { examples: [{ requests: [Content1] }] },
)
type WireEmbedRequest = Static<typeof EmbedContentRequest>

const Vector = Type.Object({ values: Type.Array(Type.Number()) })
const UsageMetadata = Type.Object({ promptTokenCount: Type.Integer(), totalTokenCount: Type.Integer() })
const Vector1 = { values: [0.0123, -0.0456] }
const Usage1 = { promptTokenCount: 4, totalTokenCount: 4 }

export const EmbedContentResponse = Type.Object(
  { embedding: Vector, usageMetadata: UsageMetadata },
  { examples: [{ embedding: Vector1, usageMetadata: Usage1 }] },
)
export const BatchEmbedContentsResponse = Type.Object(
  {
    embeddings: Type.Array(Vector, { description: 'One for each request, in their order' }),
    usageMetadata: UsageMetadata,
  },
  { examples: [{ embeddings: [Vector1], usageMetadata: Usage1 }] },
)

const checkOne = createRequestCheck(EmbedContentRequest)
const checkBatch = createRequestCheck(BatchEmbedContentsRequest)

type Decoding = Pick<EmbeddingRequest, 'isLone'> & {
  requests: readonly WireEmbedRequest[]
  svc: unknown
  prefix: string
}

/** Decodes a body of `:embedContent`. Throws a GatewayError `invalid_request` that names the field and its limit. */
export function decodeEmbedContent(body: JsonObject, line: RequestLine): EmbeddingRequest {
  const one = checkOne(normalise(body, ''))
  return decode({ requests: [one], isLone: true, svc: one.svc, prefix: '' }, line)
}

/** Decodes the body of `:batchEmbedContents`. */
export function decodeBatchEmbedContents(body: JsonObject, line: RequestLine): EmbeddingRequest {
  const { requests, ...others } = renameKeys(body, '')
  const normal = Array.isArray(requests)
    ? requests.map((one, index) => (isJsonObject(one) ? normalise(one, `requests[${index}]`) : one))
    : requests
  const batch = checkBatch({ ...others, ...(normal !== undefined && { requests: normal }) })
  return decode({ requests: batch.requests, isLone: false, svc: batch.svc, prefix: 'requests' }, line)
}

/** Normalises a request. As in conversations, a text may replace a content, and a single part a list of parts. */
function normalise(request: JsonObject, path: string): JsonObject {
  const renamed = renameKeys(request, path)
  const content: JsonValue | undefined = contentOfSystem(renamed.content)
  return content === undefined ? renamed : { ...renamed, content }
}

function decode({ requests, isLone, svc, prefix }: Decoding, { model = '' }: RequestLine): EmbeddingRequest {
  const place = (index: number, field: string) => (isLone ? field : `${prefix}[${index}].${field}`)
  const [first] = requests
  for (const [index, one] of requests.entries()) {
    if (one.model !== undefined && modelOfResource(one.model) !== model) {
      const param = place(index, 'model')
      throw invalidRequest(`${param} must be the model of the path`, param)
    }
    if (one.outputDimensionality === first?.outputDimensionality) continue
    const param = place(index, 'outputDimensionality')
    throw invalidRequest(`${param} must be the same in all requests`, param)
  }
  const dimensions = first?.outputDimensionality
  const unlisted = new Set(requests.flatMap((one) => Object.keys(one)).filter((field) => !isListed(field, isLone)))
  const names = NATIVE_EMBEDDING_FIELDS.filter((field) => requests.some((one) => one[field] !== undefined))
  return {
    model,
    inputs: requests.map(decodeInput),
    isLone,
    ...(dimensions !== undefined && { dimensions }),
    encoding: 'float',
    ...readPreferences(svc),
    nativeFields: names,
    ...(unlisted.size > 0 && { unlisted: [...unlisted] }),
  }
}

function isListed(field: string, isLone: boolean): boolean {
  return EMBEDDING_FIELDS.has(field) || (isLone && field === 'svc')
}

function decodeInput({ svc: _svc, ...request }: WireEmbedRequest): EmbeddingInput {
  const { content, title } = request
  const text = content.parts.map((part) => part.text).join('\n')
  return { type: 'text', text, ...(title !== undefined && { title }), own: request }
}

/** The answer in pieces of one vector each: a list, or a single vector if requested so. */
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
