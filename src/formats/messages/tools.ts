/** Tool definitions, tool choice and tool arguments, both ways. */
import { invalidRequest } from '@/chat/error'
import type { ChatRequest, Tool, ToolChoice, Warning } from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import type { JsonObject } from '@/lib/json'
import { decodeCache, encodeCache } from './cache'
import type { WireCountRequest, WireRequest, WireTool } from './wire'

type DecodedTools = Pick<ChatRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'> & { nativeOnly: string[] }

/** Finds deferred tools for the model; where every tool is given outright, as other formats do, it has nothing to do. */
const TOOL_SEARCH = /^tool_search_tool_/
/** What a client puts in place of tools it defers: it is never called. */
const PLACEHOLDER = 'DeferredToolPlaceholder'
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/

/** Reads tools and the choice among them. Tools that only the format's own providers know are listed in `nativeOnly`. */
export function decodeTools(body: WireRequest | WireCountRequest): DecodedTools {
  const tools: Tool[] = []
  const nativeOnly: string[] = []
  for (const [index, tool] of (body.tools ?? []).entries()) {
    if (isCustom(tool)) {
      if (tool.name !== PLACEHOLDER) tools.push(decodeTool(tool))
    } else if (!TOOL_SEARCH.test(tool.type)) nativeOnly.push(`tools[${index}] (${tool.type})`)
  }
  const choice = body.tool_choice
  const isParallelSet = choice && choice.type !== 'none' && choice.disable_parallel_tool_use !== undefined
  return {
    tools,
    toolChoice: decodeToolChoice(choice),
    parallelToolCalls: isParallelSet ? !choice.disable_parallel_tool_use : undefined,
    nativeOnly,
  }
}

/** Whether a tool is a function the caller runs, and not one the provider knows by its type. */
function isCustom(tool: { type?: string | null }): tool is WireTool {
  return tool.type === undefined || tool.type === null || tool.type === 'custom'
}

function decodeTool(tool: WireTool): Tool {
  return {
    name: tool.name,
    description: tool.description,
    parameters: tool.input_schema as JsonObject,
    strict: tool.strict,
    cache: decodeCache(tool.cache_control),
  }
}

function decodeToolChoice(choice: WireRequest['tool_choice']): ToolChoice | undefined {
  if (choice === undefined) return undefined
  if (choice.type === 'any') return { type: 'required' }
  return choice.type === 'tool' ? { type: 'tool', name: choice.name } : { type: choice.type }
}

type EncodedTools = { tools: JsonObject[]; toolChoice: JsonObject | undefined; isForced: boolean }

/**
 * Writes tools and the choice. A choice among some names becomes a shorter list of tools, since the format can't say it.
 * Throws `invalid_request` where a tool must be called and there is none, or where a name can't be said in this format.
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
  return { tools: offered.map((tool) => encodeTool(tool, traits)), toolChoice: encodeToolChoice(request), isForced }
}

function encodeTool(tool: Tool, traits: TargetTraits): JsonObject {
  if (!TOOL_NAME.test(tool.name)) {
    throw invalidRequest('a tool name must be 1 to 128 letters, digits, _ or - for this model', 'tools')
  }
  return {
    name: tool.name,
    ...(tool.description !== undefined && { description: tool.description }),
    input_schema: { properties: {}, ...tool.parameters, type: 'object' },
    ...(tool.strict === true && !traits.quirks.has('no-strict-tools') && { strict: true }),
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
