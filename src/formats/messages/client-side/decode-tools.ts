/** Tools of a messages request, and the choice between them, in the words of the hub. */
import type { Tool, ToolChoice } from '@/chat/request'
import type { JsonObject } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { decodeCache } from './decode-content'
import type { WireCountRequest, WireTool } from './wire'

/** Finds deferred tools for the model; where every tool is given outright, as other formats do, it has nothing to do. */
const TOOL_SEARCH = /^tool_search_tool_/
/** What a client puts in place of tools it defers: it is never called. */
const PLACEHOLDER = 'DeferredToolPlaceholder'

/** The functions among the tools of a request. */
export function decodeTools(request: WireCountRequest): Tool[] {
  const functions = (request.tools ?? []).filter(isFunction)
  return functions.filter(({ name }) => name !== PLACEHOLDER).map(decodeTool)
}

/** The tool choice of a request, or undefined if it says nothing. */
export function decodeToolChoice(choice: WireCountRequest['tool_choice']): ToolChoice | undefined {
  if (choice === undefined) return undefined
  if (choice.type === 'any') return { type: 'required' }
  return choice.type === 'tool' ? { type: 'tool', name: choice.name } : { type: choice.type }
}

/** Whether a tool runs at the provider, and the request is not the same without it. */
export function isBuiltIn(tool: NonNullable<WireCountRequest['tools']>[number]): boolean {
  return !isFunction(tool) && !TOOL_SEARCH.test(tool.type)
}

/** Whether a tool is a function the caller runs, and not one the provider knows by its type. */
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
