import type { ProviderError } from '@/chat/provider-error'
import { providerError, UNSTATED_STATUS } from '@/formats/provider-error'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'

/** Keeps very long messages out of logs. */
const MAX_MESSAGE_CHARS = 4000

/** Decodes a chat-completions provider's error in the form of OpenAI, FastAPI, Google, or a bare object. Never throws. */
export function decodeError(status: number | undefined, body: JsonValue | undefined): ProviderError {
  const root = Array.isArray(body) ? body[0] : body
  const error = isJsonObject(root) && isJsonObject(root.error) ? root.error : root
  const fields = isJsonObject(error) ? error : {}
  const said = [fields.message, isJsonObject(root) ? root.error : undefined, fields.detail, root]
  const message = said.find((candidate) => typeof candidate === 'string' && candidate !== '')
  const word = [fields.code, fields.type, fields.status].find(isWord)
  const retryAfterSeconds = findRetryDelay(fields.details)
  const realStatus = statusWithin(fields, status)
  return providerError({
    status: realStatus ?? UNSTATED_STATUS,
    kind: textOf(word) ?? String(realStatus ?? 'error'),
    message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE_CHARS) : '',
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}

function isWord(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value !== '' && !/^\d+$/.test(value)
}

/** An error inside a 200 response may contain its real status as a number in `code` or `status`. */
function statusWithin(fields: JsonObject, status: number | undefined): number | undefined {
  if (status !== undefined && status >= 400) return status
  const numbers = [fields.code, fields.status, fields.status_code].map(Number)
  return numbers.find((number) => Number.isInteger(number) && number >= 400 && number <= 599) ?? status
}

/** Reads the delay of Google's RetryInfo, such as `"retryDelay": "34.4s"`. */
function findRetryDelay(details: JsonValue | undefined): number | undefined {
  if (!Array.isArray(details)) return undefined
  for (const detail of details) {
    const delay = isJsonObject(detail) ? detail.retryDelay : undefined
    const match = typeof delay === 'string' ? /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(delay) : null
    if (match) return Number(match[1])
  }
  return undefined
}
