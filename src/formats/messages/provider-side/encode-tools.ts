import { invalidRequest } from '@/chat/error'
import type { ChatRequest, Tool, Warning } from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import { QUIRKS } from '@/formats/messages/provider'
import type { JsonObject } from '@/lib/json'
import { encodeCache } from './encode-content'

type EncodedTools = { tools: JsonObject[]; toolChoice: JsonObject | undefined; isForced: boolean; instruction?: string }

/**
 * Encodes tools and choice for a messages provider. A choice among some tools becomes a shorter tool list, since the format can't express
 * it. For models that always think, a required call becomes an instruction. Throws `invalid_request` if a call is required and there is no
 * tool.
 */
export function encodeTools(request: ChatRequest, traits: TargetTraits, warnings: Warning[]): EncodedTools {
  const choice = request.toolChoice
  const names = choice && 'names' in choice ? choice.names : undefined
  const offered = names ? request.tools.filter((tool) => names.includes(tool.name)) : request.tools
  const isForced = choice?.type === 'required' || choice?.type === 'tool'
  if (offered.length === 0) {
    if (isForced) throw invalidRequest('tool_choice demands a tool call, but no such tool is given', 'tool_choice')
    return { tools: [], toolChoice: undefined, isForced: false }
  }
  if (choice?.type === 'tool' && !offered.some((tool) => tool.name === choice.name)) {
    throw invalidRequest('tool_choice names a tool that is not in tools', 'tool_choice')
  }
  if (names)
    warnings.push({ feature: 'tool_choice', detail: 'the choice among some tools became a shorter list of tools' })
  const tools = offered.map((tool) => encodeTool(tool, traits))
  if (!isForced || !traits.quirks.has(QUIRKS.alwaysThinking)) {
    return { tools, toolChoice: encodeToolChoice(request), isForced }
  }
  warnings.push({ feature: 'tool_choice', detail: 'the demand of a tool call became an instruction' })
  const single = request.parallelToolCalls === false ? { disable_parallel_tool_use: true } : {}
  const instruction = `Answer with a call of ${choice.type === 'tool' ? `the tool ${choice.name}` : 'a tool'}, not with text alone.`
  return { tools, toolChoice: { type: 'auto', ...single }, isForced: false, instruction }
}

function encodeTool(tool: Tool, traits: TargetTraits): JsonObject {
  return {
    name: tool.name,
    ...(tool.description !== undefined && { description: tool.description }),
    input_schema: { properties: {}, ...tool.parameters, type: 'object' },
    ...(tool.strict === true && !traits.quirks.has(QUIRKS.noStrictTools) && { strict: true }),
    ...encodeCache(tool.cache),
  }
}

function encodeToolChoice(request: ChatRequest): JsonObject | undefined {
  const choice = request.toolChoice
  if (choice?.type === 'none') return { type: 'none' }
  const single = request.parallelToolCalls === false ? { disable_parallel_tool_use: true } : {}
  if (choice?.type === 'required') {
    const [only, ...others] = choice.names ?? []
    return only !== undefined && others.length === 0
      ? { type: 'tool', name: only, ...single }
      : { type: 'any', ...single }
  }
  if (choice?.type === 'tool') return { type: 'tool', name: choice.name, ...single }
  return choice || request.parallelToolCalls === false ? { type: 'auto', ...single } : undefined
}
