/** Web search of some chat-completions models. If an answer reports no number, one search per request is assumed. */
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

export const SERVER_TOOLS = [SEARCH.name]

/** The search requested by `web_search_options`. */
export function listServerTools({ web_search_options: options }: { web_search_options?: unknown }): ServerTool[] {
  const field = 'web_search_options'
  return options ? [{ ...SEARCH, field, kind: field }] : []
}

/** The number of searches in the usage, as OpenRouter or Perplexity report it; undefined if there are none. */
export function decodeToolUses(usage: JsonValue | undefined): ToolUses | undefined {
  if (!isJsonObject(usage)) return undefined
  const own = isJsonObject(usage.server_tool_use) ? usage.server_tool_use.web_search_requests : undefined
  const count = readCount(own) ?? readCount(usage.num_search_queries)
  return count === undefined ? undefined : { [SEARCH.name]: count }
}
