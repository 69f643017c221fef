/**
 * Decodes a streamed response into events. **open**: events are read; `start` is emitted with the first. **done**: the response is
 * completed or incomplete. **failed**: the provider reported an error, the response failed, or invalid data arrived; all later events are
 * ignored. A stream that closes while open was truncated: its blocks are ended, and `end` is not emitted. The `[DONE]` that some providers
 * send is not an end by itself.
 */
import type { ChatEvent } from '@/chat/event'
import type { ProviderError } from '@/chat/provider-error'
import { serviceTierOf } from '@/chat/service-tier'
import type { RunningFields, StreamDecoder } from '@/formats/format'
import { providerError, UNSTATED_STATUS } from '@/formats/provider-error'
import { decodeFinishReason } from '@/formats/responses/finish-reason'
import { countUses, decodeToolUses, usedTool } from '@/formats/responses/server-tools'
import { decodeUsage, findUnknownUsage } from '@/formats/responses/usage'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import type { SseEvent } from '@/lib/streams/sse'
import { decodeError } from './decode-error'
import { readCreated } from './decode-response'
import { BlockReader } from './decode-stream-blocks'

/** OpenAI pads events to hide their length, and numbers them. */
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
/** Arguments sent as an object instead of a text. */
const OBJECT_ARGUMENTS = /"arguments"\s*:\s*\{/

export function createStreamDecoder(): StreamDecoder {
  return new ResponseDecoder()
}

class ResponseDecoder implements StreamDecoder {
  readonly running = RUNNING
  private readonly blocks = new BlockReader()
  private readonly hosted: JsonObject[] = []
  private phase: 'open' | 'done' | 'failed' = 'open'
  private isStarted = false

  private started(response: JsonObject): ChatEvent[] {
    if (this.isStarted) return []
    this.isStarted = true
    const { id, model, created_at: created } = response
    return [{ type: 'start', id: textOf(id) ?? '', model: textOf(model) ?? '', created: readCreated(created) }]
  }

  private read(type: string, json: JsonObject): ChatEvent[] {
    const response = isJsonObject(json.response) ? json.response : {}
    if (FAILURES.has(type)) return [...this.readUsage(response), ...this.fail(decodeError(undefined, json))]
    const status = STATUS_OF_LAST_EVENT.get(type)
    if (status !== undefined)
      return [...this.started(response), ...this.finish({ ...response, status: response.status ?? status })]
    if (json.error && !type.startsWith('response.')) return this.fail(decodeError(undefined, json))
    if (!type.startsWith('response.')) return []
    const events = this.blocks.push(type, json)
    const uses = type === 'response.output_item.done' ? this.noteUse(json.item) : []
    if (this.isStarted && uses.length === 0) return events
    return [...this.started(response), ...events, ...uses]
  }

  private noteUse(item: JsonValue | undefined): ChatEvent[] {
    if (!isJsonObject(item) || !usedTool(item)) return []
    this.hosted.push(item)
    return [{ type: 'tool-uses', uses: countUses(this.hosted) }]
  }

  private finish(response: JsonObject): ChatEvent[] {
    const output = Array.isArray(response.output) ? response.output : []
    const events = [...this.blocks.closeAll(output), ...this.readUsage(response)]
    if (this.blocks.hasNamelessCall()) {
      return [...events, ...this.failUnread('malformed_tool_call', 'a tool call came without a name')]
    }
    const emitted = { hasToolCalls: this.blocks.hasToolCalls(), hasRefusal: this.blocks.hasRefusal() }
    this.phase = 'done'
    return [...events, { type: 'finish', choice: 0, finish: decodeFinishReason(response, emitted) }, { type: 'end' }]
  }

  private readUsage(response: JsonObject): ChatEvent[] {
    const uses = decodeToolUses(response)
    const usage = decodeUsage(response.usage)
    const unknown = findUnknownUsage(response.usage)
    const serviceTier = serviceTierOf(response.service_tier)
    const said = { ...(unknown && { unknown }), ...(serviceTier !== undefined && { serviceTier }) }
    return [
      ...(uses ? [{ type: 'tool-uses' as const, uses }] : []),
      ...(usage ? [{ type: 'usage' as const, usage, ...said }] : []),
    ]
  }

  private fail(error: ProviderError): ChatEvent[] {
    this.phase = 'failed'
    return [...this.blocks.closeAll(), { type: 'error', error }]
  }

  private failUnread(kind: string, message: string): ChatEvent[] {
    return this.fail(providerError({ status: UNSTATED_STATUS, kind, message }))
  }

  push(event: SseEvent, json: JsonValue | undefined): ChatEvent[] {
    if (this.phase !== 'open' || event.data === undefined) return []
    const data = event.data.trim()
    if (data === '' || data === '[DONE]') return []
    if (OBJECT_ARGUMENTS.test(data)) rememberNumbers(json, data)
    if (isJsonObject(json)) return this.read(textOf(json.type) ?? event.event ?? '', json)
    if (event.event === 'error') return this.fail(decodeError(undefined, json ?? data))
    return this.failUnread('malformed_event', 'the stream contained an event that is no JSON object')
  }

  isFinished(): boolean {
    return this.phase === 'done'
  }

  end(): ChatEvent[] {
    return this.phase === 'open' ? this.blocks.closeAll() : []
  }
}
