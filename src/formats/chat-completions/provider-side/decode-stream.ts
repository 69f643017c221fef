/**
 * A streamed chat-completions answer as events of the hub.
 *
 * **open**: chunks are read; `start` goes out with the first chunk that holds a choice or usage. **done**: `[DONE]` was seen,
 * or the upstream closed after every choice had its finish reason (some providers leave `[DONE]` out). **failed**: the
 * provider reported an error or sent what can't be read; nothing more is believed. A stream that closes while open was
 * truncated: its blocks are ended, and `end` is not said. Finish reasons are held until the end, because some providers
 * send content or calls after them.
 */
import type { ChatEvent } from '@/chat/event'
import type { ProviderError } from '@/chat/provider-error'
import { inputTokens } from '@/chat/usage'
import { DONE } from '@/formats/chat-completions/framing'
import { decodeToolUses } from '@/formats/chat-completions/server-tools'
import { decodeUsage, findUnknownUsage, findUsage, readStatedCost } from '@/formats/chat-completions/usage'
import type { RunningFields, StreamDecoder } from '@/formats/format'
import { providerError, UNSTATED_STATUS } from '@/formats/provider-error'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import { decodeError } from './decode-error'
import { type BlockReader, createBlockReader } from './decode-stream-blocks'

/** OpenAI pads its events to hide how long they are; others count in each of them. */
const RUNNING: RunningFields = {
  padding: ['obfuscation'],
  usageField: 'usage',
  counts: ['prompt_tokens', 'completion_tokens', 'total_tokens', 'reasoning_tokens'],
}

/** Creates a decoder for one stream. */
export function createStreamDecoder(): StreamDecoder {
  const choices = new Map<number, BlockReader>()
  let phase: 'open' | 'done' | 'failed' = 'open'
  let isStarted = false
  let nextBlock = 0
  let largestUsage = -1
  const takeBlock = (): number => nextBlock++

  function readerOf(index: number): BlockReader {
    const known = choices.get(index)
    if (known) return known
    const reader = createBlockReader(index, takeBlock)
    choices.set(index, reader)
    return reader
  }

  function readChunk(chunk: JsonObject): ChatEvent[] {
    const events: ChatEvent[] = []
    const parts = Array.isArray(chunk.choices) ? chunk.choices.filter(isJsonObject) : []
    const usage = findUsage(chunk)
    if (!isStarted && (parts.length > 0 || decodeUsage(usage))) {
      isStarted = true
      events.push(startEvent(chunk))
    }
    parts.forEach((part, position) => {
      events.push(...readerOf(choiceIndex(part, position)).push(part))
    })
    events.push(...pushUsage(usage))
    return events
  }

  /** Counts only ever grow, so of two that differ the larger is the later truth; a final zero must not erase it. */
  function pushUsage(stated: JsonValue | undefined): ChatEvent[] {
    const usage = decodeUsage(stated)
    if (!usage) return []
    const size = inputTokens(usage) + usage.output
    if (size < largestUsage) return []
    largestUsage = size
    const unknown = findUnknownUsage(stated)
    const cost = readStatedCost(stated)
    const uses = decodeToolUses(stated)
    const event: ChatEvent = {
      ...{ type: 'usage', usage },
      ...(unknown && { unknown }),
      ...(cost !== undefined && { cost }),
    }
    return uses ? [{ type: 'tool-uses', uses }, event] : [event]
  }

  function fail(error: ProviderError): ChatEvent[] {
    phase = 'failed'
    return [{ type: 'error', error }]
  }

  function failUnread(kind: string, message: string): ChatEvent[] {
    return fail(providerError({ status: UNSTATED_STATUS, kind, message }))
  }

  function finishAll(): ChatEvent[] {
    const readers = [...choices].sort(([left], [right]) => left - right)
    if (readers.length === 0) return failUnread('empty_stream', 'the stream ended without an answer')
    const closing = closeBlocks()
    if (readers.some(([, reader]) => reader.hasNamelessCall)) {
      return [...closing, ...failUnread('malformed_tool_call', 'a tool call came without a name')]
    }
    phase = 'done'
    for (const [choice, reader] of readers) closing.push({ type: 'finish', choice, finish: reader.finish() })
    return [...closing, { type: 'end' }]
  }

  function isFinished(): boolean {
    return choices.size > 0 && choices.values().every((reader) => reader.isFinished)
  }

  function closeBlocks(): ChatEvent[] {
    return [...choices.values()].flatMap((reader) => reader.closeBlocks())
  }

  return {
    running: RUNNING,
    pushUsage,
    push(event, json) {
      if (phase !== 'open' || event.data === undefined) return []
      const data = event.data.trim()
      if (data === DONE) return finishAll()
      if (event.event === 'error') return fail(decodeError(undefined, json ?? data))
      if (data === '') return []
      if (data.includes('"arguments"')) rememberNumbers(json, data)
      const chunk = loneOf(json)
      if (!isJsonObject(chunk)) return failUnread('malformed_event', 'the stream held an event that is no JSON object')
      return chunk.error ? fail(decodeError(undefined, chunk)) : readChunk(chunk)
    },
    isFinished,
    end() {
      if (phase === 'done') return []
      return phase === 'open' && isFinished() ? finishAll() : closeBlocks()
    },
  }
}

/** Some send a chunk inside a list. Of several no client of the format would read more than the first: that is no chunk. */
function loneOf(json: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(json) && json.length === 1 ? json[0] : json
}

function startEvent(chunk: JsonObject): ChatEvent {
  const { id, model, created } = chunk
  return {
    type: 'start',
    id: textOf(id) ?? '',
    model: textOf(model) ?? '',
    created: typeof created === 'number' && Number.isSafeInteger(created) && created >= 0 ? created : 0,
  }
}

function choiceIndex(choice: JsonObject, position: number): number {
  const { index } = choice
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : position
}
