import type { ProviderError } from '@/chat/provider-error'
import { CREDENTIALS_CODE, providerError, UNSTATED_STATUS } from '@/formats/provider-error'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'

const BAD_KEY = 'API_KEY_INVALID'

/** Decodes a generate-content provider's error: a bad key, reported as a 400, becomes a 401 `API_KEY_INVALID`. Never throws. */
export function decodeError(status: number | undefined, body: JsonValue | undefined): ProviderError {
  const error = errorOf(body)
  const details = Array.isArray(error.details) ? error.details.filter(isJsonObject) : []
  const retryAfterSeconds = retryDelayOf(details)
  const message = textOf(error.message) ?? ''
  if (details.some((detail) => detail.reason === BAD_KEY)) return providerError({ status: 401, kind: BAD_KEY, message })
  return providerError({
    status: statusOf(status, error.code),
    kind: credentialsReasonOf(details) ?? (textOf(error.status) || 'UNKNOWN'),
    message,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}

function credentialsReasonOf(details: readonly JsonObject[]): string | undefined {
  return details
    .map(({ reason }) => textOf(reason))
    .find((reason) => reason !== undefined && CREDENTIALS_CODE.test(reason))
}

/** Errors are an object, a list with one object (streams without `alt=sse`), or a text from an intermediary. */
function errorOf(body: JsonValue | undefined): JsonObject {
  const first = Array.isArray(body) ? body[0] : body
  if (!isJsonObject(first)) return {}
  if (isJsonObject(first.error)) return first.error
  return typeof first.error === 'string' ? { message: first.error } : first
}

function statusOf(status: number | undefined, code: JsonValue | undefined): number {
  if (status !== undefined && status >= 400) return status
  return typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600 ? code : UNSTATED_STATUS
}

function retryDelayOf(details: readonly JsonObject[]): number | undefined {
  for (const { retryDelay } of details) {
    const match = typeof retryDelay === 'string' ? /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(retryDelay) : null
    if (match) return Number(match[1])
  }
  return undefined
}
