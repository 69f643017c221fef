/**
 * Tools of the messages format that run at the provider. The usage counts searches and fetches; code runs are only in the content. Each
 * use is a turn of the provider's own loop, which reads the prompt again and has at most ten turns.
 */
import { invalidRequest } from '@/chat/error'
import type { ServerTool, ServerToolKind, ToolUses } from '@/chat/server-tools'
import { readCount } from '@/chat/usage'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

const KINDS: [type: RegExp, kind: ServerToolKind][] = [
  [/^web_search_\d{8}$/, kindOf('web_search', 5, 10_000, true)],
  [/^web_fetch_\d{8}$/, kindOf('web_fetch', 5, 25_000, true)],
  [/^code_execution_\d{8}$/, kindOf('code_execution', 10, 2_000, false)],
]

export const SERVER_TOOLS = KINDS.map(([, { name }]) => name)

/** The `tools` that run at the provider and may be priced, with the caller's limits. Throws for an invalid limit. */
export function listServerTools(tools: readonly { type?: string | null }[]): ServerTool[] {
  return tools.flatMap((tool, index) => {
    const { type } = tool
    const kind = typeof type === 'string' ? kindOfType(type) : undefined
    if (!kind || typeof type !== 'string') return []
    const { max_uses: limit, max_content_tokens: content } = tool as JsonObject
    const field = `tools[${index}]`
    const maxUses = kind.isLimitable ? readLimit(limit, `${field}.max_uses`) : undefined
    return [
      {
        ...kind,
        tokensPerUse: readLimit(content, `${field}.max_content_tokens`) ?? kind.tokensPerUse,
        field,
        kind: type,
        ...(maxUses !== undefined && { maxUses }),
      },
    ]
  })
}

/** Adds the limit that the hold covers to each tool that the caller didn't limit. */
export function limitServerTools(
  tools: JsonValue | undefined,
  limits: ReadonlyMap<string, number>,
): JsonValue | undefined {
  if (!Array.isArray(tools)) return tools
  return tools.map((tool) => {
    const kind = isJsonObject(tool) && typeof tool.type === 'string' ? kindOfType(tool.type) : undefined
    const limit = kind?.isLimitable ? limits.get(kind.name) : undefined
    if (!isJsonObject(tool) || limit === undefined || positive(tool.max_uses) !== undefined) return tool
    return { ...tool, max_uses: limit }
  })
}

const BLOCK_NAMES = new Map([
  ['web_search', 'web_search'],
  ['web_fetch', 'web_fetch'],
  ['code_execution', 'code_execution'],
  ['bash_code_execution', 'code_execution'],
  ['text_editor_code_execution', 'code_execution'],
])

/** The tool used by an answer's block; undefined for other blocks. */
export function usedTool(block: JsonValue | undefined): string | undefined {
  if (!isJsonObject(block) || block.type !== 'server_tool_use' || typeof block.name !== 'string') return undefined
  return BLOCK_NAMES.get(block.name)
}

/** The tool uses that the usage reports; undefined if missing. As in the provider's bill, failed searches don't count. */
export function decodeToolUses(usage: JsonValue | undefined): ToolUses | undefined {
  const stated = isJsonObject(usage) ? usage.server_tool_use : undefined
  if (!isJsonObject(stated)) return undefined
  const uses: Record<string, number> = {}
  for (const name of SERVER_TOOLS) {
    const count = readCount(stated[`${name}_requests`])
    if (count !== undefined) uses[name] = count
  }
  return uses
}

function kindOf(name: string, usualUses: number, tokensPerUse: number, isLimitable: boolean): ServerToolKind {
  return { name, usualUses, isLimitable, tokensPerUse, isReread: true, unsaidUses: 0 }
}

function kindOfType(type: string): ServerToolKind | undefined {
  return KINDS.find(([pattern]) => pattern.test(type))?.[1]
}

/** A limit of zero is refused: replacing it by the default would change the request. */
function readLimit(value: JsonValue | undefined, param: string): number | undefined {
  if (value === undefined || value === null) return undefined
  const limit = positive(value)
  if (limit === undefined) throw invalidRequest(`${param} must be a positive integer`, param)
  return limit
}

function positive(value: JsonValue | undefined): number | undefined {
  const count = readCount(value)
  return count === 0 ? undefined : count
}
