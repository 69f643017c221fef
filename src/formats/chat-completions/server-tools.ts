/** The web search of some chat-completions models; if the answer names no number, it is one for each request. */
import type { ServerTool, ServerToolKind, ToolUses } from '@/chat/server-tools'
import { readCount } from '@/chat/usage'
import { isJsonObject, type JsonValue } from '@/lib/json'

const SEARCH: ServerToolKind = {
  name: 'web_search',
  usualUses: 1,
  isLimitable: false,
  tokensPerUse: 16_000,
  isReread: false,
  unsaidUses: 1,
}

/** The names by which the catalogue may price them. */
export const SERVER_TOOLS = [SEARCH.name]

/** The search that `web_search_options` asks for. */
export function listServerTools({ web_search_options: options }: { web_search_options?: unknown }): ServerTool[] {
  const field = 'web_search_options'
  return options ? [{ ...SEARCH, field, kind: field }] : []
}

/** Searches in the usage, in OpenRouter's or Perplexity's spelling; undefined if there are none. */
export function decodeToolUses(usage: JsonValue | undefined): ToolUses | undefined {
  if (!isJsonObject(usage)) return undefined
  const own = isJsonObject(usage.server_tool_use) ? usage.server_tool_use.web_search_requests : undefined
  const count = readCount(own) ?? readCount(usage.num_search_queries)
  return count === undefined ? undefined : { [SEARCH.name]: count }
}
