/**
 * Tools of the messages format that run at the provider. Searches and fetches are counted in the usage; runs of code only in
 * the content. Each is a turn of the provider's own loop, which reads the prompt again and takes at most ten.
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

/** The names by which the catalogue may price them. */
export const SERVER_TOOLS = KINDS.map(([, { name }]) => name)

/** Those of `tools` that run at the provider and may be priced, with the limits that the caller sets. Throws for a limit that is none. */
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

/** The tools with the limits that were reckoned with, where the caller set none. */
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

/** Which tool a block of an answer is a use of; undefined for all other blocks. */
export function usedTool(block: JsonValue | undefined): string | undefined {
  if (!isJsonObject(block) || block.type !== 'server_tool_use' || typeof block.name !== 'string') return undefined
  return BLOCK_NAMES.get(block.name)
}

/** The uses in the usage; undefined if missing. Failed searches are not counted, as in the provider's bill. */
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

/** Where a caller forbids every use, to reckon with the usual number would be another request than the one that was sent. */
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
