/** The outcome of the OpenAPI document that the swagger plugin generates: plain and in order, with what operations share kept once. */
import type { Format } from '@/formats/format'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { ERRORS, errorResponses } from './errors'
import { createSchemaShelf, type SchemaShelf } from './schema-shelf'

type Named<Value> = Record<string, Value>
type Content = Named<JsonObject>
type Body = { content?: Content; [key: string]: unknown }
type Answer = Body & { description?: string; headers?: JsonObject }
type Operation = {
  tags: string[]
  security?: object[]
  parameters?: JsonObject[]
  requestBody?: Body
  responses: Named<Answer>
  operationId?: string
  [ERRORS]?: number[]
}

/** A document as the plugin generates it, as far as it is looked into. */
export type GeneratedDocument = { tags: { name: string }[]; paths: Named<Named<Operation>>; components: object }

type Shared = { shelf: SchemaShelf; headers: JsonObject; responses: Named<object>; errorFormat: Format }

/** The document made of `generated`; errors that are only named get the words of `errorFormat`. */
export function refineDocument(generated: GeneratedDocument, errorFormat: Format): object {
  const shared: Shared = { shelf: createSchemaShelf(), headers: {}, responses: {}, errorFormat }
  const operations = Object.entries(generated.paths).flatMap(([path, methods]) =>
    // The router takes a path with and without a slash at its end.
    Object.entries(methods).map(([method, operation]) => ({ path: path.replace(/(?<=.)\/$/, ''), method, operation })),
  )
  const place = ({ operation }: { operation: Operation }) =>
    generated.tags.findIndex(({ name }) => name === operation.tags[0])
  const paths: Named<object> = {}
  for (const { path, method, operation } of operations.sort((left, right) => place(left) - place(right))) {
    paths[path] = { ...paths[path], [method]: { operationId: operationId(method, path), ...refine(operation, shared) } }
  }
  const { headers, responses, shelf } = shared
  return { ...generated, paths, components: { ...generated.components, headers, responses, schemas: shelf.schemas } }
}

/** Stable as long as method and path are: `getDashboardApiKeysById`. */
function operationId(method: string, path: string): string {
  const words = path.replace(/\{(\w+)\}/g, 'by-$1').split(/[^A-Za-z0-9]+/)
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function refine({ [ERRORS]: named, operationId: _, ...operation }: Operation, shared: Shared): object {
  const { parameters = [], requestBody, responses, security = [], ...rest } = operation
  const errors = named ? [...named, ...errorsOfInput(parameters, requestBody)] : []
  const answers = { ...Object.fromEntries(errors.map((status) => [status, {}])), ...responses }
  return {
    ...rest,
    security: withoutRepeats(security),
    ...(parameters.length > 0 && { parameters: parameters.map((parameter) => toParameter(parameter, shared)) }),
    ...(requestBody && { requestBody: withContent(requestBody, shared) }),
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [status, toResponse(status, answer, shared)]),
    ),
  }
}

/** The errors of a route whose input the router checks. */
function errorsOfInput(parameters: readonly JsonObject[], body: Body | undefined): number[] {
  if (body) return [400, 413, 415]
  return parameters.length > 0 ? [400] : []
}

/** The router joins lists of a route and of its guard, once for each application that a route was mounted in. */
function withoutRepeats(schemes: readonly object[]): object[] {
  return [...new Map(schemes.map((scheme) => [JSON.stringify(scheme), scheme])).values()]
}

/** The plugin takes the examples of a schema, a list, for those of a parameter, which have names. */
function toParameter({ examples, schema, ...parameter }: JsonObject, { shelf }: Shared): object {
  return { ...parameter, schema: shelf.refer({ ...(schema as JsonObject), ...(examples && { examples }) }) }
}

/** Nothing here is sent as a form: the plugin adds forms and texts to every route without a parser. */
function isGenerated(content: Content): boolean {
  return 'multipart/form-data' in content
}

function withContent<Holder extends Body>(holder: Holder, { shelf }: Shared): Holder {
  const { content = {} } = holder
  const types = isGenerated(content) ? ['application/json'] : Object.keys(content)
  const referred = types.map((type) => {
    const { schema, ...media } = content[type] ?? {}
    return [type, { ...media, ...(isJsonObject(schema) && { schema: shelf.refer(schema) }) }]
  })
  return { ...holder, ...(types.length > 0 && { content: Object.fromEntries(referred) }) }
}

/** Headers go by their names; an error goes by the title of its body and its status, the same for all that answer with it. */
function toResponse(status: string, answer: Answer, shared: Shared): object {
  const told = answered(status, answer, shared)
  const { headers = {}, ...plain } = withContent(told, shared)
  const names = Object.keys(headers)
  for (const name of names) shared.headers[name] ??= headers[name]
  const references = names.map((name) => [name, { $ref: `#/components/headers/${name}` }])
  const whole = { ...plain, ...(names.length > 0 && { headers: Object.fromEntries(references) }) }
  const schema = told.content?.['application/json']?.schema
  if (Number(status) < 400 || !isJsonObject(schema) || typeof schema.title !== 'string') return whole
  const name = `${schema.title}${status}`
  shared.responses[name] ??= whole
  return Bun.deepEquals(shared.responses[name], whole) ? { $ref: `#/components/responses/${name}` } : whole
}

/** The operation's own answer, with a text for a status that has only a name, or with its whole schema. */
function answered(status: string, answer: Answer, { errorFormat }: Shared): Answer {
  const { content, ...rest } = answer
  if (!content && Number(status) >= 400 && !answer.description)
    return errorResponses([Number(status)], [errorFormat])[status] as Answer
  if (!content || !isGenerated(content)) return { description: 'Success', ...answer }
  // The plugin keeps what describes a schema beside the answer's content, in which it leaves the bare shape.
  const described = { ...rest, ...(content['application/json']?.schema as object) }
  const schema = JSON.parse(JSON.stringify(described), withoutClosing)
  return { description: 'Success', content: { ...content, 'application/json': { schema } } }
}

/** The router closes the schema of an answer when it first checks one; the document is the same before and after. */
export function withoutClosing(keyword: string, value: unknown): unknown {
  return keyword === 'additionalProperties' && value === false ? undefined : value
}
