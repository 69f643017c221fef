/**
 * A streamed answer of a messages provider as events of the hub. States: before `message_start`; inside the message,
 * where blocks open and close; finished, once a stop reason was stated; done, after `message_stop` (the terminator) or
 * an error. Whatever arrives once done is ignored. A stream that closes without `message_stop` was cut: its open blocks
 * are closed, and no `end` is told.
 */
import type { ChatEvent } from '@/chat/event'
import type { StreamDecoder } from '@/formats/format'
import { decodeFinishReason } from '@/formats/messages/finish-reason'
import { decodeToolUses, usedTool } from '@/formats/messages/server-tools'
import { decodeUsage, findUnknownUsage, mergeUsage } from '@/formats/messages/usage'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import type { SseEvent } from '@/lib/streams/sse'
import { decodeError } from './decode-error'
import { createBlockReader } from './decode-stream-blocks'

/** What some proxies append to streams of every format. */
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

/** Creates a decoder for one stream. It never throws, whatever the provider sends. */
export function createStreamDecoder(): StreamDecoder {
  const blocks = createBlockReader()
  let isStarted = false
  let hasContent = false
  let isFinished = false
  let isDone = false
  let usage: JsonObject = {}
  /** Uses that were seen, by tool: the usage tells them at the end only, and not all. */
  const counted = new Map<string, number>()

  function push(event: SseEvent, json: JsonValue | undefined): ChatEvent[] {
    if (isDone || event.data === undefined || event.data === '') return []
    if (isJsonObject(json)) {
      const type = textOf(json.type) ?? event.event ?? ''
      if (type === 'content_block_start') rememberNumbers(json, event.data)
      return read(json, type)
    }
    const isNoise = !KNOWN_EVENTS.has(event.event) || event.data.trim() === FOREIGN_TERMINATOR
    return isNoise ? [] : fail({ type: 'malformed_event', message: 'an event of the stream was not a JSON object' })
  }

  function read(json: JsonObject, type: string): ChatEvent[] {
    switch (type) {
      case 'message_start':
        return start(isJsonObject(json.message) ? json.message : {})
      case 'content_block_start':
        hasContent = true
        return [...started(), ...countUse(json.content_block), ...blocks.start(json.index, json.content_block)]
      case 'content_block_delta':
        return [...started(), ...blocks.delta(json.index, json.delta)]
      case 'content_block_stop':
        return blocks.stop(json.index)
      case 'message_delta':
        return [...started(), ...finish(isJsonObject(json.delta) ? json.delta : {}), ...addUsage(json.usage)]
      case 'message_stop':
        return [...started(), ...stop()]
      case 'error':
        return fail(json.error)
      default:
        return json.error !== undefined && json.error !== null ? fail(json.error) : []
    }
  }

  /** Some proxies say the start twice. Where content came in between, they ask anew: what is half said can't be taken back. */
  function start(message: JsonObject): ChatEvent[] {
    if (hasContent) return fail({ type: 'api_error', message: 'the answer began anew in the middle' })
    const events = started(textOf(message.id) ?? '', textOf(message.model) ?? '')
    return [...events, ...addUsage(message.usage)]
  }

  /** The start of the answer, once: a stream that forgets to say it starts all the same. */
  function started(id = '', model = ''): ChatEvent[] {
    if (isStarted) return []
    isStarted = true
    return [{ type: 'start', id, model, created: 0 }]
  }

  function countUse(block: JsonValue | undefined): ChatEvent[] {
    const tool = usedTool(block)
    if (tool === undefined) return []
    const count = (counted.get(tool) ?? 0) + 1
    counted.set(tool, count)
    return [{ type: 'tool-uses', uses: { [tool]: count } }]
  }

  function addUsage(later: JsonValue | undefined): ChatEvent[] {
    if (later === undefined || later === null) return []
    const uses = decodeToolUses(later)
    const told: ChatEvent[] = uses ? [{ type: 'tool-uses', uses }] : []
    usage = mergeUsage(usage, later)
    const decoded = decodeUsage(usage)
    const unknown = findUnknownUsage(later)
    return decoded ? [...told, { type: 'usage', usage: decoded, ...(unknown && { unknown }) }] : told
  }

  function finish(delta: JsonObject): ChatEvent[] {
    if (isFinished || typeof delta.stop_reason !== 'string') return []
    isFinished = true
    const ends = blocks.stopAll()
    const reason = decodeFinishReason(delta.stop_reason, delta.stop_sequence, blocks.hasToolCalls())
    return [...ends, { type: 'finish', choice: 0, finish: reason }]
  }

  /** The terminator makes an answer whole even where no reason was stated. */
  function stop(): ChatEvent[] {
    isDone = true
    const events = blocks.stopAll()
    if (!isFinished) {
      events.push({
        type: 'finish',
        choice: 0,
        finish: decodeFinishReason(undefined, undefined, blocks.hasToolCalls()),
      })
    }
    return [...events, { type: 'end' }]
  }

  function fail(error: JsonValue | undefined): ChatEvent[] {
    isDone = true
    return [...blocks.stopAll(), { type: 'error', error: decodeError(undefined, error) }]
  }

  function end(): ChatEvent[] {
    if (isDone) return []
    isDone = true
    return blocks.stopAll()
  }

  return { push, isFinished: () => isFinished, end }
}
