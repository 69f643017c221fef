/** Addresses and errors of Bedrock, for every interface. */
import type { ProviderError, ProviderErrorReason } from '@/chat/provider-error'
import type { EndpointCall } from '@/formats/format'
import { providerError } from '@/formats/provider-error'
import { isJsonObject, type JsonValue, textOf } from '@/lib/json'

/** The version of messages that bodies name. */
export const VERSIONS = { pattern: /^[a-z]*-?\d{4}-\d{2}-\d{2}$/, example: 'bedrock-2023-05-31' }

/** A model's id, the profile of several regions or an ARN is one segment of the path, whatever characters it has. */
export function modelUrl({ baseUrl, model }: EndpointCall, operation: string): string {
  return `${baseUrl}/model/${encodeURIComponent(model)}/${operation}`
}

/** Exceptions whose status says too little, or something else. */
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
/** Words of a refused request that blame the name of the model, which is the operator's. */
const WRONG_MODEL = /on-demand throughput isn.t supported|model identifier is invalid|retrieve the inference profile/i

/** Decodes an error answer of Bedrock. */
export function decodeBedrockError(status: number, headers: Headers, body: JsonValue | undefined): ProviderError {
  const fields = isJsonObject(body) ? body : {}
  const type = headers.get('x-amzn-errortype') ?? textOf(fields.__type) ?? ''
  const kind = /([A-Za-z]+)(?::.*)?$/.exec(type.split(':')[0]?.split('#').at(-1) ?? '')?.[1] ?? ''
  const message = textOf(fields.message) ?? textOf(fields.Message) ?? ''
  const reason = WRONG_MODEL.test(message) && status === 400 ? 'model-not-found' : REASONS.get(kind)
  // What was signed may be quoted, the session's token in it.
  if (reason === 'credentials') return { reason, status, kind, message: '' }
  return { ...providerError({ status, kind, message }), ...(reason && { reason }) }
}
