/**
 * Encodes turns as the messages of chat-completions. In this format, the results of a message's calls follow that message, as text: one
 * `tool` message per call, and none without a call. So the encoder searches results in all turns up to the next assistant turn. A call
 * without a result gets a placeholder. Content that a `tool` message can't contain follows in a user message (places.ts).
 */
import { placeTurns, resultInWords } from '@/chat/places'
import type {
  CacheHint,
  ContentBlock,
  ModelTurn,
  ToolCallBlock,
  ToolResultBlock,
  Turn,
  UserTurn,
  Warning,
} from '@/chat/request'
import { QUIRKS } from '@/formats/chat-completions/provider'
import { ownSignature } from '@/formats/chat-completions/signature'
import { createToolIds, encodeArguments } from '@/formats/chat-completions/tool-calls'
import type { TargetTraits } from '@/formats/format'
import { resultsAfter } from '@/formats/openai'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { encodeCache, encodeUserBlock, partsAsContent, textPart } from './encode-content'
import { PLACES } from './places'

type Encoding = {
  messages: JsonObject[]
  carried: JsonObject[]
  placed: Set<ToolResultBlock>
  quirks: ReadonlySet<string>
  warnings: Warning[]
}

/** Throws a GatewayError `invalid_request` for a block that this format can't express. */
export function encodeTurns(all: readonly Turn[], traits: TargetTraits, warnings: Warning[]): JsonObject[] {
  const turns = placeTurns(all, PLACES)
  const encoding: Encoding = {
    messages: [],
    carried: [],
    placed: new Set(),
    quirks: traits.quirks,
    warnings,
  }
  turns.forEach((turn, index) => {
    if (turn.role === 'assistant') encodeAssistant(encoding, turn, resultsAfter(turns, index))
    else if (turn.role === 'system') encodeSystemTurn(encoding, turn)
    else encodeUser(encoding, turn)
  })
  flushCarried(encoding)
  if (turns.at(-1)?.role === 'assistant') {
    warnings.push({
      feature: 'prefill',
      detail: 'the model may answer anew instead of continuing the last turn',
    })
  }
  return encoding.messages
}

function encodeSystemTurn(encoding: Encoding, turn: Turn): void {
  const text = joinTexts(turn.content, '\n\n')
  if (text === '') return
  if (encoding.quirks.has(QUIRKS.noMidSystem)) {
    encoding.carried.push(textPart(`<system>\n${text}\n</system>`))
    return
  }
  flushCarried(encoding)
  encoding.messages.push({ role: 'system', content: marked(text, lastHint(turn.content), encoding) })
}

function encodeUser(encoding: Encoding, turn: UserTurn): void {
  const rest: ContentBlock[] = []
  for (const block of turn.content) {
    if (block.type !== 'tool-result') rest.push(block)
    else if (!encoding.placed.has(block)) {
      encoding.warnings.push({ feature: 'tool-result', detail: 'a tool result without its call was sent as user text' })
      rest.push(...resultInWords(block))
    }
  }
  const isOnlyResults = rest.length === 0 && turn.content.length > 0
  if (isOnlyResults) return
  const parts = [...encoding.carried, ...rest.flatMap((block) => encodeUserBlock(block, encoding.quirks))]
  encoding.carried = []
  pushUser(encoding, parts, turn.name)
}

/** Reasoning of earlier turns, for providers that require it. */
function sentBack(reasoning: string, quirks: ReadonlySet<string>): JsonObject {
  return {
    ...(quirks.has(QUIRKS.reasoningContent) && { reasoning_content: reasoning }),
    ...(quirks.has(QUIRKS.reasoningField) && { reasoning }),
  }
}

function encodeAssistant(encoding: Encoding, turn: ModelTurn, results: ToolResultBlock[]): void {
  flushCarried(encoding)
  const calls = turn.content.filter((block): block is ToolCallBlock => block.type === 'tool-call')
  const text = wordsOf(turn)
  const reasoning = turn.content.map((block) => (block.type === 'reasoning' ? block.text : '')).join('')
  const newId = createToolIds()
  const wireIds = calls.map((call) => newId(call.id))
  encoding.messages.push({
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : marked(text, lastHint(turn.content), encoding),
    ...(turn.name && { name: turn.name }),
    ...(reasoning !== '' && sentBack(reasoning, encoding.quirks)),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call, index) => encodeCall(call, wireIds[index] ?? call.id, encoding.quirks)),
    }),
  })
  calls.forEach((call, index) => {
    const result = results.find((candidate) => candidate.callId === call.id && !encoding.placed.has(candidate))
    if (result) encoding.placed.add(result)
    encodeResult(encoding, wireIds[index] ?? call.id, result)
  })
}

function encodeCall(call: ToolCallBlock, id: string, quirks: ReadonlySet<string>): JsonObject {
  return {
    id,
    type: 'function',
    function: { name: call.name, arguments: encodeArguments(call.argumentsText) },
    ...(quirks.has(QUIRKS.googleExtraContent) && ownSignature(call.signature)),
  }
}

function encodeResult(encoding: Encoding, toolCallId: string, result: ToolResultBlock | undefined): void {
  if (!result) {
    encoding.warnings.push({
      feature: 'tool-call',
      detail: 'a tool call without a result was answered by a placeholder',
    })
    encoding.messages.push({ role: 'tool', tool_call_id: toolCallId, content: 'Error: no result was provided.' })
    return
  }
  const texts = result.content.flatMap((block) => (block.type === 'text' && block.text !== '' ? [block.text] : []))
  if (result.content.length === 0 && result.json) texts.push(JSON.stringify(result.json))
  const text = texts.join('\n')
  encoding.messages.push({
    role: 'tool',
    tool_call_id: toolCallId,
    content: marked(result.isError ? `Error: ${text}` : text, result.cache ?? lastHint(result.content), encoding),
  })
}

function flushCarried(encoding: Encoding): void {
  if (encoding.carried.length === 0) return
  const parts = encoding.carried
  encoding.carried = []
  const last = encoding.messages.at(-1)
  if (last?.role !== 'user') {
    pushUser(encoding, parts)
    return
  }
  const before = Array.isArray(last.content) ? last.content.filter(isJsonObject) : [textPart(String(last.content))]
  last.content = partsAsContent([...before, ...parts], encoding.quirks.has(QUIRKS.stringContent))
}

function pushUser(encoding: Encoding, parts: JsonObject[], name?: string): void {
  const content = partsAsContent(parts, encoding.quirks.has(QUIRKS.stringContent))
  encoding.messages.push({ role: 'user', content, ...(name && { name }) })
}

function marked(text: string, cache: CacheHint | undefined, { quirks }: Encoding): string | JsonObject[] {
  const mark = encodeCache(cache, quirks)
  return text === '' || mark.cache_control === undefined || quirks.has(QUIRKS.stringContent)
    ? text
    : [textPart(text, mark)]
}

function lastHint(blocks: readonly ContentBlock[]): CacheHint | undefined {
  const block = blocks.findLast((candidate) => 'cache' in candidate && candidate.cache !== undefined)
  return block && 'cache' in block ? block.cache : undefined
}

/** An assistant turn's text, including a refusal: many services reject OpenAI's field for refusals, and empty messages. */
function wordsOf({ content }: Turn): string {
  const refusal = content.map((block) => (block.type === 'refusal' ? block.text : '')).join('')
  return [joinTexts(content, ''), refusal].filter((words) => words !== '').join('\n\n')
}

function joinTexts(blocks: ContentBlock[], separator: string): string {
  return blocks.flatMap((block) => (block.type === 'text' && block.text !== '' ? [block.text] : [])).join(separator)
}
