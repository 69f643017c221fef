import type { ProviderError } from '@/chat/provider-error'
import { providerError, UNSTATED_STATUS } from '@/formats/provider-error'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'

/** Keeps very long messages out of logs. */
const MAX_MESSAGE_CHARS = 4000

/** The status of each code, for errors inside a stream or a response that began with 200. */
const STATUS_OF_CODE: ReadonlyMap<string, number> = new Map([
  ['server_error', 500],
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['server_is_overloaded', 503],
  ['slow_down', 503],
  ['vector_store_timeout', 504],
  ['context_length_exceeded', 400],
  ['invalid_prompt', 400],
  ['invalid_encrypted_content', 400],
  ['bio_policy', 400],
  ['cyber_policy', 400],
  ['misalignment_policy_violation', 400],
  ['data_residency_mismatch', 403],
  ['model_not_found', 404],
])
/** Codes about an image of the request: too small, of unknown type, not available. */
const IMAGE_CODE = /(?:^|_)image(?:_|$)/
const STATUS_OF_TYPE: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['invalid_request', 400],
  ['authentication_error', 401],
  ['permission_error', 403],
  ['not_found', 404],
  ['rate_limit_error', 429],
  ['too_many_requests', 429],
  ['server_error', 500],
  ['model_error', 500],
])

/** Decodes a responses provider's error: OpenAI's shapes, a failed response, `error` text, FastAPI's `detail`, `message`. Never throws. */
export function decodeError(status: number | undefined, body: JsonValue | undefined): ProviderError {
  const root = Array.isArray(body) ? body[0] : body
  const whole = isJsonObject(root) && isJsonObject(root.response) ? root.response : root
  const error = isJsonObject(whole) && isJsonObject(whole.error) ? whole.error : whole
  const fields = isJsonObject(error) ? error : {}
  const said = [fields.message, isJsonObject(whole) ? whole.error : undefined, fields.detail, whole]
  const message = said.find((candidate) => typeof candidate === 'string' && candidate !== '')
  const type = fields === whole && (fields.type === 'error' || fields.object === 'response') ? undefined : fields.type
  const word = [fields.code, type, fields.status].find(isWord)
  const kind = textOf(word)
  const realStatus = statusWithin(fields, kind, textOf(type), status)
  return providerError({
    status: realStatus ?? UNSTATED_STATUS,
    kind: kind ?? String(realStatus ?? 'error'),
    message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE_CHARS) : '',
  })
}

function isWord(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value !== '' && !/^\d+$/.test(value) && value !== 'failed'
}

/** An error inside a 200 response may contain its real status in `code` or `status`, or a code that implies one. */
function statusWithin(
  fields: JsonObject,
  kind: string | undefined,
  type: string | undefined,
  status: number | undefined,
): number | undefined {
  if (status !== undefined && status >= 400) return status
  const numbers = [fields.code, fields.status, fields.status_code].map(Number)
  const stated = numbers.find((number) => Number.isInteger(number) && number >= 400 && number <= 599)
  if (stated !== undefined) return stated
  const meant = STATUS_OF_CODE.get(kind ?? '') ?? STATUS_OF_TYPE.get(kind ?? '') ?? STATUS_OF_TYPE.get(type ?? '')
  return meant ?? (IMAGE_CODE.test(kind ?? '') ? 400 : status)
}
