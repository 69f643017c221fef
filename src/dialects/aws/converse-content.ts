import { invalidRequest } from '@/chat/error'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { listOf } from './messages-body'

const IMAGE_FORMATS: ReadonlyMap<string, string> = new Map(
  ['png', 'jpeg', 'gif', 'webp'].map((format) => [`image/${format}`, format]),
)
/** The text in place of empty content, because AWS refuses blank texts. */
const NO_CONTENT = '(empty)'
/** Types of blocks of provider-run tools in earlier answers. They are omitted and reported: a refusal would end the conversation. */
const HOSTED = /^(?:server_tool_use|mcp_tool_use|mcp_tool_listing|\w+_tool_result)$/
const NO_NAME = /[^A-Za-z0-9\s\-()[\]]/g

/** Converts messages content for Converse: turns, system prompt, tools. Unsupported content is added to `leftOut`, or refused. */
export class ContentWriter {
  /** Numbers documents, since each needs a unique name. */
  private documents = 0

  constructor(private readonly leftOut: string[]) {}

  system(system: JsonValue | undefined): JsonObject[] {
    if (typeof system === 'string') return saidText(system)
    return listOf(system).flatMap((block) => [...saidText(block.text), ...cachePoint(block)])
  }

  /** Converse turns must alternate and not be empty, so neighbours with the same role are merged. */
  turns(messages: JsonValue | undefined): JsonObject[] {
    const turns: { role: JsonValue; content: JsonObject[] }[] = []
    for (const [index, { role = 'user', content }] of listOf(messages).entries()) {
      const path = `messages[${index}].content`
      const blocks = typeof content === 'string' ? saidText(content) : this.blocks(listOf(content), path, role)
      // A cache point without content before it has no effect.
      if (blocks.every((block) => block.cachePoint)) continue
      const last = turns.at(-1)
      if (last?.role === role) last.content.push(...blocks)
      else turns.push({ role, content: blocks })
    }
    if (turns.length === 0 && listOf(messages).length > 0)
      throw invalidRequest("messages must have content that this model's provider accepts", 'messages')
    return turns
  }

  /** Converts the tools. Tools used in the conversation must be included, even if they are not offered now. */
  tools({ tools, tool_choice: choice }: JsonObject, messages: readonly JsonObject[]): JsonObject | undefined {
    const used = messages
      .flatMap(({ content }) => listOf(content))
      .flatMap(({ toolUse }) => (isJsonObject(toolUse) ? [toolUse] : []))
    const hasHistory = messages.some(({ content }) =>
      listOf(content).some(({ toolUse, toolResult }) => toolUse ?? toolResult),
    )
    const { type, name, disable_parallel_tool_use: isSingle } = isJsonObject(choice) ? choice : {}
    if (isSingle === true) this.leftOut.push('tool_choice.disable_parallel_tool_use')
    const specs = listOf(tools).flatMap(toolSpecs)
    if (type === 'none' && !hasHistory) return undefined
    if (type === 'none' && specs.length > 0) this.leftOut.push('tool_choice')
    if (specs.length === 0 && hasHistory) specs.push(...stubs(used))
    if (specs.length === 0) return undefined
    const wish = type === 'tool' ? { tool: { name } } : type === 'any' || type === 'auto' ? { [type]: {} } : undefined
    return { tools: specs, ...(wish && { toolChoice: wish }) }
  }

  /** `role`: the role of the turn; undefined inside a tool result. */
  private blocks(blocks: readonly JsonObject[], path: string, role?: JsonValue): JsonObject[] {
    return blocks.flatMap((block, index) => {
      const said = this.block(block, `${path}[${index}]`, role)
      // A cache point inside a result is placed after the result.
      const inner = block.type === 'tool_result' ? listOf(block.content).findLast(({ cache_control: own }) => own) : {}
      return said.length === 0
        ? said
        : [...said, ...cachePoint(block.cache_control === undefined ? (inner ?? {}) : block)]
    })
  }

  private block(block: JsonObject, path: string, role: JsonValue | undefined): JsonObject[] {
    switch (block.type) {
      case 'text':
        return saidText(block.text)
      case 'image':
        return [{ image: imageOf(block) }]
      case 'document':
        return [{ document: this.document(block, path) }]
      case 'search_result':
        return [{ searchResult: searchResultOf(block) }]
      case 'tool_reference':
        return [{ text: `The tool ${String(block.tool_name)} is available.` }]
      case 'thinking':
        return [
          {
            reasoningContent: {
              reasoningText: { text: block.thinking, ...(textOf(block.signature) && { signature: block.signature }) },
            },
          },
        ]
      case 'redacted_thinking':
        return [{ reasoningContent: { redactedContent: block.data } }]
      case 'tool_use':
        return [{ toolUse: { toolUseId: block.id, name: block.name, input: block.input ?? {} } }]
      case 'tool_result':
        return [{ toolResult: this.toolResult(block, path) }]
      default:
        if (role !== 'assistant' || !HOSTED.test(String(block.type))) throw unsayable(path, block.type)
        this.leftOut.push(`messages.${String(block.type)}`)
        return []
    }
  }

  private toolResult({ tool_use_id: toolUseId, content, is_error: isError }: JsonObject, path: string): JsonObject {
    const blocks = typeof content === 'string' ? saidText(content) : this.blocks(listOf(content), `${path}.content`)
    const said = blocks.filter(({ cachePoint: point }) => !point)
    return {
      toolUseId,
      // A result must have content.
      content: said.length > 0 ? said : [{ text: NO_CONTENT }],
      ...(isError === true && { status: 'error' }),
    }
  }

  private document({ source, title, context, citations }: JsonObject, path: string): JsonObject {
    this.documents++
    const own = isJsonObject(source) ? source : {}
    const name = (textOf(title) ?? '').replace(NO_NAME, ' ').replace(/\s+/g, ' ').trim().slice(0, 150)
    return {
      name: `${name} ${this.documents}`.trim(),
      ...documentSource(own, path),
      ...(context !== undefined && { context }),
      ...(isJsonObject(citations) && citations.enabled === true && { citations: { enabled: true } }),
    }
  }
}

/** A list with the text block; empty for blank text, which AWS refuses. */
function saidText(text: JsonValue | undefined): JsonObject[] {
  return typeof text === 'string' && text.trim() !== '' ? [{ text }] : []
}

function unsayable(path: string, type: JsonValue | undefined) {
  return invalidRequest(`this model's provider can't take ${path} (${String(type).slice(0, 40)})`, path)
}

/** Converse's definition of a tool. Throws for tools without a schema, which Converse doesn't support. */
function toolSpecs(tool: JsonObject, index: number): JsonObject[] {
  const { name, type, description, input_schema: schema, strict } = tool
  if (schema === undefined) throw unsayable(`tools[${index}]`, type)
  const more = {
    ...(description !== undefined && description !== '' && { description }),
    ...(strict === true && { strict }),
  }
  return [{ toolSpec: { name, ...more, inputSchema: { json: schema } } }, ...cachePoint(tool)]
}

function searchResultOf({ source, title, content, citations }: JsonObject): JsonObject {
  const texts = listOf(content).flatMap(({ text }) => saidText(text))
  return {
    ...{ source, title, content: texts.length > 0 ? texts : [{ text: NO_CONTENT }] },
    ...(isJsonObject(citations) && { citations: { enabled: citations.enabled === true } }),
  }
}

function documentSource(source: JsonObject, path: string): JsonObject {
  if (source.type === 'text') {
    return { format: 'txt', source: { bytes: Buffer.from(textOf(source.data) || NO_CONTENT).toString('base64') } }
  }
  if (source.type !== 'content') {
    return {
      format: formatOf('document', source, new Map([['application/pdf', 'pdf']])),
      source: { bytes: source.data },
    }
  }
  const { content } = source
  const other = listOf(content).findIndex(({ type }) => type !== 'text')
  if (other >= 0) throw unsayable(`${path}.source.content[${other}]`, listOf(content)[other]?.type)
  const texts = typeof content === 'string' ? saidText(content) : listOf(content).flatMap(({ text }) => saidText(text))
  return { format: 'txt', source: { content: texts.length > 0 ? texts : [{ text: NO_CONTENT }] } }
}

function imageOf({ source }: JsonObject): JsonObject {
  const own = isJsonObject(source) ? source : {}
  return { format: formatOf('image', own, IMAGE_FORMATS), source: { bytes: own.data } }
}

function formatOf(
  what: string,
  { type, media_type: mediaType }: JsonObject,
  formats: ReadonlyMap<string, string>,
): string {
  const format = type === 'base64' ? formats.get(textOf(mediaType) ?? '') : undefined
  if (format !== undefined) return format
  throw invalidRequest(`this model's provider takes no ${what} of this kind`, 'messages')
}

function cachePoint({ cache_control: cache }: JsonObject): JsonObject[] {
  if (!isJsonObject(cache)) return []
  return [{ cachePoint: { type: 'default', ...(cache.ttl === '1h' && { ttl: '1h' }) } }]
}

/** Placeholder definitions for tools that the conversation used, but the request doesn't define. */
function stubs(used: readonly JsonObject[]): JsonObject[] {
  const names = new Set(used.map(({ name }) => name))
  return [...names].map((name) => ({ toolSpec: { name, inputSchema: { json: { type: 'object' } } } }))
}
