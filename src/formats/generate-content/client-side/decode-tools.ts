/** Decodes the tools of a generate-content request, and the tool choice. */
import { invalidRequest } from '@/chat/error'
import type { Tool, ToolChoice } from '@/chat/request'
import type { JsonObject, JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { decodeSchema } from './decode-schema'
import type { WireRequest, WireTool, WireToolConfig } from './wire'

/** The functions of a request, and the tools that only providers of this format have (search, code execution, …). */
export function decodeTools(request: WireRequest): { tools: Tool[]; others: JsonValue[] } {
  const tools: Tool[] = []
  const others: JsonValue[] = []
  for (const tool of request.tools ?? []) {
    for (const declaration of tool.functionDeclarations ?? []) tools.push(decodeDeclaration(declaration))
    const { functionDeclarations: _, ...rest } = tool as JsonObject
    if (Object.keys(rest).length > 0) others.push(rest)
  }
  return { tools, others }
}

/** Throws a GatewayError `invalid_request` for an unknown mode. */
export function decodeToolChoice(config: WireToolConfig | undefined): ToolChoice | undefined {
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

const MODE_FIELD = 'toolConfig.functionCallingConfig.mode'

type Declaration = NonNullable<WireTool['functionDeclarations']>[number]

function decodeDeclaration({ name, description, parameters, parametersJsonSchema }: Declaration): Tool {
  const schema = asWritten(parametersJsonSchema) ?? (parameters && decodeSchema(asWritten(parameters)))
  return { name, ...(description !== undefined && { description }), ...(schema && { parameters: schema }) }
}
