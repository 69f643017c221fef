/** Provider-run tools of generate-content; the answer reports searches, pages read and code runs. */
import type { ServerTool, ServerToolKind, ToolUses } from '@/chat/server-tools'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

/** A request may read at most 20 URLs; searches and code runs have no stated maximum. */
const KINDS: ReadonlyMap<string, ServerToolKind> = new Map([
  ['googleSearch', kindOf('google_search', 10, 1_000)],
  ['googleSearchRetrieval', kindOf('google_search_retrieval', 10, 1_000)],
  ['urlContext', kindOf('url_context', 20, 10_000)],
  ['codeExecution', kindOf('code_execution', 5, 4_000)],
])

export const SERVER_TOOLS = [...KINDS.values()].map(({ name }) => name)

/** The entries of `tools` that run at the provider and may be priced. */
export function listServerTools(tools: readonly object[]): ServerTool[] {
  return tools.flatMap((tool, index) =>
    Object.keys(tool).flatMap((kind) => {
      const known = KINDS.get(kind)
      return known ? [{ ...known, field: `tools[${index}]`, kind }] : []
    }),
  )
}

interface UseCounter {
  /** Counts the uses in a candidate, or in a chunk's part of it. Returns the counts so far, or undefined if unchanged. */
  read(candidate: JsonObject): ToolUses | undefined
}

/** Counts uses like the provider's bill: repeated queries once, empty ones never. Queries for pages and for images both count. */
export function createUseCounter(): UseCounter {
  const queries = new Set<string>()
  const addresses = new Set<string>()
  let codeRuns = 0

  function size(): number {
    return queries.size + addresses.size + codeRuns
  }

  return {
    read(candidate) {
      const before = size()
      for (const text of textsOf(candidate.groundingMetadata, ['webSearchQueries', 'imageSearchQueries']))
        queries.add(text)
      for (const text of addressesOf(candidate.urlContextMetadata)) addresses.add(text)
      codeRuns += countCode(candidate.content)
      if (size() === before) return undefined
      return {
        google_search: queries.size,
        google_search_retrieval: queries.size,
        url_context: addresses.size,
        code_execution: codeRuns,
      }
    },
  }
}

function textsOf(holder: JsonValue | undefined, fields: readonly string[]): string[] {
  if (!isJsonObject(holder)) return []
  return fields.flatMap((field) => {
    const list = holder[field]
    return Array.isArray(list) ? list.filter((item) => typeof item === 'string' && item.trim() !== '').map(String) : []
  })
}

function addressesOf(metadata: JsonValue | undefined): string[] {
  const list = isJsonObject(metadata) && Array.isArray(metadata.urlMetadata) ? metadata.urlMetadata : []
  return list.filter(isJsonObject).flatMap(({ retrievedUrl: url }) => (typeof url === 'string' ? [url] : []))
}

function countCode(content: JsonValue | undefined): number {
  const parts = isJsonObject(content) && Array.isArray(content.parts) ? content.parts : []
  return parts.filter((part) => isJsonObject(part) && isJsonObject(part.executableCode)).length
}

function kindOf(name: string, usualUses: number, tokensPerUse: number): ServerToolKind {
  return { name, usualUses, isLimitable: false, tokensPerUse, isReread: false, unsaidUses: 0 }
}
