import { placeTurns, resultInWords } from '@/chat/places'
import type { ModelTurn, Turn, UserBlock, UserTurn, Warning } from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import { QUIRKS } from '@/formats/messages/provider'
import { createToolIds, encodeArguments } from '@/formats/messages/tool-calls'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'
import {
  type ContentContext,
  encodeAssistantBlock,
  encodeCache,
  encodeToolResult,
  encodeUserBlock,
} from './encode-content'
import { PLACES } from './places'

export type Message = { role: 'user' | 'assistant' | 'system'; content: JsonObject[] }

type OpenCalls = Map<string, { ids: string[]; answered: number }>

const OPENING = '(The conversation begins with the assistant.)'
const CONTINUE = 'Continue.'
const NO_RESULT = 'No result was given for this tool call.'

/** Encodes turns as valid messages: user first, alternating roles, calls with results, unique ids. Quirks: `midSystem`, `noPrefill`. */
export function encodeTurns(all: readonly Turn[], traits: TargetTraits, warnings: Warning[]): Message[] {
  const turns = placeTurns(all, PLACES)
  const context: ContentContext = { traits, warnings }
  const newId = createToolIds()
  const messages: Message[] = []
  let open: OpenCalls = new Map()
  for (const turn of turns) {
    if (turn.role !== 'assistant') {
      const said = turn.role === 'user' ? encodeUserContent(turn, open, context) : encodeSystemContent(turn, context)
      append(messages, { role: turn.role, content: said })
      continue
    }
    if (messages.at(-1)?.role !== 'assistant') {
      answerOpenCalls(messages, open, warnings)
      open = new Map()
    }
    append(messages, { role: 'assistant', content: encodeAssistantTurn(turn, newId, open, context) })
  }
  answerOpenCalls(messages, open, warnings)
  const placed = placeSystemMessages(messages, traits.quirks.has(QUIRKS.midSystem))
  closeEnds(placed, traits, warnings)
  return placed
}

/** Merges neighbours with the same role, and drops empty messages. */
function append(messages: Message[], { role, content }: Message): void {
  if (content.length === 0) return
  const last = messages.at(-1)
  if (last?.role !== role) messages.push({ role, content })
  // Spreading would overflow the stack if there are very many blocks.
  else for (const block of content) last.content.push(block)
}

function encodeAssistantTurn(
  turn: ModelTurn,
  newId: (id: string) => string,
  open: OpenCalls,
  context: ContentContext,
): JsonObject[] {
  const content: JsonObject[] = []
  for (const block of turn.content) {
    if (block.type !== 'tool-call') {
      content.push(...encodeAssistantBlock(block, context))
      continue
    }
    const id = newId(block.id)
    const same = open.get(block.id)
    if (same) same.ids.push(id)
    else open.set(block.id, { ids: [id], answered: 0 })
    const input = encodeArguments(block.argumentsText)
    content.push({ type: 'tool_use', id, name: block.name, input, ...encodeCache(block.cache) })
  }
  // A message with only thinking would be refused, and is useless to the model.
  return content.every(isThinkingBlock) ? [] : content
}

function encodeSystemContent({ content }: Exclude<Turn, ModelTurn | UserTurn>, context: ContentContext): JsonObject[] {
  return content.flatMap((block) => encodeUserBlock(block, context))
}

/** The results of open calls, which close these calls, followed by the other content. */
function encodeUserContent(turn: UserTurn, open: OpenCalls, context: ContentContext): JsonObject[] {
  const results: JsonObject[] = []
  const said: UserBlock[] = []
  for (const block of turn.content) {
    const calls = block.type === 'tool-result' ? open.get(block.callId) : undefined
    const id = calls?.ids[calls.answered]
    if (block.type !== 'tool-result') said.push(block)
    else if (calls && id !== undefined) {
      calls.answered++
      results.push(encodeToolResult(block, id, context))
    } else {
      context.warnings.push({ feature: 'tool_result', detail: 'a tool result without its call was sent as user text' })
      for (const part of resultInWords(block)) said.push(part)
    }
  }
  return [...results, ...said.flatMap((block) => encodeUserBlock(block, context))]
}

/** Starts the next message with an error result for each unanswered call: the API refuses calls without results. */
function answerOpenCalls(messages: Message[], open: OpenCalls, warnings: Warning[]): void {
  const unanswered = [...open.values()].flatMap(({ ids, answered }) => ids.slice(answered))
  if (unanswered.length === 0) return
  warnings.push({ feature: 'tool_result', detail: 'a tool call without a result was answered with an error' })
  const content = unanswered.map((id) => ({ type: 'tool_result', tool_use_id: id, content: NO_RESULT, is_error: true }))
  const caller = messages.findLastIndex((message) => message.role === 'assistant')
  assert(caller !== -1, 'an open call has an assistant message')
  const next = messages[caller + 1]
  if (next?.role === 'user') next.content = [...content, ...next.content]
  else messages.splice(caller + 1, 0, { role: 'user', content })
}

/** Converts system messages where the API doesn't accept them, then moves results to the front of merged messages. */
function placeSystemMessages(messages: readonly Message[], isSupported: boolean): Message[] {
  const placed: Message[] = []
  for (const message of foldSystemMessages(messages, isSupported)) append(placed, message)
  for (const message of placed) {
    const isResult = (block: JsonObject) => block.type === 'tool_result'
    const results = message.content.filter(isResult)
    if (results.length > 0) message.content = [...results, ...message.content.filter((block) => !isResult(block))]
  }
  return placed
}

/** Converts system messages to user messages, except those that the API accepts if `isSupported`. Neighbours have different roles. */
function foldSystemMessages(messages: readonly Message[], isSupported: boolean): Message[] {
  return messages.map((message, index) => {
    if (message.role !== 'system') return message
    const next = messages[index + 1]
    const isAccepted = messages[index - 1]?.role === 'user' && (!next || next.role === 'assistant')
    return isSupported && isAccepted ? message : { role: 'user', content: message.content.map(wrap) }
  })
}

function wrap(block: JsonObject): JsonObject {
  return block.type === 'text' ? { ...block, text: `<system>${block.text}</system>` } : block
}

function closeEnds(messages: Message[], traits: TargetTraits, warnings: Warning[]): void {
  if (messages[0]?.role !== 'user') {
    warnings.push({ feature: 'messages', detail: 'a first user message was put in' })
    messages.unshift({ role: 'user', content: [{ type: 'text', text: messages.length === 0 ? CONTINUE : OPENING }] })
  }
  const last = messages.at(-1)
  if (last?.role !== 'assistant') return
  trimPrefill(last)
  if (traits.quirks.has(QUIRKS.noPrefill)) {
    warnings.push({ feature: 'messages', detail: 'the model continues no assistant message: it was asked to continue' })
    messages.push({ role: 'user', content: [{ type: 'text', text: CONTINUE }] })
  }
}

/** Removes thinking and white space from the end of a last assistant message, which the API refuses. Other content always remains. */
function trimPrefill(last: Message): void {
  while (isThinkingBlock(last.content.at(-1))) last.content.pop()
  const block = last.content.at(-1)
  if (block?.type === 'text' && typeof block.text === 'string') block.text = block.text.trimEnd()
}

function isThinkingBlock(block: JsonObject | undefined): boolean {
  return block?.type === 'thinking' || block?.type === 'redacted_thinking'
}
