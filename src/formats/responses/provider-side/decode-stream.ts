/**
 * A streamed response as events of the hub.
 *
 * **open**: events are read; `start` goes out with the first. **done**: the response was completed or is incomplete. **failed**: the
 * provider reported an error, its response failed, or it sent what can't be read; nothing more is believed. A stream that closes
 * while open was truncated: its blocks are ended, and `end` is not said; the `[DONE]` that some send is no end by itself.
 */
import type { ChatEvent } from '@/chat/event'
import type { ProviderError } from '@/chat/provider-error'
import type { RunningFields, StreamDecoder } from '@/formats/format'
import { providerError, UNSTATED_STATUS } from '@/formats/provider-error'
import { decodeFinishReason } from '@/formats/responses/finish-reason'
import { countUses, decodeToolUses, usedTool } from '@/formats/responses/server-tools'
import { decodeUsage, findUnknownUsage } from '@/formats/responses/usage'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import { decodeError } from './decode-error'
import { readCreated } from './decode-response'
import { createBlockReader } from './decode-stream-blocks'

/** OpenAI pads its events to hide how long they are, and numbers all of them. */
const RUNNING: RunningFields = {
  padding: ['obfuscation'],
  numbering: ['sequence_number'],
  usageField: 'usage',
  counts: [],
}

const STATUS_OF_LAST_EVENT: ReadonlyMap<string, string> = new Map([
  ['response.completed', 'completed'],
  ['response.done', 'completed'],
  ['response.incomplete', 'incomplete'],
])
const FAILURES: ReadonlySet<string> = new Set(['error', 'response.error', 'response.failed', 'response.cancelled'])
/** Arguments that are an object where a text is usual. */
const OBJECT_ARGUMENTS = /"arguments"\s*:\s*\{/

/** Creates a decoder for one stream. */
export function createStreamDecoder(): StreamDecoder {
  const blocks = createBlockReader()
  const hosted: JsonObject[] = []
  let phase: 'open' | 'done' | 'failed' = 'open'
  let isStarted = false

  /** The start of the answer, once: some say it twice, and some not at all. */
  function started(response: JsonObject): ChatEvent[] {
    if (isStarted) return []
    isStarted = true
    const { id, model, created_at: created } = response
    return [{ type: 'start', id: textOf(id) ?? '', model: textOf(model) ?? '', created: readCreated(created) }]
  }

  function read(type: string, json: JsonObject): ChatEvent[] {
    const response = isJsonObject(json.response) ? json.response : {}
    if (FAILURES.has(type)) return [...readUsage(response), ...fail(decodeError(undefined, json))]
    const status = STATUS_OF_LAST_EVENT.get(type)
    if (status !== undefined)
      return [...started(response), ...finish({ ...response, status: response.status ?? status })]
    if (json.error && !type.startsWith('response.')) return fail(decodeError(undefined, json))
    if (!type.startsWith('response.')) return []
    const events = blocks.push(type, json)
    const uses = type === 'response.output_item.done' ? noteUse(json.item) : []
    if (isStarted && uses.length === 0) return events
    return [...started(response), ...events, ...uses]
  }

  function noteUse(item: JsonValue | undefined): ChatEvent[] {
    if (!isJsonObject(item) || !usedTool(item)) return []
    hosted.push(item)
    return [{ type: 'tool-uses', uses: countUses(hosted) }]
  }

  function finish(response: JsonObject): ChatEvent[] {
    const output = Array.isArray(response.output) ? response.output : []
    const events = [...blocks.closeAll(output), ...readUsage(response)]
    if (blocks.hasNamelessCall()) {
      return [...events, ...failUnread('malformed_tool_call', 'a tool call came without a name')]
    }
    const emitted = { hasToolCalls: blocks.hasToolCalls(), hasRefusal: blocks.hasRefusal() }
    phase = 'done'
    return [...events, { type: 'finish', choice: 0, finish: decodeFinishReason(response, emitted) }, { type: 'end' }]
  }

  function readUsage(response: JsonObject): ChatEvent[] {
    const uses = decodeToolUses(response)
    const usage = decodeUsage(response.usage)
    const unknown = findUnknownUsage(response.usage)
    return [
      ...(uses ? [{ type: 'tool-uses' as const, uses }] : []),
      ...(usage ? [{ type: 'usage' as const, usage, ...(unknown && { unknown }) }] : []),
    ]
  }

  function fail(error: ProviderError): ChatEvent[] {
    phase = 'failed'
    return [...blocks.closeAll(), { type: 'error', error }]
  }

  function failUnread(kind: string, message: string): ChatEvent[] {
    return fail(providerError({ status: UNSTATED_STATUS, kind, message }))
  }

  return {
    running: RUNNING,
    push(event, json) {
      if (phase !== 'open' || event.data === undefined) return []
      const data = event.data.trim()
      if (data === '' || data === '[DONE]') return []
      if (OBJECT_ARGUMENTS.test(data)) rememberNumbers(json, data)
      if (isJsonObject(json)) return read(textOf(json.type) ?? event.event ?? '', json)
      if (event.event === 'error') return fail(decodeError(undefined, json ?? data))
      return failUnread('malformed_event', 'the stream held an event that is no JSON object')
    },
    isFinished: () => phase === 'done',
    end: () => (phase === 'open' ? blocks.closeAll() : []),
  }
}
