/**
 * Provider-run tools of responses that have a fee: searches, which the answer lists, and the code container. Other provider-run tools read
 * data of the provider's account, or cost more than the usage shows, and are refused.
 */
import type { ServerTool, ServerToolKind, ToolUses } from '@/chat/server-tools'
import { readCount } from '@/chat/usage'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'

const SEARCH: ServerToolKind = {
  name: 'web_search',
  usualUses: 5,
  isLimitable: true,
  tokensPerUse: 10_000,
  isReread: true,
  unsaidUses: 0,
}
const CODE: ServerToolKind = {
  name: 'code_interpreter',
  usualUses: 1,
  isLimitable: false,
  tokensPerUse: 2_000,
  isReread: true,
  unsaidUses: 0,
}
const SEARCH_TYPE = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/

export const SERVER_TOOLS = [SEARCH.name, CODE.name]

/** Priced tools that run at the provider. `max_tool_calls` limits all of them together. */
export function listServerTools({
  tools,
  max_tool_calls: limit,
}: {
  tools?: unknown
  max_tool_calls?: unknown
}): ServerTool[] {
  const maxUses = readCount(limit)
  return (Array.isArray(tools) ? tools : []).flatMap((tool, index) => {
    const kind = kindOf(tool)
    if (!kind) return []
    const isLimited = kind.isLimitable && maxUses !== undefined && maxUses > 0
    return [{ ...kind, field: `tools[${index}]`, kind: String(tool.type), ...(isLimited && { maxUses }) }]
  })
}

function kindOf(tool: unknown): ServerToolKind | undefined {
  if (!isJsonObject(tool) || typeof tool.type !== 'string') return undefined
  if (SEARCH_TYPE.test(tool.type)) return SEARCH
  return tool.type === 'code_interpreter' && isOwnContainer(tool.container) ? CODE : undefined
}

/** Whether a container is new, without files from earlier requests. */
function isOwnContainer(container: JsonValue | undefined): boolean {
  if (!isJsonObject(container) || container.type !== 'auto') return false
  const { file_ids: files } = container
  return files === undefined || files === null || (Array.isArray(files) && files.length === 0)
}

/** The limit of all tool calls together that the hold covers; undefined if the caller's limit is not higher. */
export function limitToolCalls(asked: JsonValue | undefined, limits: ReadonlyMap<string, number>): number | undefined {
  let most = 0
  for (const limit of limits.values()) most += limit
  const own = readCount(asked)
  return most === 0 || (own !== undefined && own > 0 && own <= most) ? undefined : most
}

/** The tool that an item uses; undefined if the item is no billed use. `use` identifies the use. */
export function usedTool(item: JsonValue | undefined): { name: string; use: string } | undefined {
  if (!isJsonObject(item)) return undefined
  const id = textOf(item.id) ?? ''
  if (item.type === 'web_search_call') return isSearch(item) ? { name: SEARCH.name, use: id } : undefined
  return item.type === 'code_interpreter_call' ? { name: CODE.name, use: textOf(item.container_id) ?? id } : undefined
}

/** Whether a use is a search. Opening a page that a search found is free. */
function isSearch({ action }: JsonObject): boolean {
  return !isJsonObject(action) || action.type === undefined || action.type === 'search'
}

/** The tool uses that a whole response reports, or that its items show; undefined if there are none. */
export function decodeToolUses({ output, tool_usage: usage }: JsonObject): ToolUses | undefined {
  const uses: Record<string, number> = countUses(Array.isArray(output) ? output : [])
  const stated = isJsonObject(usage) && isJsonObject(usage.web_search) ? usage.web_search.num_requests : undefined
  const count = readCount(stated)
  if (count !== undefined) uses[SEARCH.name] = count
  return Object.keys(uses).length > 0 ? uses : undefined
}

/** Number of uses by tool. */
export function countUses(items: readonly JsonValue[]): Record<string, number> {
  const seen = new Map<string, Set<string>>()
  for (const [index, item] of items.entries()) {
    const used = usedTool(item)
    if (!used) continue
    const known = seen.get(used.name) ?? new Set()
    seen.set(used.name, known.add(used.use === '' ? String(index) : used.use))
  }
  return Object.fromEntries([...seen].map(([name, uses]) => [name, uses.size]))
}
