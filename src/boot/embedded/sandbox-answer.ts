import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

/** The fields that the sandbox uses, in the shape of chat-completions, whatever the request's format. */
type SandboxRequest = {
  messages: readonly { role: string; content: string | readonly { text?: string }[] | null }[]
  tools?: readonly { function: { name: string; parameters?: object } }[]
  tool_choice?: unknown
  response_format?: unknown
  max_tokens?: number
  max_completion_tokens?: unknown
}

type SandboxUsage = { inputTokens: number; outputTokens: number }

type SandboxAnswer =
  | { kind: 'text'; text: string; isCutShort: boolean; usage: SandboxUsage }
  | { kind: 'tool-call'; name: string; arguments: JsonObject; usage: SandboxUsage }

const CHARACTERS_PER_TOKEN = 4
const ECHO_CHARACTERS = 240
const MAX_WORDS = 2000
const MAX_SCHEMA_DEPTH = 6
const ASKS_FOR_TOOL = /\b(call|use|using|invoke|run)\b.{0,40}\b(tool|function)s?\b/is
const ASTRAL_CHARACTER = /[\u{10000}-\u{10ffff}]/gu
const ASKS_FOR_LENGTH = /\b(\d{1,4}) words\b/i
const FILLER = 'simulated text goes on so that there is something to stream and to count'.split(' ')

/** Simulates an answer, purely from `request`: the requested tool call, or a part of the last message. Token counts depend on lengths. */
export function simulateAnswer(request: SandboxRequest): SandboxAnswer {
  const inputTokens = countTokens(JSON.stringify(request.messages) + JSON.stringify(request.tools ?? []))
  const last = request.messages.at(-1)
  const said = textOf(last?.content ?? '')
  if (last?.role === 'user') {
    const tool = chooseTool(request, said)
    if (tool) {
      const made = makeObject(tool.function.parameters, 0)
      const outputTokens = countTokens(tool.function.name + JSON.stringify(made))
      return { kind: 'tool-call', name: tool.function.name, arguments: made, usage: { inputTokens, outputTokens } }
    }
  }
  const whole = writeText(request, last?.role ?? 'user', said)
  const limit = Math.max(1, tokenLimit(request))
  const isCutShort = countTokens(whole) > limit
  const text = isCutShort ? whole.slice(0, limit * CHARACTERS_PER_TOKEN) : whole
  return { kind: 'text', text, isCutShort, usage: { inputTokens, outputTokens: countTokens(text) } }
}

function countTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN)
}

function textOf(content: string | readonly { text?: string }[]): string {
  const text = typeof content === 'string' ? content : content.map((part) => part.text ?? '').join(' ')
  // The library may cut a text inside a surrogate pair. So each character that is such a pair is replaced.
  return text.replace(ASTRAL_CHARACTER, '\u25a1')
}

type Tool = NonNullable<SandboxRequest['tools']>[number]

function chooseTool(request: SandboxRequest, said: string): Tool | undefined {
  const tools = request.tools ?? []
  const choice = request.tool_choice
  if (choice === 'none') return undefined
  const chosen = isJsonObject(choice) ? (choice.function ?? choice) : undefined
  if (isJsonObject(chosen) && chosen.name !== undefined) {
    const wanted = chosen.name
    return tools.find((tool) => tool.function.name === wanted)
  }
  const asks = ASKS_FOR_TOOL.test(said) || choice === 'required'
  return tools.find((tool) => isNamed(tool.function.name, said, asks)) ?? (asks ? tools[0] : undefined)
}

/** Whether the prompt names the tool. A tool name that is an ordinary word counts only if the prompt asks for a tool call. */
function isNamed(name: string, said: string, asks: boolean): boolean {
  const isOrdinaryWord = /^[A-Z]?[a-z]+$/.test(name)
  return (asks || !isOrdinaryWord) && said.split(/[^\w.-]+/).some((word) => word.replace(/\.$/, '') === name)
}

function tokenLimit(request: SandboxRequest): number {
  const limit = request.max_completion_tokens ?? request.max_tokens
  return typeof limit === 'number' && limit > 0 ? limit : Number.POSITIVE_INFINITY
}

function writeText(request: SandboxRequest, role: string, said: string): string {
  const format = request.response_format
  if (isJsonObject(format) && format.type !== 'text') {
    const schema = isJsonObject(format.json_schema) ? format.json_schema.schema : undefined
    return JSON.stringify(schema ? makeObject(schema, 0) : { simulated: true, echo: said.slice(0, ECHO_CHARACTERS) })
  }
  const echo = said.length > ECHO_CHARACTERS ? `${said.slice(0, ECHO_CHARACTERS)} …` : said
  const opening = 'This answer is simulated: no model was asked, because no provider key is set.'
  const reply = role === 'tool' ? `The tool returned: ${echo}` : `You said: ${echo}`
  return `${opening} ${reply}${makeFiller(said)}`
}

function makeFiller(said: string): string {
  const words = Math.min(Number(ASKS_FOR_LENGTH.exec(said)?.[1] ?? 0), MAX_WORDS)
  return Array.from({ length: words }, (_, index) => ` ${FILLER[index % FILLER.length]}`).join('')
}

function makeObject(schema: unknown, depth: number): JsonObject {
  const made = makeValue(isJsonObject(schema) ? { type: 'object', ...schema } : {}, depth)
  return isJsonObject(made) ? made : {}
}

/** A small value valid for a JSON Schema; only types, choices, required properties and minima are considered. */
function makeValue(schema: JsonObject, depth: number): JsonValue {
  if (Array.isArray(schema.enum) && schema.enum[0] !== undefined) return schema.enum[0]
  if (schema.const !== undefined) return schema.const
  const kind = (Array.isArray(schema.type) ? schema.type[0] : schema.type) ?? 'string'
  const type = String(kind).toLowerCase()
  if (type === 'number' || type === 'integer') return typeof schema.minimum === 'number' ? schema.minimum : 1
  if (type === 'boolean') return true
  if (type === 'null') return null
  if (depth >= MAX_SCHEMA_DEPTH) return type === 'array' ? [] : type === 'object' ? {} : 'example'
  if (type === 'array') return isJsonObject(schema.items) ? [makeValue(schema.items, depth + 1)] : []
  if (type !== 'object') return 'example'
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : Object.keys(properties)
  const entries = required.map((name) => {
    const property = properties[String(name)]
    return [String(name), makeValue(isJsonObject(property) ? property : {}, depth + 1)]
  })
  return Object.fromEntries(entries)
}
