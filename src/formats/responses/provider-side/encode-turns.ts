/**
 * Encodes turns as input items of a responses request. Every call needs its output somewhere after it, and every output its call. So
 * outputs are searched in all turns up to the next assistant turn, and placed right after the turn's calls; a call without a result gets a
 * placeholder. Calls have no item `id`: with one, a provider would require the reasoning that led to them.
 */
import { placeTurns, resultInWords } from '@/chat/places'
import type {
  ContentBlock,
  ReasoningBlock,
  ToolCallBlock,
  ToolResultBlock,
  Turn,
  UserBlock,
  UserTurn,
  Warning,
} from '@/chat/request'
import { customInput } from '@/formats/custom-tools'
import type { TargetTraits } from '@/formats/format'
import { resultsAfter } from '@/formats/openai'
import { ownSignature } from '@/formats/responses/signature'
import { createToolIds, encodeArguments } from '@/formats/responses/tool-calls'
import type { JsonObject } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { encodeCache, encodeUserBlock, textPart } from './encode-content'
import { PLACES } from './places'

type Encoding = {
  items: JsonObject[]
  /** Results that were already written after their calls. */
  placed: Set<ToolResultBlock>
  /** Calls whose outputs are not written yet, with the ids they got. */
  open: { call: ToolCallBlock; id: string }[]
  newId: (id: string) => string
  quirks: ReadonlySet<string>
  warnings: Warning[]
}

const NO_RESULT = 'Error: no result was provided.'

/** Throws a GatewayError `invalid_request` for a block that this format can't express. */
export function encodeTurns(all: readonly Turn[], traits: TargetTraits, warnings: Warning[]): JsonObject[] {
  const turns = placeTurns(all, PLACES)
  const encoding: Encoding = {
    items: [],
    placed: new Set(),
    open: [],
    newId: createToolIds(),
    quirks: traits.quirks,
    warnings,
  }
  turns.forEach((turn, index) => {
    if (turn.role !== 'assistant') {
      if (turn.role === 'system') encodeSystemTurn(encoding, turn)
      else encodeUser(encoding, turn)
      return
    }
    encodeAssistant(encoding, turn)
    if (turns[index + 1]?.role !== 'assistant') answerOpenCalls(encoding, resultsAfter(turns, index))
  })
  if (turns.at(-1)?.role === 'assistant') {
    warnings.push({ feature: 'prefill', detail: 'the model may answer anew instead of continuing the last turn' })
  }
  return encoding.items
}

function encodeSystemTurn(encoding: Encoding, turn: Turn): void {
  const parts = turn.content.flatMap((block) => encodeUserBlock(block, encoding.quirks))
  if (parts.length === 0) return
  encoding.items.push({ role: 'developer', content: asContent(parts) })
}

function encodeUser(encoding: Encoding, turn: UserTurn): void {
  const rest = turn.content.flatMap((block): UserBlock[] => {
    if (block.type !== 'tool-result') return [block]
    if (encoding.placed.has(block)) return []
    encoding.warnings.push({ feature: 'tool-result', detail: 'a tool result without its call was sent as user text' })
    return resultInWords(block)
  })
  const parts = rest.flatMap((block) => encodeUserBlock(block, encoding.quirks))
  if (parts.length > 0) encoding.items.push({ role: 'user', content: asContent(parts) })
}

/** Consecutive texts and refusals form one message; other blocks are separate items, in order. */
function encodeAssistant(encoding: Encoding, turn: Turn): void {
  const lastSpoken = turn.content.findLastIndex(isSpoken)
  let parts: JsonObject[] = []
  for (const [index, block] of turn.content.entries()) {
    const part = messagePart(block)
    if (part) {
      if (parts.length === 0) encoding.items.push({ role: 'assistant', content: parts })
      parts.push(part)
      continue
    }
    // Providers refuse reasoning without an item after it.
    const item = index < lastSpoken || block.type === 'tool-call' ? encodeItem(encoding, block) : undefined
    if (item) {
      encoding.items.push(item)
      parts = []
    }
  }
}

function encodeItem(encoding: Encoding, block: ContentBlock): JsonObject | undefined {
  if (block.type === 'tool-call') return encodeCall(encoding, block)
  return block.type === 'reasoning' ? encodeReasoningItem(block) : undefined
}

function isSpoken(block: ContentBlock): boolean {
  return block.type === 'tool-call' || messagePart(block) !== undefined
}

function messagePart(block: ContentBlock): JsonObject | undefined {
  if (block.type === 'text') return block.text === '' ? undefined : { type: 'output_text', text: block.text }
  if (block.type === 'refusal') return block.text === '' ? undefined : { type: 'refusal', refusal: block.text }
  return undefined
}

/** Only reasoning of this format's providers is sent back; they read the encrypted content, not the summary. */
function encodeReasoningItem({ signature }: ReasoningBlock): JsonObject | undefined {
  const own = ownSignature(signature)
  if (!own) return undefined
  return {
    type: 'reasoning',
    ...(own.id !== '' && { id: own.id }),
    summary: [],
    encrypted_content: own.encryptedContent,
  }
}

function encodeCall({ open, newId }: Encoding, call: ToolCallBlock): JsonObject {
  const id = newId(call.id)
  open.push({ call, id })
  if (call.isCustom) {
    return { type: 'custom_tool_call', call_id: id, name: call.name, input: customInput(call.argumentsText) }
  }
  return { type: 'function_call', call_id: id, name: call.name, arguments: encodeArguments(call.argumentsText) }
}

/** Each result answers the first open call with its id; a result without a call would be refused. */
function answerOpenCalls(encoding: Encoding, results: readonly ToolResultBlock[]): void {
  for (const { call, id } of encoding.open) {
    const result = results.find((candidate) => candidate.callId === call.id && !encoding.placed.has(candidate))
    if (result) encoding.placed.add(result)
    else {
      const detail = 'a tool call without a result was answered by a placeholder'
      encoding.warnings.push({ feature: 'tool-call', detail })
    }
    const output = result ? encodeResult(result, encoding.quirks) : NO_RESULT
    const type = call.isCustom ? 'custom_tool_call_output' : 'function_call_output'
    encoding.items.push({ type, call_id: id, output })
  }
  encoding.open = []
}

/** A text if there are only texts, else a list of parts. */
function encodeResult(result: ToolResultBlock, quirks: ReadonlySet<string>): string | JsonObject[] {
  const { content, json, isError, cache } = result
  const parts = content.flatMap((block) => encodeUserBlock(block, quirks))
  if (content.length === 0 && json) parts.push(textPart(JSON.stringify(asWritten(json))))
  const last = parts.at(-1)
  if (last) Object.assign(last, encodeCache(cache, quirks))
  if (parts.every(isPlainText)) return (isError ? 'Error: ' : '') + parts.map(({ text }) => text).join('\n')
  return isError ? [textPart('Error:'), ...parts] : parts
}

function asContent(parts: JsonObject[]): string | JsonObject[] {
  const [only, another] = parts
  return only && !another && isPlainText(only) && typeof only.text === 'string' ? only.text : parts
}

/** A part with a cache hint must stay separate. */
function isPlainText(part: JsonObject): boolean {
  return part.type === 'input_text' && part.prompt_cache_breakpoint === undefined
}
