/** Ranked documents for clients of Cohere and Jina: decodes `POST /v1/rerank` and `/v2/rerank`. */
import { Type } from '@sinclair/typebox'
import { invalidRequest } from '@/chat/error'
import type { RerankRequest } from '@/chat/rerank'
import { LIMITS } from '@/formats/chat-completions/limits'
import { leftFields, refuseFallback } from '@/formats/chat-completions/media-fields'
import type { MediaRequest } from '@/formats/media-call'
import { preferencesSchema, readPreferences } from '@/formats/preferences'
import { createRequestCheck } from '@/formats/schema-check'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { optional } from '@/lib/schemas'

const DOCUMENTS = { minItems: 1, maxItems: 10_000 }
const EXAMPLE = {
  model: 'svc/alpha-rerank',
  query: 'What is the capital of the United States?',
  documents: ['Carson City is the capital of Nevada.', 'Washington, D.C. is the capital of the United States.'],
}

const COMMON = {
  model: Type.String({ ...LIMITS.modelChars, examples: [EXAMPLE.model] }),
  query: Type.String({ minLength: 1 }),
  top_n: optional(Type.Integer({ minimum: 1, description: 'The most results; without it all documents' })),
  max_tokens_per_doc: optional(Type.Integer({ minimum: 1, description: 'Passed on: Cohere cuts documents there' })),
  truncation: optional(Type.Boolean({ description: 'Passed on: Jina and Voyage AI cut long documents' })),
  svc: optional(preferencesSchema()),
}
const ReturnDocuments = optional(Type.Boolean({ description: 'Whether results contain their document; default false' }))

export const RerankBody = Type.Object(
  {
    ...COMMON,
    documents: Type.Array(
      Type.Union([Type.String(), Type.Object({ text: Type.Optional(Type.String()) }, { additionalProperties: true })]),
      {
        ...DOCUMENTS,
        description: 'Texts, or objects with a `text` or the fields of `rank_fields`',
      },
    ),
    return_documents: ReturnDocuments,
    rank_fields: optional(
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: 64,
        description: 'Fields of the objects to rank by, in order',
      }),
    ),
    max_chunks_per_doc: optional(Type.Integer({ minimum: 1, description: 'Passed on' })),
  },
  { title: 'RerankRequest', examples: [EXAMPLE] },
)

export const RerankBodyV2 = Type.Object(
  {
    ...COMMON,
    documents: Type.Array(Type.String(), DOCUMENTS),
    return_documents: ReturnDocuments,
  },
  { title: 'RerankRequestV2', examples: [EXAMPLE] },
)

const Results = Type.Array(
  Type.Object({
    index: Type.Integer({ description: 'The document’s place in the request' }),
    relevance_score: Type.Number(),
    document: Type.Optional(Type.Object({}, { additionalProperties: true })),
  }),
  { description: 'The most relevant first' },
)
const Meta = Type.Object({
  api_version: Type.Object({ version: Type.String() }),
  billed_units: Type.Object({
    search_units: Type.Optional(Type.Integer()),
    input_tokens: Type.Optional(Type.Integer()),
  }),
})

export const RerankAnswer = Type.Object(
  {
    id: Type.String(),
    model: Type.String(),
    results: Results,
    meta: Meta,
    usage: Type.Optional(Type.Object({ total_tokens: Type.Integer(), prompt_tokens: Type.Integer() })),
  },
  { title: 'RerankResponse' },
)
export const RerankAnswerV2 = Type.Object(
  { id: Type.String(), results: Results, meta: Meta },
  { title: 'RerankResponseV2' },
)

/** Fields that shape the answer. The gateway applies them itself. */
const ANSWER_FIELDS: ReadonlySet<string> = new Set(['top_n', 'return_documents', 'rank_fields'])

const check = createRequestCheck(RerankBody)
const checkV2 = createRequestCheck(RerankBodyV2)
const listed = new Set(Object.keys(RerankBody.properties))
const listedV2 = new Set(Object.keys(RerankBodyV2.properties))

type Bounds = { most: number; likely: number }
/** Measures the work, in search units and tokens. */
type Measure = (query: string, texts: readonly string[]) => { searchUnits: Bounds; queryTokens: Bounds }

/** Throws a GatewayError `invalid_request` that names the field and its limit. Never changes `body`. */
export function decodeRerank(body: JsonObject, version: 1 | 2, measure: Measure): MediaRequest {
  const { model, query, documents, top_n, return_documents, svc } = version === 1 ? check(body) : checkV2(body)
  refuseFallback(body)
  const texts = documents.map((document, index) => textOf(document as JsonValue, body.rank_fields, index))
  const { searchUnits, queryTokens } = measure(query, texts)
  const unlisted = leftFields(body, version === 1 ? listed : listedV2)
  const request: RerankRequest = {
    ...{ version, model, texts, unlisted },
    documents: return_documents ? (documents as JsonValue[]) : undefined,
    mostResults: Math.min(top_n ?? texts.length, texts.length),
    searchUnits: searchUnits.likely,
    fields: Object.fromEntries(Object.entries(body).filter(([field]) => !ANSWER_FIELDS.has(field))),
  }
  const unitsOf = (count: number) => [{ billable: 'request', unit: 'search_unit', count }] as const
  return {
    model,
    stream: false,
    ...readPreferences(svc),
    texts,
    inputTokens: queryTokens,
    most: unitsOf(searchUnits.most),
    likely: unitsOf(searchUnits.likely),
    callFor: (provider) => provider.media?.rerank?.(request),
  }
}

/** A document's text: the document itself, or one line for each field to rank by. */
function textOf(document: JsonValue, rankFields: JsonValue | undefined, index: number): string {
  if (typeof document === 'string') return document
  const path = `documents[${index}]`
  if (!isJsonObject(document)) throw invalidRequest(`${path} must be a text or an object`, path)
  if (Array.isArray(rankFields)) {
    const lines = rankFields.flatMap((field) => {
      const value = document[String(field)]
      return value === undefined ? [] : [`${field}: ${typeof value === 'string' ? value : JSON.stringify(value)}`]
    })
    if (lines.length > 0) return lines.join('\n')
    throw invalidRequest(`${path} has none of the fields in rank_fields`, path)
  }
  if (typeof document.text === 'string') return document.text
  throw invalidRequest(`${path} has no text; send a text, an object with text, or rank_fields`, path)
}
