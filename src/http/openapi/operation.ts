/** Builds a route's OpenAPI entry from the parts that all operations share. */
import { type TSchema, Type } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import { fateOf, listFields, yieldsToLoss } from '@/formats/field-fates'
import type { Format } from '@/formats/format'
import { FORMATS } from '@/formats/index'
import { CACHE_PARAMETER } from '@/http/answer-cache/cache-wish'
import { IDEMPOTENCY_PARAMETER } from '@/http/idempotency/header'
import { APP_TITLE_HEADERS, TAGS_HEADER } from '@/http/labels/read-labels'
import { LOSSY_HEADER, QUALITY_HEADER, USAGE_RECORD_HEADER } from '@/http/preference-headers'
import type { JsonObject } from '@/lib/json'
import { errorResponses, INFERENCE_ERRORS } from './errors'
import { ANSWERED, rateLimitHeaders, requestIdHeaders } from './headers'
import { BY_KEY } from './security'

export type Parameter = {
  name: string
  in: 'header' | 'query' | 'path'
  required?: boolean
  description?: string
  schema: JsonObject
  example?: string
}

/** The header {@link QUALITY_HEADER}, for all routed operations. */
export const QUALITY_PARAMETER: Parameter = {
  name: QUALITY_HEADER,
  in: 'header',
  description: 'The minimum quality of a tier’s candidates; overrides `svc.quality` of the body.',
  schema: { type: 'number', minimum: 0, maximum: 1 },
}

/** The header {@link LOSSY_HEADER}, with the fields of `formats` that it affects. */
export function lossyParameter(formats: readonly Format[]): Parameter {
  const isRefused = (field: string, client: Format) =>
    FORMATS.values().some((provider) => fateOf(field, client, provider) === 'refused')
  const fields = formats.flatMap((format) =>
    listFields(format).filter((field) => yieldsToLoss(field, format) && isRefused(field, format)),
  )
  const listed = [...new Set(fields)].map((field) => `\`${field}\``).join(', ')
  return {
    name: LOSSY_HEADER,
    in: 'header',
    description:
      'Whether fields that constrain the answer may be left out and named where the model speaks a format ' +
      `without them, as \`svc.lossy\` of the body says. Otherwise that is a 400. They are ${listed}.`,
    schema: { type: 'boolean' },
  }
}

const USAGE_RECORD_PARAMETER: Parameter = {
  name: USAGE_RECORD_HEADER,
  in: 'header',
  description:
    '`true` has the last usage say what the answer cost (`cost`, `cost_details`), as `usage: {"include": true}` of the body does. ' +
    'Streams of chat completions end in the event `usage_record` as well.',
  schema: { type: 'string', enum: ['true', 'false'] },
}

const SESSION_PARAMETER: Parameter = {
  name: 'x-svc-session',
  in: 'header',
  description:
    'Names the conversation, so that a tier keeps its model. Without it, its beginning identifies the conversation.',
  schema: { type: 'string' },
}

const LABEL_PARAMETERS: readonly Parameter[] = [
  {
    name: TAGS_HEADER,
    in: 'header',
    description:
      'Tags of the usage record: at most eight pairs, such as `team=search,env=prod`. Others are named in `x-svc-tags-ignored`.',
    schema: { type: 'string', maxLength: 512 },
  },
  {
    name: APP_TITLE_HEADERS[0],
    in: 'header',
    description: 'The calling app’s title; without it, the origin in `http-referer` is used.',
    schema: { type: 'string', maxLength: 64 },
  },
]

export type Examples = Readonly<Record<string, { summary: string; value: JsonObject }>>

type CommonOptions = {
  summary: string
  description: string
  parameters?: readonly Parameter[]
  responseSchema?: TSchema
  responseType?: string
  /** Possible error statuses. A format may use a different status for an error. */
  errors: readonly number[]
  isPublic?: boolean
}

type PlainOptions = CommonOptions & {
  tag: 'Models' | 'Batches' | 'Stored responses' | 'Usage' | 'Management' | 'Operator' | 'Operations'
  requestSchema?: TSchema
  /** The formats of errors; undefined: the default one. */
  formats?: readonly Format[]
  /** The content type of the body, if it is not JSON. */
  requestType?: string
  examples?: Examples
}

/** Options of operations that call models. The router doesn't validate their bodies, so the schema is given here. */
type InferenceOptions = CommonOptions & {
  tag: 'Inference'
  /** The formats of answers and errors; several if the endpoint accepts bodies of several formats. */
  formats: readonly [Format, ...Format[]]
  requestSchema: TSchema
  /** The content type of the body, if it is not JSON. */
  requestType?: string
  examples: Examples
  responseSchema: TSchema
  /** The schema of a stream event, if the endpoint streams. */
  eventSchema?: TSchema | undefined
  /** Whether its answers can be cached; missing: yes. */
  isCacheable?: boolean
  /** Whether a model answers and is paid. If so, the operation has routing headers. */
  isRouted?: boolean
}

/** The treatment of body fields (see formats/body-fields.ts), as a text for callers. */
const FIELDS = 'Fields without a rule are left out and named in `x-svc-left-out`.'

/** The documentation of an operation, for a route's `detail`. */
export function operation(options: PlainOptions | InferenceOptions): DocumentDecoration {
  const { tag, summary, description, parameters = [], requestSchema, examples, errors, isPublic } = options
  const { requestType = 'application/json' } = options
  const isCacheable = options.tag !== 'Inference' || options.isCacheable !== false
  const { formats = [] } = options
  const isRouted = options.tag === 'Inference' && options.isRouted === true
  // An operation that can be refused for lack of credit is paid.
  const isPaid = errors.includes(402)
  return {
    tags: [tag],
    summary,
    description: isRouted ? `${description} ${FIELDS}` : description,
    security: isPublic ? [] : BY_KEY,
    parameters: [
      ...(isRouted ? [QUALITY_PARAMETER, lossyParameter(formats), SESSION_PARAMETER, USAGE_RECORD_PARAMETER] : []),
      ...(isPaid ? [IDEMPOTENCY_PARAMETER, ...(isCacheable ? [CACHE_PARAMETER] : []), ...LABEL_PARAMETERS] : []),
      ...parameters,
    ],
    ...(requestSchema && {
      requestBody: {
        required: true,
        content: { [requestType]: { schema: requestSchema, ...(examples && { examples }) } },
      },
    }),
    responses: {
      200: success(options, isRouted ? { ...ANSWERED, ...rateLimitHeaders(formats[0] as Format) } : {}),
      ...(formats.length > 0 ? errorResponses(errors, formats) : untold(errors)),
    },
  } as object as DocumentDecoration
}

type ChatOptions = Pick<InferenceOptions, 'summary' | 'description' | 'parameters' | 'examples' | 'eventSchema'> & {
  responseSchema?: TSchema
}

/** The documentation of a chat endpoint in `format`, with streaming unless options say otherwise. */
export function chatOperation(format: Format, options: ChatOptions): DocumentDecoration {
  return operation({
    tag: 'Inference',
    formats: [format],
    requestSchema: format.requestSchema,
    responseSchema: format.answerSchema,
    eventSchema: format.eventSchema,
    errors: INFERENCE_ERRORS,
    isRouted: true,
    ...options,
  })
}

type CountOptions = Pick<InferenceOptions, 'summary' | 'requestSchema' | 'responseSchema'> & {
  /** An example body. */
  question: JsonObject
}

/** The documentation of an endpoint that counts a request's input tokens. */
export function countOperation(format: Format, { question, ...options }: CountOptions): DocumentDecoration {
  return operation({
    tag: 'Inference',
    description: 'Free. Counted locally: the provider may count a little differently.',
    formats: [format],
    examples: { text: { summary: 'A question', value: question } },
    errors: [400, 401, 404, 413, 415, 503],
    ...options,
  })
}

/** Responses without descriptions; the document adds the descriptions of the default format. */
function untold(errors: readonly number[]): Record<string, object> {
  return Object.fromEntries(errors.map((status) => [status, {}]))
}

function success(options: PlainOptions | InferenceOptions, headers: object): object {
  const { responseSchema = Type.Unknown(), responseType = 'application/json' } = options
  const eventSchema = options.tag === 'Inference' ? options.eventSchema : undefined
  return {
    description: eventSchema ? 'The answer, or one event after another of a streamed one' : 'Success',
    headers: { ...requestIdHeaders(options.formats), ...headers },
    content: {
      [responseType]: { schema: responseSchema },
      ...(eventSchema && { 'text/event-stream': { schema: eventSchema } }),
    },
  }
}
