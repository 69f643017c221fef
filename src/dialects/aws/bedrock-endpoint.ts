/** URLs and errors of Bedrock, for all its APIs. */
import type { ProviderError, ProviderErrorReason } from '@/chat/provider-error'
import type { EndpointCall } from '@/formats/format'
import { providerError } from '@/formats/provider-error'
import { isJsonObject, type JsonValue, textOf } from '@/lib/json'

/** The form of the messages API version in bodies. */
export const VERSIONS = { pattern: /^[a-z]*-?\d{4}-\d{2}-\d{2}$/, example: 'bedrock-2023-05-31' }

/** The URL of a model's operation. A model id, region profile or ARN becomes one escaped path segment. */
export function modelUrl({ baseUrl, model }: EndpointCall, operation: string): string {
  return `${baseUrl}/model/${encodeURIComponent(model)}/${operation}`
}

/** Exceptions whose HTTP status is unspecific or misleading. */
const REASONS: ReadonlyMap<string, ProviderErrorReason> = new Map([
  ['ExpiredTokenException', 'credentials'],
  ['UnrecognizedClientException', 'credentials'],
  ['InvalidSignatureException', 'credentials'],
  ['IncompleteSignatureException', 'credentials'],
  ['MissingAuthenticationTokenException', 'credentials'],
  ['ServiceQuotaExceededException', 'rate-limited'],
  ['ConflictException', 'server'],
  ['ModelErrorException', 'server'],
  ['ModelStreamErrorException', 'server'],
  ['ModelNotReadyException', 'overloaded'],
  ['ModelTimeoutException', 'timeout'],
])
/** Texts of errors about a wrong model name, which is the operator's fault. */
const WRONG_MODEL = /on-demand throughput isn.t supported|model identifier is invalid|retrieve the inference profile/i

/** Decodes an error response of Bedrock. */
export function decodeBedrockError(status: number, headers: Headers, body: JsonValue | undefined): ProviderError {
  const fields = isJsonObject(body) ? body : {}
  const type = headers.get('x-amzn-errortype') ?? textOf(fields.__type) ?? ''
  const kind = /([A-Za-z]+)(?::.*)?$/.exec(type.split(':')[0]?.split('#').at(-1) ?? '')?.[1] ?? ''
  const message = textOf(fields.message) ?? textOf(fields.Message) ?? ''
  const reason = WRONG_MODEL.test(message) && status === 400 ? 'model-not-found' : REASONS.get(kind)
  // The message may quote the signed request with its session token, so it is dropped.
  if (reason === 'credentials') return { reason, status, kind, message: '' }
  return { ...providerError({ status, kind, message }), ...(reason && { reason }) }
}
