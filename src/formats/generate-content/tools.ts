/** Tools and the choice among them, between this format and the hub. */
import { invalidRequest } from '@/chat/error'
import type { Tool, ToolChoice } from '@/chat/request'
import type { JsonObject, JsonValue } from '@/lib/json'
import { fromOpenApiSchema } from './schema'
import { toOpenApiSchema } from './schema-to-openapi'
import type { WireRequest, WireTool, WireToolConfig } from './wire'

/** The quirk of a provider that knows only the OpenAPI subset of JSON Schema, for parameters and for answers. */
export const OPENAPI_SCHEMA_QUIRK = 'openapi-schema'

/** The functions of a request, and the tools that only a provider of this format has (search, code execution, …). */
export function decodeTools(tools: WireRequest['tools']): { functions: Tool[]; builtIn: JsonValue[] } {
  const functions: Tool[] = []
  const builtIn: JsonValue[] = []
  for (const tool of tools ?? []) {
    for (const declaration of tool.functionDeclarations ?? []) functions.push(decodeDeclaration(declaration))
    const { functionDeclarations: _, ...rest } = tool as JsonObject
    if (Object.keys(rest).length > 0) builtIn.push(rest)
  }
  return { functions, builtIn }
}

/** `tools` for a provider; undefined where there are none. Reads the quirk {@link OPENAPI_SCHEMA_QUIRK}. */
export function encodeTools(tools: readonly Tool[], quirks: ReadonlySet<string>): JsonValue[] | undefined {
  if (tools.length === 0) return undefined
  return [{ functionDeclarations: tools.map((tool) => encodeDeclaration(tool, quirks.has(OPENAPI_SCHEMA_QUIRK))) }]
}

/** Throws a GatewayError `invalid_request` for an unknown mode. */
export function decodeToolConfig(config: WireToolConfig | undefined): ToolChoice | undefined {
  const calling = config?.functionCallingConfig
  if (!calling) return undefined
  const names = calling.allowedFunctionNames?.length ? calling.allowedFunctionNames : undefined
  switch ((calling.mode ?? 'AUTO').toUpperCase()) {
    case 'MODE_UNSPECIFIED':
    case 'AUTO':
      return { type: 'auto' }
    case 'VALIDATED':
      return { type: 'auto', ...(names && { names }) }
    case 'NONE':
      return { type: 'none' }
    case 'ANY': {
      const [name, ...others] = names ?? []
      if (name !== undefined && others.length === 0) return { type: 'tool', name }
      return { type: 'required', ...(names && { names }) }
    }
    default:
      throw invalidRequest(`${MODE_FIELD} must be one of AUTO, ANY, NONE, VALIDATED`, MODE_FIELD)
  }
}

/** toolConfig for a provider; undefined where the choice is the default. */
export function encodeToolConfig(choice: ToolChoice | undefined): JsonObject | undefined {
  if (!choice) return undefined
  switch (choice.type) {
    case 'auto':
      return choice.names ? functionCalling('VALIDATED', choice.names) : functionCalling('AUTO')
    case 'required':
      return functionCalling('ANY', choice.names)
    case 'none':
      return functionCalling('NONE')
    case 'tool':
      return functionCalling('ANY', [choice.name])
  }
}

const MODE_FIELD = 'toolConfig.functionCallingConfig.mode'

type Declaration = NonNullable<WireTool['functionDeclarations']>[number]

function decodeDeclaration({ name, description, parameters, parametersJsonSchema }: Declaration): Tool {
  const schema = parametersJsonSchema ?? (parameters && fromOpenApiSchema(parameters))
  return { name, ...(description !== undefined && { description }), ...(schema && { parameters: schema }) }
}

function encodeDeclaration({ name, description, parameters }: Tool, isOpenApiOnly: boolean): JsonObject {
  const declaration: JsonObject = { name, ...(description !== undefined && { description }) }
  if (!parameters || takesNoArguments(parameters)) return declaration
  if (!isOpenApiOnly) return { ...declaration, parametersJsonSchema: parameters }
  const schema = toOpenApiSchema(parameters)
  return schema.properties === undefined ? declaration : { ...declaration, parameters: schema }
}

/** What an object schema without properties may say and still describe only `{}`. */
const EMPTY_SCHEMA_KEYS: ReadonlySet<string> = new Set([
  '$schema',
  'type',
  'properties',
  'required',
  'title',
  'description',
])

/** Providers refuse an object schema with no properties; a function without parameters is how this format says it. */
function takesNoArguments(schema: JsonObject): boolean {
  if (Object.keys(schema.properties ?? {}).length > 0) return false
  return Object.entries(schema).every(
    ([key, value]) => EMPTY_SCHEMA_KEYS.has(key) || (key === 'additionalProperties' && value === false),
  )
}

function functionCalling(mode: string, allowedFunctionNames?: string[]): JsonObject {
  return { functionCallingConfig: { mode, ...(allowedFunctionNames && { allowedFunctionNames }) } }
}
