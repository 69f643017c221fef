/** Embeddings for chat-completions clients: decodes requests and encodes answers. */

import { Type } from '@sinclair/typebox'
import {
  type EmbeddingAnswer,
  type EmbeddingInput,
  type EmbeddingRequest,
  MAX_EMBEDDING_TOKENS,
} from '@/chat/embedding'
import { type GatewayError, invalidRequest } from '@/chat/error'
import { EMBEDDING_FIELDS, NATIVE_EMBEDDING_FIELDS } from '@/formats/chat-completions/body-fields'
import { LIMITS } from '@/formats/chat-completions/limits'
import type { ToldEmbedding } from '@/formats/embeddings'
import { preferencesSchema, readPreferences } from '@/formats/preferences'
import { createRequestCheck } from '@/formats/schema-check'
import { vectorText } from '@/formats/vectors'
import type { JsonObject } from '@/lib/json'
import { oneOf, optional } from '@/lib/schemas'

/** The schema of `POST /v1/embeddings`. It checks everything except the inputs, and documents the whole body. */
const { inputs, dimensions } = LIMITS.embeddings
const Text = Type.String({ minLength: 1 })
const Tokens = Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 })

const OTHER_FIELDS = {
  dimensions: optional(Type.Integer(dimensions)),
  encoding_format: optional(oneOf(['float', 'base64'])),
  user: optional(Type.String()),
  svc: optional(preferencesSchema()),
}
const Model = Type.String({ ...LIMITS.modelChars, examples: ['svc/alpha-embed-small'] })

/** The part of a request that a schema checks. The inputs may be millions of values, so they are read one by one. */
const EmbeddingsEnvelope = Type.Object({ model: Model, input: Type.Unknown(), ...OTHER_FIELDS })

export const EmbeddingsRequest = Type.Object(
  {
    model: Model,
    input: Type.Union([Text, Type.Array(Text, inputs), Tokens, Type.Array(Tokens, inputs)], {
      description: `A text, a list of texts, a text as tokens, or a list of such; at most ${MAX_EMBEDDING_TOKENS} tokens in all`,
    }),
    ...OTHER_FIELDS,
  },
  { examples: [{ model: 'svc/alpha-embed-small', input: ['The quick brown fox', 'jumps over the lazy dog'] }] },
)

export const EmbeddingsResponse = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object({
        object: Type.Literal('embedding'),
        index: Type.Integer(),
        embedding: Type.Union([
          Type.Array(Type.Number()),
          Type.String({ description: 'base64 of little-endian 32-bit floats' }),
        ]),
      }),
      { description: 'One for each input, in their order' },
    ),
    model: Type.String(),
    usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
  },
  {
    examples: [
      {
        object: 'list',
        data: [
          { object: 'embedding', index: 0, embedding: [0.0123, -0.0456] },
          { object: 'embedding', index: 1, embedding: [0.0789, 0.0012] },
        ],
        model: 'svc/alpha-embed-small',
        usage: { prompt_tokens: 9, total_tokens: 9 },
      },
    ],
  },
)

const check = createRequestCheck(EmbeddingsEnvelope)
const COUNT = LIMITS.embeddings.inputs
const WANTED = `a non-empty string, a list of 1 to ${COUNT.maxItems} of them, or tokens (integers) in the same way`

/** Throws a GatewayError `invalid_request` that names the field and its limit. Never changes `body`. */
export function decodeEmbeddings(body: JsonObject): EmbeddingRequest {
  const request = check(body)
  refuseFallback(body)
  const inputs = decodeInputs(request.input)
  const unlisted = Object.keys(body).filter((field) => !EMBEDDING_FIELDS.has(field))
  return {
    model: request.model,
    inputs,
    isLone: false,
    ...(typeof request.dimensions === 'number' && { dimensions: request.dimensions }),
    encoding: request.encoding_format ?? 'float',
    ...readPreferences(request.svc),
    ...(typeof request.user === 'string' && { userId: request.user }),
    nativeFields: NATIVE_EMBEDDING_FIELDS.filter((field) => body[field] !== undefined && body[field] !== null),
    ...(unlisted.length > 0 && { unlisted }),
  }
}

/** Vectors of different models cannot be compared, and callers would not notice the change, so fallbacks are refused. */
function refuseFallback({ fallback }: JsonObject): void {
  if (fallback === undefined || fallback === null || (Array.isArray(fallback) && fallback.length === 0)) return
  throw invalidRequest('fallback is not possible here: vectors of another model cannot be compared', 'fallback')
}

function decodeInputs(input: unknown): EmbeddingInput[] {
  if (typeof input === 'string') return [textOf(input, 'input')]
  if (!Array.isArray(input) || input.length === 0) throw refusal('input')
  const [first] = input
  const isOneOfTokens = typeof first === 'number'
  if (!isOneOfTokens && input.length > COUNT.maxItems) throw refusal('input')
  if (isOneOfTokens) return [tokensOf(input, 'input')]
  return input.map((item, index) => {
    const param = `input[${index}]`
    if (typeof item !== typeof first) throw invalidRequest(`${param} must be of the same type as input[0]`, param)
    return typeof item === 'string' ? textOf(item, param) : tokensOf(item, param)
  })
}

function textOf(text: string, param: string): EmbeddingInput {
  if (text === '') throw invalidRequest(`${param} must not be empty`, param)
  return { type: 'text', text }
}

function tokensOf(list: unknown, param: string): EmbeddingInput {
  if (!Array.isArray(list) || list.length === 0) throw refusal(param)
  const wrong = list.findIndex((token) => !Number.isSafeInteger(token) || token < 0)
  if (wrong !== -1) {
    const place = `${param}[${wrong}]`
    throw invalidRequest(`${place} must be a token, which is an integer from 0`, place)
  }
  return { type: 'tokens', tokens: list }
}

function refusal(param: string): GatewayError {
  return invalidRequest(
    `${param} must be ${param === 'input' ? WANTED : 'a non-empty string or a list of tokens'}`,
    param,
  )
}

/** The answer in pieces of one vector each. */
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
