/**
 * Reads the blocks of a messages stream. A block opens with `content_block_start`, receives deltas, and closes with `content_block_stop` or
 * with the message. Some backends send no start, so text and thinking also open with a first delta. Blocks of unknown types are skipped.
 * Blocks are numbered by order, not by the provider's index.
 */
import type { ChatEvent } from '@/chat/event'
import type { Signature } from '@/chat/request'
import type { Source } from '@/chat/sources'
import { decodeCitations, readPicture } from '@/formats/messages/citations'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'

type OpenBlock =
  | { type: 'text'; at: Place; sources?: Source[] }
  | { type: 'reasoning'; at: Place; signature: string }
  /** `input` from the start event; some backends then send no deltas. */
  | { type: 'tool-call'; at: Place; input: JsonValue | undefined; hasArguments: boolean }
  | { type: 'skipped' }

type Place = { choice: 0; block: number }

export class BlockReader {
  private readonly open = new Map<JsonValue | undefined, OpenBlock>()
  private count = 0
  private hasCalled = false

  private nextPlace(): Place {
    return { choice: 0, block: this.count++ }
  }

  start(index: JsonValue | undefined, block: JsonValue | undefined): ChatEvent[] {
    const before = this.stop(index)
    const content: JsonObject = isJsonObject(block) ? block : {}
    switch (content.type) {
      case 'text':
        return [
          ...before,
          ...this.openText(index),
          ...this.textDelta(index, content.text),
          ...this.cite(index, decodeCitations(content.citations)),
        ]
      case 'image': {
        const picture = readPicture(content)
        this.open.set(index, { type: 'skipped' })
        return picture ? [...before, { type: 'image', ...this.nextPlace(), ...picture }] : before
      }
      case 'thinking':
        return [
          ...before,
          ...this.openReasoning(index, undefined),
          ...this.thinkingDelta(index, content.thinking),
          ...this.sign(index, content.signature),
        ]
      case 'redacted_thinking':
        return [...before, ...this.openReasoning(index, { format: 'messages', value: textOf(content.data) ?? '' })]
      case 'tool_use':
        return [...before, ...this.openToolCall(index, content)]
      default:
        this.open.set(index, { type: 'skipped' })
        return before
    }
  }

  private openText(index: JsonValue | undefined): ChatEvent[] {
    const at = this.nextPlace()
    this.open.set(index, { type: 'text', at })
    return [{ type: 'text-start', ...at }]
  }

  private openReasoning(index: JsonValue | undefined, redacted: Signature | undefined): ChatEvent[] {
    const at = this.nextPlace()
    this.open.set(index, { type: 'reasoning', at, signature: '' })
    return [{ type: 'reasoning-start', ...at, ...(redacted && { redacted }) }]
  }

  private openToolCall(index: JsonValue | undefined, { id, name, input }: JsonObject): ChatEvent[] {
    const at = this.nextPlace()
    this.hasCalled = true
    this.open.set(index, { type: 'tool-call', at, input, hasArguments: false })
    return [{ type: 'tool-call-start', ...at, id: textOf(id) ?? '', name: textOf(name) ?? '' }]
  }

  delta(index: JsonValue | undefined, value: JsonValue | undefined): ChatEvent[] {
    if (!isJsonObject(value)) return []
    switch (value.type) {
      case 'text_delta':
        return [...(this.open.has(index) ? [] : this.openText(index)), ...this.textDelta(index, value.text)]
      case 'thinking_delta':
        return [
          ...(this.open.has(index) ? [] : this.openReasoning(index, undefined)),
          ...this.thinkingDelta(index, value.thinking),
        ]
      case 'signature_delta':
        return this.sign(index, value.signature)
      case 'citations_delta':
        return this.cite(index, decodeCitations([value.citation ?? null]))
      case 'input_json_delta':
        return this.argumentsDelta(index, value.partial_json)
      default:
        return []
    }
  }

  private textDelta(index: JsonValue | undefined, value: JsonValue | undefined): ChatEvent[] {
    const block = this.open.get(index)
    if (block?.type !== 'text' || typeof value !== 'string' || value === '') return []
    return [{ type: 'text-delta', ...block.at, text: value }]
  }

  private thinkingDelta(index: JsonValue | undefined, value: JsonValue | undefined): ChatEvent[] {
    const block = this.open.get(index)
    if (block?.type !== 'reasoning' || typeof value !== 'string' || value === '') return []
    return [{ type: 'reasoning-delta', ...block.at, text: value }]
  }

  /** A signature comes whole; as in the client libraries, a later signature replaces an earlier one. */
  private sign(index: JsonValue | undefined, value: JsonValue | undefined): ChatEvent[] {
    const block = this.open.get(index)
    if (block?.type === 'reasoning' && typeof value === 'string' && value !== '') block.signature = value
    return []
  }

  private cite(index: JsonValue | undefined, sources: readonly Source[]): ChatEvent[] {
    const block = this.open.get(index)
    if (block?.type === 'text' && sources.length > 0) block.sources = [...(block.sources ?? []), ...sources]
    return []
  }

  private argumentsDelta(index: JsonValue | undefined, value: JsonValue | undefined): ChatEvent[] {
    const block = this.open.get(index)
    if (block?.type !== 'tool-call' || typeof value !== 'string' || value === '') return []
    block.hasArguments = true
    return [{ type: 'tool-call-delta', ...block.at, argumentsText: value }]
  }

  stop(index: JsonValue | undefined): ChatEvent[] {
    const block = this.open.get(index)
    this.open.delete(index)
    return block ? close(block) : []
  }

  stopAll(): ChatEvent[] {
    const events = [...this.open.values()].flatMap(close)
    this.open.clear()
    return events
  }

  hasToolCalls(): boolean {
    return this.hasCalled
  }
}

function close(block: OpenBlock): ChatEvent[] {
  switch (block.type) {
    case 'skipped':
      return []
    case 'text':
      return [{ type: 'text-end', ...block.at, ...(block.sources && { sources: block.sources }) }]
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
