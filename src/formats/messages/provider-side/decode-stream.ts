/**
 * Decodes a streamed answer of a messages provider. States: before `message_start`; inside the message, where blocks open and close;
 * finished, after a stop reason; done, after `message_stop` (the terminator) or an error. Once done, everything is ignored. A stream that
 * closes without `message_stop` was truncated: its open blocks are closed, and there is no `end`.
 */
import type { ChatEvent } from '@/chat/event'
import type { StreamDecoder } from '@/formats/format'
import { decodeFinishReason } from '@/formats/messages/finish-reason'
import { decodeToolUses, usedTool } from '@/formats/messages/server-tools'
import { decodeUsage, findUnknownUsage, mergeUsage, tierOfUsage } from '@/formats/messages/usage'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import type { SseEvent } from '@/lib/streams/sse'
import { decodeError } from './decode-error'
import { BlockReader } from './decode-stream-blocks'

/** A terminator that some proxies append to streams of every format. */
const FOREIGN_TERMINATOR = '[DONE]'
const KNOWN_EVENTS: ReadonlySet<string | undefined> = new Set([
  undefined,
  'message',
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'error',
])

export function createStreamDecoder(): StreamDecoder {
  return new MessageDecoder()
}

class MessageDecoder implements StreamDecoder {
  private readonly blocks = new BlockReader()
  private isStarted = false
  private hasContent = false
  private hasFinished = false
  private isDone = false
  private usage: JsonObject = {}
  /** Tool calls seen so far, by tool. The provider's usage reports them only at the end, and not for every tool. */
  private readonly counted = new Map<string, number>()

  push(event: SseEvent, json: JsonValue | undefined): ChatEvent[] {
    if (this.isDone || event.data === undefined || event.data === '') return []
    if (isJsonObject(json)) {
      const type = textOf(json.type) ?? event.event ?? ''
      if (type === 'content_block_start') rememberNumbers(json, event.data)
      return this.read(json, type)
    }
    const isNoise = !KNOWN_EVENTS.has(event.event) || event.data.trim() === FOREIGN_TERMINATOR
    return isNoise
      ? []
      : this.fail({ type: 'malformed_event', message: 'an event of the stream was not a JSON object' })
  }

  private read(json: JsonObject, type: string): ChatEvent[] {
    switch (type) {
      case 'message_start':
        return this.start(isJsonObject(json.message) ? json.message : {})
      case 'content_block_start':
        this.hasContent = true
        return [
          ...this.started(),
          ...this.countUse(json.content_block),
          ...this.blocks.start(json.index, json.content_block),
        ]
      case 'content_block_delta':
        return [...this.started(), ...this.blocks.delta(json.index, json.delta)]
      case 'content_block_stop':
        return this.blocks.stop(json.index)
      case 'message_delta':
        return [
          ...this.started(),
          ...this.finish(isJsonObject(json.delta) ? json.delta : {}),
          ...this.addUsage(json.usage),
        ]
      case 'message_stop':
        return [...this.started(), ...this.stop()]
      case 'error':
        return this.fail(json.error)
      default:
        return json.error !== undefined && json.error !== null ? this.fail(json.error) : []
    }
  }

  /** Some proxies send the start twice. After content, a second start means another attempt, so the stream fails. */
  private start(message: JsonObject): ChatEvent[] {
    if (this.hasContent) return this.fail({ type: 'api_error', message: 'the answer started again in the middle' })
    const events = this.started(textOf(message.id) ?? '', textOf(message.model) ?? '')
    return [...events, ...this.addUsage(message.usage)]
  }

  /** The start of the answer, emitted once, even if the provider omits it. */
  private started(id = '', model = ''): ChatEvent[] {
    if (this.isStarted) return []
    this.isStarted = true
    return [{ type: 'start', id, model, created: 0 }]
  }

  private countUse(block: JsonValue | undefined): ChatEvent[] {
    const tool = usedTool(block)
    if (tool === undefined) return []
    const count = (this.counted.get(tool) ?? 0) + 1
    this.counted.set(tool, count)
    return [{ type: 'tool-uses', uses: { [tool]: count } }]
  }

  private addUsage(later: JsonValue | undefined): ChatEvent[] {
    if (later === undefined || later === null) return []
    const uses = decodeToolUses(later)
    const told: ChatEvent[] = uses ? [{ type: 'tool-uses', uses }] : []
    this.usage = mergeUsage(this.usage, later)
    const decoded = decodeUsage(this.usage)
    const unknown = findUnknownUsage(later)
    if (!decoded) return told
    const serviceTier = tierOfUsage(this.usage)
    const said = { ...(unknown && { unknown }), ...(serviceTier !== undefined && { serviceTier }) }
    return [...told, { type: 'usage', usage: decoded, ...said }]
  }

  private finish(delta: JsonObject): ChatEvent[] {
    if (this.hasFinished || typeof delta.stop_reason !== 'string') return []
    this.hasFinished = true
    const ends = this.blocks.stopAll()
    const reason = decodeFinishReason(delta.stop_reason, delta.stop_sequence, this.blocks.hasToolCalls())
    return [...ends, { type: 'finish', choice: 0, finish: reason }]
  }

  /** With the terminator, an answer is complete even without a stop reason. */
  private stop(): ChatEvent[] {
    this.isDone = true
    const events = this.blocks.stopAll()
    if (!this.hasFinished) {
      events.push({
        type: 'finish',
        choice: 0,
        finish: decodeFinishReason(undefined, undefined, this.blocks.hasToolCalls()),
      })
    }
    return [...events, { type: 'end' }]
  }

  private fail(error: JsonValue | undefined): ChatEvent[] {
    this.isDone = true
    return [...this.blocks.stopAll(), { type: 'error', error: decodeError(undefined, error) }]
  }

  end(): ChatEvent[] {
    if (this.isDone) return []
    this.isDone = true
    return this.blocks.stopAll()
  }

  isFinished(): boolean {
    return this.hasFinished
  }
}
