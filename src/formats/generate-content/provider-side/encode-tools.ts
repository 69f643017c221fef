/** Encodes tools and the tool choice for a generate-content provider. */

import type { Tool, ToolChoice } from '@/chat/request'
import type { JsonObject, JsonValue } from '@/lib/json'
import { encodeSchema } from './encode-schema'
import type { SchemaBudget } from './schema-budget'

/** A provider's `tools`; undefined without tools. `budget` is set for providers that only support the schema subset. */
export function encodeTools(tools: readonly Tool[], budget: SchemaBudget | undefined): JsonValue[] | undefined {
  if (tools.length === 0) return undefined
  return [{ functionDeclarations: tools.map((tool) => encodeDeclaration(tool, budget)) }]
}

/** A provider's toolConfig; undefined for the default choice. */
export function encodeToolChoice(choice: ToolChoice | undefined): JsonObject | undefined {
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

function encodeDeclaration({ name, description, parameters }: Tool, budget: SchemaBudget | undefined): JsonObject {
  const declaration: JsonObject = { name, ...(description !== undefined && { description }) }
  if (!parameters || takesNoArguments(parameters)) return declaration
  if (!budget) return { ...declaration, parametersJsonSchema: parameters }
  const schema = encodeSchema(parameters, budget)
  return schema.properties === undefined ? declaration : { ...declaration, parameters: schema }
}

/** Keywords with which an object schema without properties still allows only `{}`. */
const EMPTY_SCHEMA_KEYS: ReadonlySet<string> = new Set([
  '$schema',
  'type',
  'properties',
  'required',
  'title',
  'description',
])

/** Whether a function takes no arguments. Its parameters are then omitted: providers refuse an object schema without properties. */
function takesNoArguments(schema: JsonObject): boolean {
  if (Object.keys(schema.properties ?? {}).length > 0) return false
  return Object.entries(schema).every(
    ([key, value]) => EMPTY_SCHEMA_KEYS.has(key) || (key === 'additionalProperties' && value === false),
  )
}

function functionCalling(mode: string, allowedFunctionNames?: string[]): JsonObject {
  return { functionCallingConfig: { mode, ...(allowedFunctionNames && { allowedFunctionNames }) } }
}
