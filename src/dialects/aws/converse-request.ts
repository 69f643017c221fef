/** A request of messages in the words of Converse, which all models of Bedrock take. */

import { invalidRequest } from '@/chat/error'
import { headerBetas } from '@/dialects/betas'
import type { DialectSettings } from '@/dialects/dialect'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { listOf, refuseAddresses } from './messages-body'

/** Said in other words, or in the path. */
const SAID = [
  ...['messages', 'system', 'max_tokens', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'tools', 'tool_choice'],
  ...['thinking', 'output_config', 'model', 'stream', 'anthropic_version'],
]
const IMAGE_FORMATS: ReadonlyMap<string, string> = new Map(
  ['png', 'jpeg', 'gif', 'webp'].map((format) => [`image/${format}`, format]),
)
const NO_NAME = /[^A-Za-z0-9\s\-()[\]]/g

/** The body of Converse that says what `body` says to a model of `family`, and what it can't say. Throws `invalid_request` where that would change the meaning. */
export function converseRequest(
  body: JsonObject,
  headers: Readonly<Record<string, string>>,
  settings: DialectSettings,
  family: string,
) {
  refuseAddresses(body)
  const leftOut: string[] = []
  const writer = new ContentWriter(leftOut)
  const passed: JsonObject = {}
  for (const [field, value] of Object.entries(body)) {
    if (settings.passFields?.includes(field)) passed[field] = value
    else if (!SAID.includes(field)) leftOut.push(field)
  }
  const messages = writer.turns(body.messages)
  const system = writer.system(body.system)
  const tools = writer.tools(body, messages)
  const extra = modelFields(body, family, headerBetas(headers), leftOut)
  const { format } = isJsonObject(body.output_config) ? body.output_config : {}
  return {
    body: {
      messages,
      ...(system.length > 0 && { system }),
      inferenceConfig: inferenceOf(body),
      ...(tools && { toolConfig: tools }),
      ...(Object.keys(extra).length > 0 && { additionalModelRequestFields: extra }),
      ...(isJsonObject(format) && { outputConfig: { textFormat: textFormatOf(format) } }),
      ...passed,
    },
    leftOut: [...new Set(leftOut)],
  }
}

function inferenceOf({ max_tokens: maxTokens, temperature, top_p: topP, stop_sequences: stopSequences }: JsonObject) {
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(Array.isArray(stopSequences) && stopSequences.length > 0 && { stopSequences }),
  }
}

/** A schema is said as text there. */
function textFormatOf({ schema, name, description }: JsonObject): JsonObject {
  const named = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) }
  return { type: 'json_schema', structure: { jsonSchema: { schema: JSON.stringify(schema ?? {}), ...named } } }
}

/** A body that was refused because of who signed its thoughts: the same without any, and without thinking; undefined where it held none. */
export function withoutProofs(body: JsonObject): JsonObject | undefined {
  const isThought = (block: JsonObject) => block.reasoningContent !== undefined
  const messages = listOf(body.messages)
  if (!messages.some(({ content }) => listOf(content).some(isThought))) return undefined
  const left = messages.map(({ role = 'user', content }) => ({
    role,
    content: listOf(content).filter((block) => !isThought(block)),
  }))
  const { thinking: _, ...fields } = isJsonObject(body.additionalModelRequestFields)
    ? body.additionalModelRequestFields
    : {}
  const { additionalModelRequestFields: __, ...rest } = body
  return {
    ...rest,
    messages: left.filter(({ content }) => content.length > 0),
    ...(Object.keys(fields).length > 0 && { additionalModelRequestFields: fields }),
  }
}

class ContentWriter {
  /** Each document has a name of its own. */
  private documents = 0

  constructor(private readonly leftOut: string[]) {}

  system(system: JsonValue | undefined): JsonObject[] {
    if (typeof system === 'string') return system === '' ? [] : [{ text: system }]
    return listOf(system).flatMap((block) => [{ text: textOf(block.text) ?? '' }, ...cachePoint(block)])
  }

  /** Turns alternate there: neighbours of one role become one. */
  turns(messages: JsonValue | undefined): JsonObject[] {
    const turns: { role: JsonValue; content: JsonObject[] }[] = []
    for (const { role = 'user', content } of listOf(messages)) {
      const blocks = typeof content === 'string' ? [{ text: content }] : this.blocks(listOf(content))
      const last = turns.at(-1)
      if (last?.role === role) last.content.push(...blocks)
      else turns.push({ role, content: blocks })
    }
    return turns
  }

  /** The tools; one that a history names has to be there, whatever is offered now. */
  tools({ tools, tool_choice: choice }: JsonObject, messages: readonly JsonObject[]): JsonObject | undefined {
    const used = messages
      .flatMap(({ content }) => listOf(content))
      .flatMap(({ toolUse }) => (isJsonObject(toolUse) ? [toolUse] : []))
    const hasHistory = messages.some(({ content }) =>
      listOf(content).some(({ toolUse, toolResult }) => toolUse ?? toolResult),
    )
    const { type, name, disable_parallel_tool_use: isSingle } = isJsonObject(choice) ? choice : {}
    if (isSingle === true) this.leftOut.push('tool_choice.disable_parallel_tool_use')
    const specs = listOf(tools).flatMap((tool) => this.tool(tool))
    if (type === 'none' && !hasHistory) return undefined
    if (type === 'none' && specs.length > 0) this.leftOut.push('tool_choice')
    if (specs.length === 0 && hasHistory) specs.push(...stubs(used))
    if (specs.length === 0) return undefined
    const wish = type === 'tool' ? { tool: { name } } : type === 'any' || type === 'auto' ? { [type]: {} } : undefined
    return { tools: specs, ...(wish && { toolChoice: wish }) }
  }

  private tool(tool: JsonObject): JsonObject[] {
    const { name, description, input_schema: schema, strict } = tool
    if (schema === undefined) {
      this.leftOut.push('tools')
      return []
    }
    const more = {
      ...(description !== undefined && description !== '' && { description }),
      ...(strict === true && { strict }),
    }
    return [{ toolSpec: { name, ...more, inputSchema: { json: schema } } }, ...cachePoint(tool)]
  }

  private blocks(blocks: readonly JsonObject[]): JsonObject[] {
    return blocks.flatMap((block) => {
      const said = this.block(block)
      return said ? [said, ...cachePoint(block)] : []
    })
  }

  /** One block; undefined where Converse has no word for it, which is noted. */
  private block(block: JsonObject): JsonObject | undefined {
    switch (block.type) {
      case 'text':
        return { text: block.text }
      case 'image':
        return { image: imageOf(block) }
      case 'document':
        return { document: this.document(block) }
      case 'thinking':
        return {
          reasoningContent: {
            reasoningText: { text: block.thinking, ...(textOf(block.signature) && { signature: block.signature }) },
          },
        }
      case 'redacted_thinking':
        return { reasoningContent: { redactedContent: block.data } }
      case 'tool_use':
        return { toolUse: { toolUseId: block.id, name: block.name, input: block.input ?? {} } }
      case 'tool_result':
        return { toolResult: this.toolResult(block) }
      default:
        this.leftOut.push('messages')
        return undefined
    }
  }

  private toolResult({ tool_use_id: toolUseId, content, is_error: isError }: JsonObject): JsonObject {
    const blocks = typeof content === 'string' ? [{ text: content }] : this.blocks(listOf(content))
    // It has to have content, which may say nothing.
    const said = blocks.length > 0 ? blocks : [{ text: '' }]
    return {
      toolUseId,
      content: said.filter(({ cachePoint: point }) => !point),
      ...(isError === true && { status: 'error' }),
    }
  }

  private document({ source, title, context, citations }: JsonObject): JsonObject {
    this.documents++
    const own = isJsonObject(source) ? source : {}
    const name = (textOf(title) ?? '').replace(NO_NAME, ' ').replace(/\s+/g, ' ').trim().slice(0, 150)
    const [format, bytes] =
      own.type === 'text'
        ? ['txt', Buffer.from(textOf(own.data) ?? '').toString('base64')]
        : [formatOf('document', own, new Map([['application/pdf', 'pdf']])), own.data]
    return {
      ...{ format, name: `${name} ${this.documents}`.trim(), source: { bytes } },
      ...(context !== undefined && { context }),
      ...(isJsonObject(citations) && citations.enabled === true && { citations: { enabled: true } }),
    }
  }
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

/** Tools of which only the names are left, in the history. */
function stubs(used: readonly JsonObject[]): JsonObject[] {
  const names = new Set(used.map(({ name }) => name))
  return [...names].map((name) => ({ toolSpec: { name, inputSchema: { json: { type: 'object' } } } }))
}

/** By budget, as messages has it, where the model wants a word. */
const LOW_BUDGET = 4096
const MEDIUM_BUDGET = 16_384
/** The words for an effort that all such models know; a greater one is the greatest of them. */
const EFFORTS: ReadonlySet<unknown> = new Set(['low', 'medium', 'high'])

/** The fields of the model's own vendor, by its name in `model`. What it has no field for is added to `leftOut`. */
function modelFields(body: JsonObject, model: string, betas: readonly string[], leftOut: string[]): JsonObject {
  const { top_k: topK, thinking, output_config: config } = body
  const effort = isJsonObject(config) ? config.effort : undefined
  const isThinking = isJsonObject(thinking) && thinking.type !== 'disabled'
  if (/anthropic|claude/.test(model)) {
    return {
      ...(topK !== undefined && { top_k: topK }),
      ...(thinking !== undefined && { thinking }),
      ...(effort !== undefined && { output_config: { effort } }),
      ...(betas.length > 0 && { anthropic_beta: [...betas] }),
    }
  }
  if (topK !== undefined) leftOut.push('top_k')
  const word = isThinking || effort !== undefined ? effortOf(thinking, effort) : undefined
  if (word === undefined) return {}
  if (/amazon\.nova-2/.test(model)) return { reasoningConfig: { type: 'enabled', maxReasoningEffort: word } }
  if (/openai\.|deepseek\.v3/.test(model)) return { reasoning_effort: word }
  leftOut.push(isThinking ? 'thinking' : 'output_config.effort')
  return {}
}

function effortOf(thinking: unknown, effort: unknown): string {
  if (EFFORTS.has(effort)) return String(effort)
  if (effort !== undefined) return 'high'
  const budget = isJsonObject(thinking as JsonObject) ? (thinking as JsonObject).budget_tokens : undefined
  if (typeof budget !== 'number') return 'medium'
  if (budget < LOW_BUDGET) return 'low'
  return budget < MEDIUM_BUDGET ? 'medium' : 'high'
}
