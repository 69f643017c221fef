/** The OpenAPI document: every route that isn't hidden, as its own schemas and `detail` describe it, with what they share kept once. */
import { Kind } from '@sinclair/typebox'
import type { Format } from '@/formats/format'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { errorResponses } from './errors'
import { createSchemaShelf, type SchemaShelf } from './schema-shelf'
import { securitySchemes } from './security'
import { DESCRIBED_PATHS } from './wildcards'

/** A route as the router lists it. */
export type DocumentedRoute = { method: string; path: string; hooks: object }

type DocumentOptions = {
  routes: Iterable<DocumentedRoute>
  /** Of the product. */
  version: string
  /** The address people open; undefined: the one that the document was fetched from. */
  publicUrl: string | undefined
  /** In whose words errors are where no format is asked. */
  errorFormat: Format
  /** The name of the cookie of a signed-in person. */
  sessionCookie: string
}

/** What people come for first; what the dashboard's own pages call comes last. */
const TAGS = [
  { name: 'Inference', description: 'Ask a model, in the words of any of the formats' },
  { name: 'Models', description: 'What can be asked for, and what it costs' },
  { name: 'Stored responses', description: 'Answers that were kept to be gone on from' },
  { name: 'Usage', description: 'What was spent, and how good it was' },
  { name: 'Operations', description: 'For those who run the service' },
  { name: 'Webhooks', description: 'For payment providers' },
  { name: 'Dashboard', description: 'What the pages of the dashboard call; changes without notice' },
]

/** Builds the document. */
export function openApiDocument(options: DocumentOptions): JsonObject {
  const { version, publicUrl, errorFormat, sessionCookie } = options
  const shelf = createSchemaShelf()
  const shared: Shared = { headers: {}, responses: {} }
  const paths: Record<string, JsonObject> = {}
  for (const { path, method, operation } of inOrder([...options.routes].flatMap(describedOperations))) {
    const plain = toPlain(completed(operation, errorFormat), shelf, shared)
    paths[path] = { ...paths[path], [method]: { operationId: operationId(method, path), ...plain } }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'svc-gateway',
      version,
      description:
        'One API key for every model, in compatible formats, paid from prepaid credit. [Guide](/docs/guide).',
    },
    servers: [{ url: publicUrl ?? '/' }],
    tags: TAGS,
    paths,
    components: { ...shared, schemas: { ...shelf.schemas }, securitySchemes: securitySchemes(sessionCookie) },
  }
}

type Described = { path: string; method: string; operation: JsonObject }

function inOrder(operations: Described[]): Described[] {
  const place = ({ operation }: Described) => TAGS.findIndex(({ name }) => name === (operation.tags as string[])?.[0])
  return operations.sort((left, right) => place(left) - place(right))
}

function describedOperations({ method, path, hooks }: DocumentedRoute): Described[] {
  const { detail = {}, ...schemas } = hooks as RouteHooks
  const { [DESCRIBED_PATHS]: described, hide, ...operation } = detail
  const verb = method.toLowerCase()
  if (isJsonObject(described)) {
    return Object.entries(described).map(([name, inner]) => ({
      path: name,
      method: verb,
      operation: { ...(inner as JsonObject) },
    }))
  }
  if (hide === true) return []
  return [
    { path: documentedPath(path), method: verb, operation: fromSchemas(documentedPath(path), operation, schemas) },
  ]
}

/** The router takes a path with and without a slash at its end. */
function documentedPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}').replace(/(?<=.)\/$/, '')
}

type RouteHooks = { detail?: JsonObject; params?: JsonObject; query?: JsonObject; body?: JsonObject; response?: object }

/** What the router checks is what is documented; `detail` adds to it. */
function fromSchemas(path: string, detail: JsonObject, { params, query, body, response }: RouteHooks): JsonObject {
  const own = Array.isArray(detail.parameters) ? detail.parameters : []
  const takes = params ?? query ?? body
  return {
    ...detail,
    security: withoutRepeats(detail.security),
    parameters: [...parametersOf('path', params ?? namesIn(path)), ...parametersOf('query', query), ...own],
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      ...(takes && { 400: {} }),
      ...(body && { 413: {}, 415: {} }),
      ...successes(response),
      ...(detail.responses as JsonObject | undefined),
    },
  }
}

/** The router joins lists of a route and of its guard, once for each application that a route was mounted in. */
function withoutRepeats(security: JsonValue | undefined): JsonValue[] {
  const schemes = Array.isArray(security) ? security : []
  return [...new Map(schemes.map((scheme) => [JSON.stringify(scheme), scheme])).values()]
}

/** Of a route that checks its path itself: any text. */
function namesIn(path: string): JsonObject {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, { type: 'string' }])
  return { properties: Object.fromEntries(names) }
}

function parametersOf(place: 'path' | 'query', schema: JsonObject | undefined): JsonObject[] {
  if (!isJsonObject(schema?.properties)) return []
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties).map(([name, inner]) => {
    const { description, ...bare } = inner as JsonObject
    const isRequired = place === 'path' || required.includes(name)
    return { name, in: place, required: isRequired, ...(description !== undefined && { description }), schema: bare }
  })
}

function successes(response: object | undefined): JsonObject {
  if (!response) return {}
  const byStatus = Kind in response ? { 200: response } : response
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, schema]) => [
      status,
      { description: 'Success', content: { 'application/json': { schema } } },
    ]),
  )
}

/** With the words for statuses that the operation only names. */
function completed(operation: JsonObject, format: Format): JsonObject {
  const responses = operation.responses as Record<string, JsonObject>
  const told = Object.entries(responses).map(([status, response]) => [
    status,
    response.description ? response : errorResponses([Number(status)], [format])[status],
  ])
  return { ...operation, responses: Object.fromEntries(told) }
}

type Shared = { headers: Record<string, JsonObject>; responses: Record<string, JsonObject> }

/** The operation as plain JSON that refers to what is shared. */
function toPlain(
  { parameters, requestBody, responses, ...operation }: JsonObject,
  shelf: SchemaShelf,
  shared: Shared,
): JsonObject {
  return {
    ...operation,
    ...(isFilled(parameters) && {
      parameters: parameters.map((parameter) => withSchema(parameter as JsonObject, shelf)),
    }),
    ...(isJsonObject(requestBody) && { requestBody: withContent(requestBody, shelf) }),
    responses: Object.fromEntries(
      Object.entries(responses as Record<string, JsonObject>).map(([status, response]) => [
        status,
        toResponse(status, response, shelf, shared),
      ]),
    ),
  }
}

function isFilled(list: JsonValue | undefined): list is JsonValue[] {
  return Array.isArray(list) && list.length > 0
}

function withSchema(holder: JsonObject, shelf: SchemaShelf): JsonObject {
  return isJsonObject(holder.schema) ? { ...holder, schema: shelf.refer(holder.schema) } : holder
}

function withContent(holder: JsonObject, shelf: SchemaShelf): JsonObject {
  if (!isJsonObject(holder.content)) return holder
  const content = Object.entries(holder.content).map(([type, media]) => [type, withSchema(media as JsonObject, shelf)])
  return { ...holder, content: Object.fromEntries(content) }
}

/** Headers go by their names; an error goes by the title of its body and its status, the same for all that answer with it. */
function toResponse(status: string, response: JsonObject, shelf: SchemaShelf, shared: Shared): JsonObject {
  const { headers, ...plain } = withContent(response, shelf)
  const names = Object.entries((headers ?? {}) as Record<string, JsonObject>)
  for (const [name, header] of names) shared.headers[name] ??= header
  const references = names.map(([name]) => [name, { $ref: `#/components/headers/${name}` }])
  const whole = { ...plain, ...(names.length > 0 && { headers: Object.fromEntries(references) }) }
  const title = Number(status) >= 400 ? titleOf(response) : undefined
  if (title === undefined) return whole
  const name = `${title}${status}`
  const kept = shared.responses[name] ?? whole
  if (JSON.stringify(kept) !== JSON.stringify(whole)) return whole
  shared.responses[name] = kept
  return { $ref: `#/components/responses/${name}` }
}

function titleOf({ content }: JsonObject): string | undefined {
  const media = isJsonObject(content) ? content['application/json'] : undefined
  const schema = isJsonObject(media) ? media.schema : undefined
  return isJsonObject(schema) && typeof schema.title === 'string' ? schema.title : undefined
}

/** Stable as long as method and path are: `getDashboardApiKeysById`. */
function operationId(method: string, path: string): string {
  const words = path.replace(/\{(\w+)\}/g, 'by-$1').split(/[^A-Za-z0-9]+/)
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
