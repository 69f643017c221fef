/** Decodes the tools of a messages request, and the tool choice. */
import type { Tool, ToolChoice } from '@/chat/request'
import type { JsonObject } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { decodeCache } from './decode-content'
import type { WireCountRequest, WireTool } from './wire'

/** A tool that finds deferred tools; not needed in formats where all tools are given directly. */
const TOOL_SEARCH = /^tool_search_tool_/
/** A placeholder that a client sends for deferred tools; it is never called. */
const PLACEHOLDER = 'DeferredToolPlaceholder'

/** The functions among the tools of a request. */
export function decodeTools(request: WireCountRequest): Tool[] {
  const functions = (request.tools ?? []).filter(isFunction)
  return functions.filter(({ name }) => name !== PLACEHOLDER).map(decodeTool)
}

/** The request's tool choice; undefined if there is none. */
export function decodeToolChoice(choice: WireCountRequest['tool_choice']): ToolChoice | undefined {
  if (choice === undefined) return undefined
  if (choice.type === 'any') return { type: 'required' }
  return choice.type === 'tool' ? { type: 'tool', name: choice.name } : { type: choice.type }
}

/** Whether a tool runs at the provider and cannot be omitted. */
export function isBuiltIn(tool: NonNullable<WireCountRequest['tools']>[number]): boolean {
  return !isFunction(tool) && !TOOL_SEARCH.test(tool.type)
}

/** Whether a tool is a function that the caller runs, not one that the format defines by type. */
function isFunction(tool: { type?: string | null }): tool is WireTool {
  return tool.type === undefined || tool.type === null || tool.type === 'custom'
}

function decodeTool(tool: WireTool): Tool {
  return {
    name: tool.name,
    description: tool.description,
    parameters: asWritten(tool.input_schema as JsonObject),
    strict: tool.strict,
    cache: decodeCache(tool.cache_control),
  }
}
