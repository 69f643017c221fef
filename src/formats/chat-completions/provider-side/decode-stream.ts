/**
 * Decodes a streamed chat-completions answer into events. **open**: chunks are read; `start` is emitted with the first chunk that has a
 * choice or usage. **done**: `[DONE]` was received, or the upstream closed after all finish reasons (some providers omit `[DONE]`).
 * **failed**: the provider reported an error or sent invalid data; all later chunks are ignored. A stream that closes while open was
 * truncated: its blocks are ended, and `end` is not emitted. Finish reasons are emitted at the end, because some providers send content or
 * calls after them.
 */
import type { ChatEvent } from '@/chat/event'
import type { ProviderError } from '@/chat/provider-error'
import { serviceTierOf } from '@/chat/service-tier'
import { inputTokens } from '@/chat/usage'
import { DONE } from '@/formats/chat-completions/framing'
import { decodeToolUses } from '@/formats/chat-completions/server-tools'
import { decodeUsage, findUnknownUsage, findUsage, readStatedCost } from '@/formats/chat-completions/usage'
import type { RunningFields, StreamDecoder } from '@/formats/format'
import { providerError, UNSTATED_STATUS } from '@/formats/provider-error'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import type { SseEvent } from '@/lib/streams/sse'
import { decodeError } from './decode-error'
import { BlockReader } from './decode-stream-blocks'

/** OpenAI pads events to hide their length; some providers send usage in every event. */
const RUNNING: RunningFields = {
  padding: ['obfuscation'],
  usageField: 'usage',
  counts: ['prompt_tokens', 'completion_tokens', 'total_tokens', 'reasoning_tokens'],
}

export function createStreamDecoder(): StreamDecoder {
  return new ChunkDecoder()
}

class ChunkDecoder implements StreamDecoder {
  readonly running = RUNNING
  private readonly choices = new Map<number, BlockReader>()
  private phase: 'open' | 'done' | 'failed' = 'open'
  private isStarted = false
  private nextBlock = 0
  private largestUsage = -1
  /** The tier in the latest chunk that names one: the first chunks may only repeat the requested tier. */
  private serviceTier: string | undefined

  push(event: SseEvent, json: JsonValue | undefined): ChatEvent[] {
    if (this.phase !== 'open' || event.data === undefined) return []
    const data = event.data.trim()
    if (data === DONE) return this.finishAll()
    if (event.event === 'error') return this.fail(decodeError(undefined, json ?? data))
    if (data === '') return []
    if (data.includes('"arguments"')) rememberNumbers(json, data)
    const chunk = loneOf(json)
    if (!isJsonObject(chunk))
      return this.failUnread('malformed_event', 'the stream contained an event that is no JSON object')
    return chunk.error ? this.fail(decodeError(undefined, chunk)) : this.readChunk(chunk)
  }

  /** Keeps the larger of two usage reports: counts never decrease, but some providers report zeros at the end. */
  pushUsage(stated: JsonValue | undefined): ChatEvent[] {
    const usage = decodeUsage(stated)
    if (!usage) return []
    const size = inputTokens(usage) + usage.output
    if (size < this.largestUsage) return []
    this.largestUsage = size
    const unknown = findUnknownUsage(stated)
    const cost = readStatedCost(stated)
    const uses = decodeToolUses(stated)
    const event: ChatEvent = {
      ...{ type: 'usage', usage },
      ...(unknown && { unknown }),
      ...(cost !== undefined && { cost }),
      ...(this.serviceTier !== undefined && { serviceTier: this.serviceTier }),
    }
    return uses ? [{ type: 'tool-uses', uses }, event] : [event]
  }

  isFinished(): boolean {
    return this.choices.size > 0 && this.choices.values().every((reader) => reader.isFinished())
  }

  end(): ChatEvent[] {
    if (this.phase === 'done') return []
    return this.phase === 'open' && this.isFinished() ? this.finishAll() : this.closeBlocks()
  }

  private readerOf(index: number): BlockReader {
    const known = this.choices.get(index)
    if (known) return known
    const reader = new BlockReader(index, () => this.nextBlock++)
    this.choices.set(index, reader)
    return reader
  }

  private readChunk(chunk: JsonObject): ChatEvent[] {
    const events: ChatEvent[] = []
    const parts = Array.isArray(chunk.choices) ? chunk.choices.filter(isJsonObject) : []
    const usage = findUsage(chunk)
    this.serviceTier = serviceTierOf(chunk.service_tier) ?? this.serviceTier
    if (!this.isStarted && (parts.length > 0 || decodeUsage(usage))) {
      this.isStarted = true
      events.push(startEvent(chunk, this.serviceTier))
    }
    for (const [position, part] of parts.entries())
      events.push(...this.readerOf(choiceIndex(part, position)).push(part))
    events.push(...this.pushUsage(usage))
    return events
  }

  private fail(error: ProviderError): ChatEvent[] {
    this.phase = 'failed'
    return [{ type: 'error', error }]
  }

  private failUnread(kind: string, message: string): ChatEvent[] {
    return this.fail(providerError({ status: UNSTATED_STATUS, kind, message }))
  }

  private finishAll(): ChatEvent[] {
    const readers = [...this.choices].sort(([left], [right]) => left - right)
    if (readers.length === 0) return this.failUnread('empty_stream', 'the stream ended without an answer')
    const closing = this.closeBlocks()
    if (readers.some(([, reader]) => reader.hasNamelessCall())) {
      return [...closing, ...this.failUnread('malformed_tool_call', 'a tool call came without a name')]
    }
    this.phase = 'done'
    for (const [choice, reader] of readers) closing.push({ type: 'finish', choice, finish: reader.finish() })
    return [...closing, { type: 'end' }]
  }

  private closeBlocks(): ChatEvent[] {
    return [...this.choices.values()].flatMap((reader) => reader.closeBlocks())
  }
}

/** Some providers send a chunk inside an array. An array of several is invalid, since clients would only read the first. */
function loneOf(json: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(json) && json.length === 1 ? json[0] : json
}

function startEvent(chunk: JsonObject, serviceTier: string | undefined): ChatEvent {
  const { id, model, created } = chunk
  return {
    type: 'start',
    id: textOf(id) ?? '',
    model: textOf(model) ?? '',
    created: typeof created === 'number' && Number.isSafeInteger(created) && created >= 0 ? created : 0,
    ...(serviceTier !== undefined && { serviceTier }),
  }
}

function choiceIndex(choice: JsonObject, position: number): number {
  const { index } = choice
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : position
}
