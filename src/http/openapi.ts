/** Building blocks of the OpenAPI document: what every operation says about itself in the same words. */
import type { TSchema } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import { KEY_HEADERS } from './auth'
import { QUALITY_HEADER } from './quality-header'

type OperationTag = 'Inference' | 'Models' | 'Usage' | 'Operations'

/** The header of {@link QUALITY_HEADER}, as every operation takes it that routes. */
export const QUALITY_PARAMETER = {
  name: QUALITY_HEADER,
  in: 'header',
  required: false,
  description: 'The least quality of a tier’s candidates; wins over `svc.quality` of the body.',
  schema: { type: 'number', minimum: 0, maximum: 1 },
} as const

type OperationOptions = {
  tag: OperationTag
  summary: string
  description: string
  requestSchema?: TSchema
  responseSchema?: TSchema
  /** Whether it is routed, and so takes the headers that say how. */
  isRouted?: boolean
  /** Error statuses this operation can answer with. */
  errors: readonly number[]
  /** Whether an API key is needed. */
  isPublic?: boolean
}

/** Every status that an inference endpoint can answer with instead of 200. */
export const INFERENCE_ERRORS = [400, 401, 402, 403, 404, 413, 415, 429, 500, 502, 503, 504] as const

const STATUS_TEXT: Record<number, string> = {
  400: 'The request breaks a rule; `param` names the field and the message the limit.',
  401: 'The API key is missing, malformed, unknown, deactivated or deleted.',
  402: 'The credit does not cover the request; `retry-after` is set where other open requests hold it.',
  403: 'The account is suspended, or the API key may not call this model (`model_not_allowed`).',
  404: 'There is no such model or path.',
  413: 'The body is too large.',
  415: 'The content type is not application/json.',
  429: 'A limit of the API key is reached; `retry-after` says when to try again, the rate-limit headers what is left.',
  500: 'Internal error.',
  502: 'The model provider failed.',
  503: 'Temporarily unable to take requests; `retry-after` is set.',
  504: 'The model provider did not answer in time.',
}

/** The documentation of one operation, in the shape that a route's `detail` takes. */
export function operation(options: OperationOptions): DocumentDecoration {
  const { tag, summary, description, requestSchema, responseSchema, errors, isPublic, isRouted } = options
  const responses: Record<string, { description: string; content?: Record<string, { schema: TSchema }> }> = {
    200: {
      description: 'Success',
      ...(responseSchema && { content: { 'application/json': { schema: responseSchema } } }),
    },
  }
  for (const status of errors) responses[status] = { description: STATUS_TEXT[status] ?? 'Error' }
  return {
    tags: [tag],
    summary,
    description,
    security: isPublic ? [] : Object.keys(SECURITY_SCHEMES).map((scheme) => ({ [scheme]: [] })),
    ...(isRouted && { parameters: [QUALITY_PARAMETER] }),
    ...(requestSchema && {
      requestBody: { required: true, content: { 'application/json': { schema: requestSchema } } },
    }),
    responses,
  } as DocumentDecoration
}

/** How an API key may be sent; all forms work on all endpoints. */
export const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer svc-…' },
  ...Object.fromEntries(KEY_HEADERS.map((name) => [name, { type: 'apiKey', in: 'header', name } as const])),
  keyQuery: { type: 'apiKey', in: 'query', name: 'key' },
} as const
