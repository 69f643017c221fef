/** The operations of an OpenAPI document, with the references in them followed as far as tests look. */
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

type DocumentedResponse = { description: string; headers: string[]; content: JsonObject | undefined }

export type DocumentedOperation = {
  /** Such as `post /v1/messages`. */
  name: string
  method: string
  path: string
  description: string
  /** Whether its body is a form with files. */
  isForm: boolean
  tags: string[]
  /** The names of the schemes, one of which is asked for. */
  security: string[]
  /** The names of its parameters; `pathExample` is what the document puts into the path. */
  parameters: string[]
  pathExample: string
  examples: Record<string, JsonObject>
  responses: Record<string, DocumentedResponse>
}

/** Every operation of `document`, in its order. */
export function operationsOf(document: JsonObject): DocumentedOperation[] {
  return entries(document.paths).flatMap(([path, methods]) =>
    entries(methods).map(([method, operation]) => toOperation(document, path, method, operation)),
  )
}

function toOperation(document: JsonObject, path: string, method: string, operation: JsonObject): DocumentedOperation {
  const parameters = (operation.parameters ?? []) as { name: string; in: string; example?: string }[]
  const content = isJsonObject(operation.requestBody) ? (operation.requestBody.content as JsonObject) : {}
  const json = content['application/json'] ?? content['multipart/form-data']
  return {
    name: `${method} ${path}`,
    method,
    path,
    description: String(operation.description),
    isForm: 'multipart/form-data' in content,
    tags: operation.tags as string[],
    security: (operation.security as JsonObject[]).flatMap((scheme) => Object.keys(scheme)),
    parameters: parameters.map(({ name }) => name),
    pathExample: path.replace(/\{(\w+)\}/g, (whole, name) => {
      return parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.example ?? whole
    }),
    examples: Object.fromEntries(
      entries(isJsonObject(json) ? json.examples : undefined).map(([name, { value }]) => [name, value as JsonObject]),
    ),
    responses: Object.fromEntries(
      entries(operation.responses).map(([status, response]) => [status, toResponse(follow(document, response))]),
    ),
  }
}

function toResponse({ description, headers, content }: JsonObject): DocumentedResponse {
  return {
    description: String(description),
    headers: entries(headers).map(([name]) => name),
    content: isJsonObject(content) ? content : undefined,
  }
}

/** What `value` refers to, if it does. */
function follow(document: JsonObject, value: JsonObject): JsonObject {
  if (typeof value.$ref !== 'string') return value
  const names = value.$ref.split('/').slice(1)
  const found = names.reduce<JsonValue | undefined>((at, name) => (isJsonObject(at) ? at[name] : undefined), document)
  assert(isJsonObject(found), `${value.$ref} leads somewhere`)
  return found
}

function entries(value: JsonValue | undefined): [string, JsonObject][] {
  return isJsonObject(value) ? (Object.entries(value) as [string, JsonObject][]) : []
}
