/** Converts Converse answers to messages, as a whole or event by event. */
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { eventOf, type MessageReader } from './bedrock-stream'
import { citationOf } from './converse-citations'
import { tierOfAnswer } from './converse-tiers'
import { listOf } from './messages-body'

/** Converse stop reasons that the `messages` format does not have; the others have the same names. */
const REFUSALS: ReadonlySet<unknown> = new Set(['content_filtered', 'guardrail_intervened'])
const FAULTS: ReadonlySet<unknown> = new Set(['malformed_model_output', 'malformed_tool_use'])
/** A placeholder: the gateway replaces it with the public model name. */
const MODEL = 'bedrock'

/** Translates an answer; undefined if `json` is no answer. */
export function converseAnswer(json: JsonValue, id: string): JsonObject | undefined {
  const answer = isJsonObject(json) ? json : {}
  const { output, stopReason, usage } = answer
  const message = isJsonObject(output) ? output.message : undefined
  if (!isJsonObject(message) || FAULTS.has(stopReason)) return undefined
  return {
    ...{ id, type: 'message', role: 'assistant', model: MODEL },
    content: listOf(message.content).flatMap((block) => {
      const said = blockOf(block)
      return said ? [said] : []
    }),
    ...{ stop_reason: stopReasonOf(stopReason), stop_sequence: null },
    ...(isJsonObject(usage) && { usage: { ...usageOf(usage), ...tierOfAnswer(answer) } }),
  }
}

function blockOf(block: JsonObject): JsonObject | undefined {
  const { text, toolUse, reasoningContent, citationsContent, image } = block
  if (typeof text === 'string') return { type: 'text', text }
  if (isJsonObject(toolUse)) return toolBlock(toolUse, toolUse.input ?? {})
  if (isJsonObject(citationsContent)) {
    const said = listOf(citationsContent.content).map((part) => textOf(part.text) ?? '')
    const citations = listOf(citationsContent.citations).flatMap(citationOf)
    return { type: 'text', text: said.join(''), ...(citations.length > 0 && { citations }) }
  }
  if (isJsonObject(image)) return imageBlock(image.format, image.source)
  if (!isJsonObject(reasoningContent)) return undefined
  const { reasoningText, redactedContent } = reasoningContent
  if (typeof redactedContent === 'string') return { type: 'redacted_thinking', data: redactedContent }
  if (!isJsonObject(reasoningText)) return undefined
  return { type: 'thinking', thinking: reasoningText.text ?? '', signature: reasoningText.signature ?? '' }
}

function imageBlock(format: JsonValue | undefined, source: JsonValue | undefined): JsonObject | undefined {
  const bytes = isJsonObject(source) ? textOf(source.bytes) : undefined
  if (bytes === undefined) return undefined
  return { type: 'image', source: { type: 'base64', media_type: `image/${textOf(format) ?? 'png'}`, data: bytes } }
}

function toolBlock({ toolUseId, name }: JsonObject, input: JsonValue): JsonObject {
  return { type: 'tool_use', id: toolUseId ?? '', name: name ?? '', input }
}

function stopReasonOf(reason: JsonValue | undefined): JsonValue {
  return REFUSALS.has(reason) ? 'refusal' : (reason ?? null)
}

/** Converts the usage. In both formats, the input tokens exclude cache reads and writes. */
function usageOf(usage: JsonObject): JsonObject {
  const { inputTokens = 0, outputTokens = 0, cacheReadInputTokens: read, cacheWriteInputTokens: written } = usage
  const byTtl = (ttl: string) =>
    listOf(usage.cacheDetails).reduce(
      (sum, detail) => sum + (detail.ttl === ttl ? Number(detail.inputTokens) || 0 : 0),
      0,
    )
  const hourly = byTtl('1h')
  const isSplit = listOf(usage.cacheDetails).length > 0
  return {
    ...{ input_tokens: inputTokens, output_tokens: outputTokens },
    ...(read !== undefined && { cache_read_input_tokens: read }),
    ...(written !== undefined && { cache_creation_input_tokens: written }),
    ...(isSplit && {
      cache_creation: {
        ephemeral_5m_input_tokens: Math.max(hourly > 0 ? Number(written ?? 0) - hourly : byTtl('5m'), 0),
        ephemeral_1h_input_tokens: hourly,
      },
    }),
  }
}

/** Reads the events of one stream. */
export function converseReader(id: string): MessageReader {
  return new ConverseReader(id)
}

type OpenBlock = { index: number; kind: string }

class ConverseReader implements MessageReader {
  private hasBegun = false
  private hasEnded = false
  /** Open blocks by Converse's block number. In messages, blocks get other numbers, without gaps. */
  private readonly open = new Map<JsonValue, OpenBlock>()
  /** Images that arrive in pieces, by Converse's block number. */
  private readonly pictures = new Map<JsonValue, { format: JsonValue | undefined; pieces: Buffer[] }>()
  private blocks = 0
  private stopReason: JsonValue | undefined
  private usage: JsonObject | undefined

  constructor(private readonly id: string) {}

  event(kind: string, payload: JsonObject): string {
    switch (kind) {
      case 'messageStart':
        return this.begin()
      case 'contentBlockStart':
        return this.begin() + this.blockStart(payload)
      case 'contentBlockDelta':
        return (
          this.begin() + this.delta(payload.contentBlockIndex ?? 0, isJsonObject(payload.delta) ? payload.delta : {})
        )
      case 'contentBlockStop':
        return this.close(payload.contentBlockIndex ?? 0)
      case 'messageStop':
        return this.stop(payload.stopReason)
      case 'metadata':
        this.usage = isJsonObject(payload.usage) ? { ...usageOf(payload.usage), ...tierOfAnswer(payload) } : undefined
        return this.stopReason === undefined ? '' : this.finish()
      default:
        return ''
    }
  }

  /** Called at the stream's end. Completes an answer whose usage event did not arrive. */
  end(): string {
    return this.stopReason === undefined || this.hasEnded ? '' : this.finish()
  }

  private begin(): string {
    if (this.hasBegun) return ''
    this.hasBegun = true
    const message = { id: this.id, type: 'message', role: 'assistant', model: MODEL, content: [] }
    return eventOf({ type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } })
  }

  private blockStart({ contentBlockIndex: number = 0, start }: JsonObject): string {
    const { toolUse, image } = isJsonObject(start) ? start : {}
    // Text and reasoning blocks begin with their first piece, since their start events are empty or missing.
    if (isJsonObject(image)) this.pictures.set(number, { format: image.format, pieces: [] })
    return isJsonObject(toolUse) ? this.openBlock(number, 'tool_use', toolBlock(toolUse, {})) : ''
  }

  private delta(number: JsonValue, { text, toolUse, reasoningContent, citation, image }: JsonObject): string {
    if (isJsonObject(image)) {
      const picture = this.pictures.get(number)
      const bytes = isJsonObject(image.source) ? textOf(image.source.bytes) : undefined
      if (bytes !== undefined) picture?.pieces.push(Buffer.from(bytes, 'base64'))
      return ''
    }
    if (isJsonObject(citation)) {
      const [own] = citationOf(citation)
      return own ? this.piece(number, 'text', { type: 'citations_delta', citation: own }) : ''
    }
    if (typeof text === 'string') return this.piece(number, 'text', { type: 'text_delta', text })
    if (isJsonObject(toolUse)) {
      return this.piece(number, 'tool_use', { type: 'input_json_delta', partial_json: textOf(toolUse.input) ?? '' })
    }
    if (!isJsonObject(reasoningContent)) return ''
    const { text: thinking, signature, redactedContent: data } = reasoningContent
    if (typeof data === 'string')
      return this.openBlock(number, 'redacted_thinking', { type: 'redacted_thinking', data })
    return (
      (typeof thinking === 'string' ? this.piece(number, 'thinking', { type: 'thinking_delta', thinking }) : '') +
      (typeof signature === 'string' ? this.piece(number, 'thinking', { type: 'signature_delta', signature }) : '')
    )
  }

  private piece(number: JsonValue, kind: string, delta: JsonObject): string {
    const isOpen = this.open.get(number)?.kind === kind
    // Without a start event, a tool call has no name and cannot be used.
    if (!isOpen && kind === 'tool_use') return ''
    const empty = kind === 'text' ? { type: kind, text: '' } : { type: kind, thinking: '', signature: '' }
    const opening = isOpen ? '' : this.openBlock(number, kind, empty)
    return opening + eventOf({ type: 'content_block_delta', index: this.open.get(number)?.index ?? 0, delta })
  }

  private openBlock(number: JsonValue, kind: string, block: JsonObject): string {
    const closing = this.close(number)
    const index = this.blocks++
    this.open.set(number, { index, kind })
    return closing + eventOf({ type: 'content_block_start', index, content_block: block })
  }

  private close(number: JsonValue): string {
    const picture = this.pictures.get(number)
    const bytes = Buffer.concat(picture?.pieces ?? []).toString('base64')
    const image = picture && bytes !== '' ? imageBlock(picture.format, { bytes }) : undefined
    this.pictures.delete(number)
    if (image) return this.openBlock(number, 'image', image) + this.close(number)
    const block = this.open.get(number)
    if (!block) return ''
    this.open.delete(number)
    return eventOf({ type: 'content_block_stop', index: block.index })
  }

  private stop(reason: JsonValue | undefined): string {
    this.stopReason = reason ?? 'end_turn'
    if (FAULTS.has(reason)) {
      this.hasEnded = true
      return eventOf({
        type: 'error',
        error: { type: 'api_error', message: `the model stopped with ${String(reason)}` },
      })
    }
    return this.usage ? this.finish() : ''
  }

  private finish(): string {
    if (this.hasEnded) return ''
    this.hasEnded = true
    const closing = [...this.pictures.keys(), ...this.open.keys()].map((number) => this.close(number)).join('')
    const delta = { stop_reason: stopReasonOf(this.stopReason), stop_sequence: null }
    const usage = this.usage ? { usage: this.usage } : {}
    return (
      this.begin() + closing + eventOf({ type: 'message_delta', delta, ...usage }) + eventOf({ type: 'message_stop' })
    )
  }
}
