/** Decodes the tools of a chat-completions request, and the tool choice. */
import type { Tool, ToolChoice, ToolOrigin } from '@/chat/request'
import { CUSTOM_PARAMETERS, describeCustom } from '@/formats/custom-tools'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { decodeCacheControl } from './decode-content'
import type { WireCacheControl, WireRequest, WireTool } from './wire'

/** Tools that the hub supports, and `others`: tools built into a provider, which other formats lack. */
type DecodedTools = { tools: Tool[]; others: WireTool[]; origins: ReadonlyMap<string, ToolOrigin> | undefined }

/** The request's tools. Custom tools become functions; the flat shape that some code editors send is accepted, too. */
export function decodeTools(request: WireRequest): DecodedTools {
  const tools: Tool[] = []
  const others: WireTool[] = []
  for (const tool of request.tools ?? []) {
    const decoded = decodeTool(tool)
    if (decoded) tools.push(decoded)
    else others.push(tool)
  }
  for (const definition of request.functions ?? []) tools.push(decodeFunction(definition))
  let origins: Map<string, ToolOrigin> | undefined
  for (const { name, custom } of tools) {
    if (!custom) continue
    origins ??= new Map()
    origins.set(name, { kind: 'custom', name })
  }
  return { tools, others, origins }
}

/** The request's tool choice; undefined if it is missing or unknown to the hub. */
export function decodeToolChoice(choice: JsonValue | undefined): ToolChoice | undefined {
  switch (choice) {
    case 'none':
    case 'auto':
    case 'required':
      return { type: choice }
    case 'any':
      return { type: 'required' }
  }
  if (!isJsonObject(choice)) return undefined
  if (choice.type === 'allowed_tools') return decodeAllowedTools(choice.allowed_tools)
  const named = [choice.function, choice.custom, choice].find(
    (value) => isJsonObject(value) && value.name !== undefined,
  )
  return isJsonObject(named) && typeof named.name === 'string' ? { type: 'tool', name: named.name } : undefined
}

function decodeTool(tool: WireTool): Tool | undefined {
  if (tool.function) return decodeFunction(tool.function, tool.cache_control)
  if (tool.custom) return decodeCustom(tool.custom)
  const flat: { type?: JsonValue; name?: JsonValue; description?: JsonValue; parameters?: JsonValue } =
    tool as JsonObject
  if (flat.type !== 'function' || typeof flat.name !== 'string' || flat.name === '') return undefined
  return {
    name: flat.name,
    ...(typeof flat.description === 'string' && { description: flat.description }),
    ...(isJsonObject(flat.parameters) && { parameters: asWritten(flat.parameters) }),
  }
}

function decodeCustom({ name, description, format }: NonNullable<WireTool['custom']>): Tool {
  const { definition, syntax } = (format?.type === 'grammar' && format.grammar) || {}
  const grammar = definition ? { definition, ...(syntax && { syntax }) } : undefined
  const words = describeCustom(description ?? undefined, grammar)
  return {
    name,
    ...(words !== '' && { description: words }),
    parameters: CUSTOM_PARAMETERS,
    custom: { ...(description && { description }), ...(grammar && { grammar }) },
  }
}

function decodeFunction(definition: NonNullable<WireTool['function']>, control?: WireCacheControl): Tool {
  const { name, description, parameters, strict } = definition
  const cache = decodeCacheControl(control ?? definition.cache_control)
  return {
    name,
    ...(description && { description }),
    ...(parameters && { parameters: asWritten(parameters) }),
    ...(typeof strict === 'boolean' && { strict }),
    ...(cache && { cache }),
  }
}

function decodeAllowedTools(allowed: JsonValue | undefined): ToolChoice | undefined {
  if (!isJsonObject(allowed) || !Array.isArray(allowed.tools)) return undefined
  const names = allowed.tools.flatMap((tool) => {
    const named = isJsonObject(tool) ? (tool.function ?? tool.custom ?? tool) : undefined
    return isJsonObject(named) && typeof named.name === 'string' ? [named.name] : []
  })
  return { type: allowed.mode === 'required' ? 'required' : 'auto', names }
}
