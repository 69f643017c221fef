import type { ChatRequest, Tool, ToolChoice } from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import { offeredTools } from '@/formats/openai'
import { QUIRKS } from '@/formats/responses/provider'
import { isJsonObject, type JsonObject } from '@/lib/json'

/** Encodes tools and tool choice for a responses provider; empty without tools. Throws if the choice can't be expressed. */
export function encodeTools(request: ChatRequest, traits: TargetTraits): JsonObject {
  const { toolChoice, parallelToolCalls } = request
  const isRestricted = traits.quirks.has(QUIRKS.noAllowedTools)
  const offered = offeredTools(request, !isRestricted)
  if (offered.length === 0) return {}
  const own = request.extensions.responses?.tools
  return {
    tools: [...offered.map(encodeTool), ...(Array.isArray(own) ? own.filter(isJsonObject) : [])],
    ...(toolChoice && { tool_choice: encodeToolChoice(toolChoice, isRestricted, request.tools) }),
    ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
  }
}

/** `strict` is always sent: by default, providers close the schema and require every field. */
function encodeTool({ name, description, parameters, strict, custom }: Tool): JsonObject {
  if (custom) return encodeCustom(name, custom)
  return {
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    parameters: parameters ?? { type: 'object', properties: {} },
    strict: strict ?? false,
  }
}

function encodeCustom(name: string, { description, grammar }: NonNullable<Tool['custom']>): JsonObject {
  return {
    type: 'custom',
    name,
    ...(description !== undefined && { description }),
    ...(grammar && { format: { type: 'grammar', ...grammar } }),
  }
}

function encodeToolChoice(choice: ToolChoice, isRestricted: boolean, tools: readonly Tool[]): string | JsonObject {
  const named = (name: string) => ({
    type: tools.some((tool) => tool.name === name && tool.custom) ? 'custom' : 'function',
    name,
  })
  if (choice.type === 'none') return 'none'
  if (choice.type === 'tool') return named(choice.name)
  const { type: mode, names } = choice
  if (names === undefined || isRestricted) return mode
  const [only] = names
  if (mode === 'required' && names.length === 1 && only !== undefined) return named(only)
  return { type: 'allowed_tools', mode, tools: names.map(named) }
}
