/**
 * The blocks of a messages stream that is being read. A block opens with `content_block_start` (text and thinking also
 * with their first delta, which some backends send alone), takes deltas, and closes with `content_block_stop` or with
 * the message. Blocks of unknown types are skipped with all their deltas. Blocks are numbered by their order, whatever
 * index the provider gives them.
 */
import type { ChatEvent } from '@/chat/event'
import type { Signature } from '@/chat/request'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'

interface BlockReader {
  start(index: JsonValue | undefined, block: JsonValue | undefined): ChatEvent[]
  delta(index: JsonValue | undefined, delta: JsonValue | undefined): ChatEvent[]
  stop(index: JsonValue | undefined): ChatEvent[]
  stopAll(): ChatEvent[]
  /** Whether any tool call was started. */
  hasToolCalls(): boolean
}

type OpenBlock =
  | { type: 'text'; at: Place }
  | { type: 'reasoning'; at: Place; signature: string }
  /** `input` is what the start already held: some backends send no deltas then. */
  | { type: 'tool-call'; at: Place; input: JsonValue | undefined; hasArguments: boolean }
  | { type: 'skipped' }

type Place = { choice: 0; block: number }

/** Creates a reader for the blocks of one stream. */
export function createBlockReader(): BlockReader {
  const open = new Map<JsonValue | undefined, OpenBlock>()
  let count = 0
  let hasCalled = false

  function nextPlace(): Place {
    return { choice: 0, block: count++ }
  }

  function start(index: JsonValue | undefined, block: JsonValue | undefined): ChatEvent[] {
    const before = stop(index)
    const content: JsonObject = isJsonObject(block) ? block : {}
    switch (content.type) {
      case 'text':
        return [...before, ...openText(index), ...textDelta(index, content.text)]
      case 'thinking':
        return [
          ...before,
          ...openReasoning(index, undefined),
          ...thinkingDelta(index, content.thinking),
          ...sign(index, content.signature),
        ]
      case 'redacted_thinking':
        return [...before, ...openReasoning(index, { format: 'messages', value: textOf(content.data) ?? '' })]
      case 'tool_use':
        return [...before, ...openToolCall(index, content)]
      default:
        open.set(index, { type: 'skipped' })
        return before
    }
  }

  function openText(index: JsonValue | undefined): ChatEvent[] {
    const at = nextPlace()
    open.set(index, { type: 'text', at })
    return [{ type: 'text-start', ...at }]
  }

  function openReasoning(index: JsonValue | undefined, redacted: Signature | undefined): ChatEvent[] {
    const at = nextPlace()
    open.set(index, { type: 'reasoning', at, signature: '' })
    return [{ type: 'reasoning-start', ...at, ...(redacted && { redacted }) }]
  }

  function openToolCall(index: JsonValue | undefined, { id, name, input }: JsonObject): ChatEvent[] {
    const at = nextPlace()
    hasCalled = true
    open.set(index, { type: 'tool-call', at, input, hasArguments: false })
    return [{ type: 'tool-call-start', ...at, id: textOf(id) ?? '', name: textOf(name) ?? '' }]
  }

  function delta(index: JsonValue | undefined, value: JsonValue | undefined): ChatEvent[] {
    if (!isJsonObject(value)) return []
    switch (value.type) {
      case 'text_delta':
        return [...(open.has(index) ? [] : openText(index)), ...textDelta(index, value.text)]
      case 'thinking_delta':
        return [...(open.has(index) ? [] : openReasoning(index, undefined)), ...thinkingDelta(index, value.thinking)]
      case 'signature_delta':
        return sign(index, value.signature)
      case 'input_json_delta':
        return argumentsDelta(index, value.partial_json)
      default:
        return []
    }
  }

  function textDelta(index: JsonValue | undefined, value: JsonValue | undefined): ChatEvent[] {
    const block = open.get(index)
    if (block?.type !== 'text' || typeof value !== 'string' || value === '') return []
    return [{ type: 'text-delta', ...block.at, text: value }]
  }

  function thinkingDelta(index: JsonValue | undefined, value: JsonValue | undefined): ChatEvent[] {
    const block = open.get(index)
    if (block?.type !== 'reasoning' || typeof value !== 'string' || value === '') return []
    return [{ type: 'reasoning-delta', ...block.at, text: value }]
  }

  /** A signature comes whole; a later one replaces it, as the client libraries read it. */
  function sign(index: JsonValue | undefined, value: JsonValue | undefined): ChatEvent[] {
    const block = open.get(index)
    if (block?.type === 'reasoning' && typeof value === 'string' && value !== '') block.signature = value
    return []
  }

  function argumentsDelta(index: JsonValue | undefined, value: JsonValue | undefined): ChatEvent[] {
    const block = open.get(index)
    if (block?.type !== 'tool-call' || typeof value !== 'string' || value === '') return []
    block.hasArguments = true
    return [{ type: 'tool-call-delta', ...block.at, argumentsText: value }]
  }

  function stop(index: JsonValue | undefined): ChatEvent[] {
    const block = open.get(index)
    open.delete(index)
    return block ? close(block) : []
  }

  function stopAll(): ChatEvent[] {
    const events = [...open.values()].flatMap(close)
    open.clear()
    return events
  }

  return { start, delta, stop, stopAll, hasToolCalls: () => hasCalled }
}

function close(block: OpenBlock): ChatEvent[] {
  switch (block.type) {
    case 'skipped':
      return []
    case 'text':
      return [{ type: 'text-end', ...block.at }]
    case 'reasoning': {
      const signed = block.signature !== '' && { signature: { format: 'messages' as const, value: block.signature } }
      return [{ type: 'reasoning-end', ...block.at, ...signed }]
    }
    case 'tool-call': {
      const isWhole = !block.hasArguments && isJsonObject(block.input) && Object.keys(block.input).length > 0
      const whole: ChatEvent[] = isWhole
        ? [{ type: 'tool-call-delta', ...block.at, argumentsText: JSON.stringify(asWritten(block.input)) }]
        : []
      return [...whole, { type: 'tool-call-end', ...block.at }]
    }
  }
}
