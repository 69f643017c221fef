/** A generate-content client's requests for embeddings as a request of the hub. */
import type { EmbeddingInput, EmbeddingRequest } from '@/chat/embedding'
import { invalidRequest } from '@/chat/error'
import type { RequestLine } from '@/formats/format'
import { EMBEDDING_FIELDS, NATIVE_EMBEDDING_FIELDS } from '@/formats/generate-content/embedding-fields'
import { contentOfSystem, renameKeys } from '@/formats/generate-content/normalise'
import { readPreferences } from '@/formats/preferences'
import { createRequestCheck } from '@/formats/schema-check'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { modelOfResource } from './path'
import { BatchEmbedContentsRequest, EmbedContentRequest, type WireEmbedRequest } from './wire-embeddings'

const checkOne = createRequestCheck(EmbedContentRequest)
const checkBatch = createRequestCheck(BatchEmbedContentsRequest)

type Decoding = Pick<EmbeddingRequest, 'isLone'> & {
  requests: readonly WireEmbedRequest[]
  svc: unknown
  prefix: string
}

/** A body of `:embedContent`. Throws a GatewayError `invalid_request` that names the field and the limit it breaks. */
export function decodeEmbedContent(body: JsonObject, line: RequestLine): EmbeddingRequest {
  const one = checkOne(normalise(body, ''))
  return decode({ requests: [one], isLone: true, svc: one.svc, prefix: '' }, line)
}

/** The same for a body of `:batchEmbedContents`. */
export function decodeBatchEmbedContents(body: JsonObject, line: RequestLine): EmbeddingRequest {
  const { requests, ...others } = renameKeys(body, '')
  const normal = Array.isArray(requests)
    ? requests.map((one, index) => (isJsonObject(one) ? normalise(one, `requests[${index}]`) : one))
    : requests
  const batch = checkBatch({ ...others, ...(normal !== undefined && { requests: normal }) })
  return decode({ requests: batch.requests, isLone: false, svc: batch.svc, prefix: 'requests' }, line)
}

/** A text in the place of a content, and a lone part in that of its list, are what they would be for a conversation. */
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
