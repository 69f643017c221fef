/** Encodes an error in the form that responses clients expect. */
import type { ErrorKind, GatewayError } from '@/chat/error'
import { encodeErrorBody } from '@/formats/openai'
import type { JsonObject } from '@/lib/json'

export { encodeError } from '@/formats/openai'

/** The code of a failed response, by which clients decide whether to retry. */
const CODE_OF_FAILURE: Partial<Record<ErrorKind, string>> = {
  invalid_request: 'invalid_prompt',
  too_large: 'invalid_prompt',
  insufficient_credit: 'insufficient_quota',
  context_length_exceeded: 'context_length_exceeded',
  rate_limited: 'rate_limit_exceeded',
}

/** The fields of an `error` event. OpenAI documents them flat, but sends them nested, so clients may read one or the other. */
export function encodeErrorEvent(error: GatewayError): JsonObject {
  const body = encodeErrorBody(error)
  const { code, message, param } = body
  return { code: code ?? null, message, param: param ?? null, error: body }
}

/** The `error` of a failed response. */
export function encodeFailure({ kind, message }: GatewayError): JsonObject {
  return { code: CODE_OF_FAILURE[kind] ?? 'server_error', message }
}
