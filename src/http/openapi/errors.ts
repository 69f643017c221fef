/** Error responses of operations in the OpenAPI document, in the form of each operation's format. */
import { type ErrorKind, GatewayError } from '@/chat/error'
import type { Format } from '@/formats/format'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'
import { RETRY_AFTER, rateLimitHeaders, requestIdHeaders } from './headers'

export const INFERENCE_ERRORS = [400, 401, 402, 403, 404, 409, 413, 415, 429, 500, 502, 503, 504] as const

/** The name of the `detail` field with a route's error statuses. Statuses of input validation are added elsewhere. */
export const ERRORS = 'x-errors'

type Sample = {
  kind: ErrorKind
  description: string
  /** The example's message. */
  message: string
  options?: ConstructorParameters<typeof GatewayError>[2]
}

/** Examples of errors, by the status that most formats use for the error kind. */
const SAMPLES: Readonly<Record<number, Sample>> = {
  400: {
    kind: 'invalid_request',
    description: 'The request breaks a rule; the error names the field and the limit.',
    message: 'temperature must be a number from 0 to 2',
    options: { param: 'temperature' },
  },
  401: {
    kind: 'invalid_credentials',
    description: 'The API key or the session is missing, malformed, unknown, deactivated or deleted.',
    message: 'Incorrect API key provided.',
  },
  402: {
    kind: 'insufficient_credit',
    description: 'The credit does not cover the request; `retry-after` is set if other open requests hold it.',
    message: 'Your credit does not cover this request. Buy credit in the dashboard, or lower the output limit.',
    options: { details: { neededUsd: 0.05, availableUsd: 0.01, heldUsd: 0, transient: false } },
  },
  403: {
    kind: 'forbidden',
    description: 'Not allowed, e.g. the account is suspended, or the API key may not call this model.',
    message: 'This account is suspended.',
    options: { code: 'account_suspended' },
  },
  404: {
    kind: 'not_found',
    description: 'No such model, object or path.',
    message: 'There is no such thing.',
  },
  409: {
    kind: 'conflict',
    description:
      'Something else has happened before, or is happening now, that does not go together with it. Of an `Idempotency-Key`: it ' +
      'has another request, or one under way (`retry-after` is set), or its answer is charged and lost.',
    message: 'This Idempotency-Key was used for another request.',
    options: { code: 'idempotency_key_reused' },
  },
  412: {
    kind: 'precondition_failed',
    description: 'Somebody saved a newer version than `If-Match` names. `current` has it, and `ETag` names it.',
    message: 'Somebody else saved a change meanwhile.',
    options: { code: 'changed_meanwhile' },
  },
  413: { kind: 'too_large', description: 'The body is too large.', message: 'The request body is too large.' },
  415: {
    kind: 'unsupported_media_type',
    description: 'The content type is not application/json.',
    message: 'The content type must be application/json.',
  },
  429: {
    kind: 'rate_limited',
    description: 'A limit is reached; see `retry-after` and the rate-limit headers.',
    message: 'The rate limit of this API key is reached: 60 requests per minute.',
    options: { retryAfterSeconds: 7 },
  },
  500: {
    kind: 'internal',
    description: 'Internal error.',
    message: 'The service had an internal error. Try again.',
  },
  502: {
    kind: 'upstream_failed',
    description: 'The model provider failed.',
    message: 'The model provider failed. Try again.',
  },
  503: {
    kind: 'overloaded',
    description: 'Temporarily unable to take requests; `retry-after` is set.',
    message: 'The service cannot accept requests at the moment. Try again.',
    options: { retryAfterSeconds: 5 },
  },
  504: {
    kind: 'timeout',
    description: 'The model provider did not answer in time.',
    message: 'The model provider did not answer in time.',
  },
}

const RETRIED: ReadonlySet<ErrorKind> = new Set(['insufficient_credit', 'conflict', 'rate_limited', 'overloaded'])
const SAMPLE_REQUEST_ID = 'req_01jd3v9k2m5n8p0q'

/** An error response of the document: description, body, headers. */
type ErrorResponse = { description: string; headers: object; content: { 'application/json': object } }

/** The responses for `statuses` in each of `formats`. If a format has its own status for an error kind, that is documented. */
export function errorResponses(statuses: readonly number[], formats: readonly Format[]): Record<string, ErrorResponse> {
  const told = statuses.flatMap((status) => formats.map((format) => tell(status, format)))
  const byStatus = Object.entries(Object.groupBy(told, ({ status }) => status))
  return Object.fromEntries(byStatus.map(([status, alike = []]) => [status, responseOf(alike)]))
}

type Told = { sample: Sample; format: Format; status: number; body: JsonObject }

function tell(status: number, format: Format): Told {
  const sample = SAMPLES[status]
  assert(sample, `the status ${status} has a description`)
  const encoded = format.encodeError(new GatewayError(sample.kind, sample.message, sample.options), SAMPLE_REQUEST_ID)
  return { sample, format, status: encoded.status, body: encoded.body }
}

function responseOf(alike: readonly Told[]): ErrorResponse {
  const [first, ...more] = alike
  assert(first, 'there is an error to describe')
  const { sample, format, body } = first
  const headers = {
    ...requestIdHeaders(),
    ...(RETRIED.has(sample.kind) && RETRY_AFTER),
    ...(sample.kind === 'rate_limited' && Object.assign({}, ...alike.map((told) => rateLimitHeaders(told.format)))),
  }
  const content =
    more.length === 0
      ? { schema: format.errorSchema, example: body }
      : {
          schema: { anyOf: alike.map((told) => told.format.errorSchema) },
          examples: Object.fromEntries(alike.map((told) => [told.format.name, { value: told.body }])),
        }
  return { description: sample.description, headers, content: { 'application/json': content } }
}
