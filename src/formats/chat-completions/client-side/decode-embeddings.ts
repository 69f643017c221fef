/** A chat-completions client's request for embeddings as a request of the hub. */
import type { EmbeddingInput, EmbeddingRequest } from '@/chat/embedding'
import { type GatewayError, invalidRequest } from '@/chat/error'
import { EMBEDDING_FIELDS, NATIVE_EMBEDDING_FIELDS } from '@/formats/chat-completions/embedding-fields'
import { LIMITS } from '@/formats/chat-completions/limits'
import { readPreferences } from '@/formats/preferences'
import { createRequestCheck } from '@/formats/schema-check'
import type { JsonObject } from '@/lib/json'
import { EmbeddingsEnvelope } from './wire-embeddings'

const check = createRequestCheck(EmbeddingsEnvelope)
const COUNT = LIMITS.embeddings.inputs
const WANTED = `a non-empty string, a list of 1 to ${COUNT.maxItems} of them, or tokens (integers) in the same way`

/** Throws a GatewayError `invalid_request` that names the field and the limit it breaks. Never changes `body`. */
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

/** The vectors of two models have nothing in common: a caller who asks for another model gets no word of it later. */
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
