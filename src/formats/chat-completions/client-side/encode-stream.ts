import type { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { FinishReason } from '@/chat/response'
import type { Source } from '@/chat/sources'
import type { Usage } from '@/chat/usage'
import { encodeFinishReason } from '@/formats/chat-completions/finish-reason'
import { DONE } from '@/formats/chat-completions/framing'
import { encodeSignature } from '@/formats/chat-completions/signature'
import { encodeArguments } from '@/formats/chat-completions/tool-calls'
import { encodeUsage } from '@/formats/chat-completions/usage'
import { customInput } from '@/formats/custom-tools'
import type { AnswerContext, StreamEncoder } from '@/formats/format'
import { encodeAnnotation } from '@/formats/url-citations'
import type { JsonObject } from '@/lib/json'
import type { Frame } from '@/lib/streams/sse'
import { encodeImage } from './encode-content'
import { encodeError } from './encode-error'

/** A call's index among the calls of its choice. `custom` collects a custom tool's arguments until they are complete. */
type Call = { index: number; hasArguments: boolean; custom?: string }

/** Encodes a chat-completions stream: every chunk has the same id, time and model. A choice's first chunk has the role: clients need it. */
export function createStreamEncoder(context: AnswerContext): StreamEncoder {
  return new ChunkEncoder(context)
}

function annotation(source: Source): JsonObject {
  return encodeAnnotation(source, true)
}

class ChunkEncoder implements StreamEncoder {
  private readonly callOfBlock = new Map<number, Call>()
  private readonly callsOfChoice = new Map<number, number>()
  private readonly choicesWithRole = new Set<number>()
  private readonly choicesWithRefusal = new Set<number>()
  /** Finish reasons, sent at the end: some providers send content after a finish reason, but some clients stop reading there. */
  private readonly finishes = new Map<number, FinishReason>()
  private usage: Usage | undefined

  constructor(private readonly context: AnswerContext) {}

  private chunk(choices: JsonObject[], usageObject: JsonObject | null): Frame {
    const { id, created, model, wantsUsage, forOpenRouter } = this.context
    const body = {
      id,
      object: 'chat.completion.chunk',
      created,
      model,
      choices,
      ...(wantsUsage && (usageObject || !forOpenRouter) && { usage: usageObject }),
    }
    return { data: JSON.stringify(body) }
  }

  private choiceChunk(choice: number, delta: JsonObject, finish: string | null = null): Frame {
    return this.chunk([{ index: choice, delta, logprobs: null, finish_reason: finish }], null)
  }

  private roleChunk(choice: number): Frame[] {
    if (this.choicesWithRole.has(choice)) return []
    this.choicesWithRole.add(choice)
    return [this.choiceChunk(choice, { role: 'assistant', content: '' })]
  }

  private delta(choice: number, content: JsonObject): Frame[] {
    return [...this.roleChunk(choice), this.choiceChunk(choice, content)]
  }

  /** The deprecated form has a field for one call only, so later calls are omitted. */
  private callDelta(choice: number, index: number, fragment: JsonObject & { function: JsonObject }): Frame[] {
    if (!this.context.wantsFunctionCall) return this.delta(choice, { tool_calls: [{ index, ...fragment }] })
    return index === 0 ? this.delta(choice, { function_call: fragment.function }) : []
  }

  private startCall(event: Extract<ChatEvent, { type: 'tool-call-start' }>): Frame[] {
    const index = this.callsOfChoice.get(event.choice) ?? 0
    this.callsOfChoice.set(event.choice, index + 1)
    const { id, name } = event
    if (this.context.toolOrigins?.get(name)?.kind === 'custom') {
      this.callOfBlock.set(event.block, { index, hasArguments: false, custom: '' })
      return this.delta(event.choice, { tool_calls: [{ index, id, type: 'custom', custom: { name, input: '' } }] })
    }
    this.callOfBlock.set(event.block, { index, hasArguments: false })
    return this.callDelta(event.choice, index, { id, type: 'function', function: { name, arguments: '' } })
  }

  private continueCall(event: Extract<ChatEvent, { type: 'tool-call-delta' }>): Frame[] {
    const call = this.callOfBlock.get(event.block)
    if (!call || event.argumentsText === '') return []
    if (call.custom !== undefined) {
      call.custom += event.argumentsText
      return []
    }
    call.hasArguments = true
    return this.callDelta(event.choice, call.index, { function: { arguments: event.argumentsText } })
  }

  private endCall(event: Extract<ChatEvent, { type: 'tool-call-end' }>): Frame[] {
    const call = this.callOfBlock.get(event.block)
    const signature = encodeSignature(event.signature)
    if (call?.custom !== undefined) {
      const custom = { input: customInput(call.custom) }
      return this.delta(event.choice, { tool_calls: [{ index: call.index, custom, ...signature }] })
    }
    if (!call || (call.hasArguments && !signature.extra_content)) return []
    const rest = call.hasArguments ? '' : encodeArguments('')
    return this.callDelta(event.choice, call.index, { function: { arguments: rest }, ...signature })
  }

  private finishChunks([choice, finish]: [number, FinishReason]): Frame[] {
    const emitted = { hasToolCalls: this.callsOfChoice.has(choice), hasRefusal: this.choicesWithRefusal.has(choice) }
    const reason = encodeFinishReason(finish, emitted, this.context.wantsFunctionCall)
    return [...this.roleChunk(choice), this.choiceChunk(choice, {}, reason)]
  }

  push(event: ChatEvent): Frame[] {
    switch (event.type) {
      case 'start':
        return this.roleChunk(0)
      case 'text-delta':
        return event.text === '' ? [] : this.delta(event.choice, { content: event.text })
      case 'text-end':
        return event.sources ? this.delta(event.choice, { annotations: event.sources.map(annotation) }) : []
      case 'refusal-delta':
        if (event.text === '') return []
        this.choicesWithRefusal.add(event.choice)
        return this.delta(event.choice, { refusal: event.text })
      case 'reasoning-delta':
        return event.text === '' ? [] : this.delta(event.choice, { reasoning_content: event.text })
      case 'tool-call-start':
        return this.startCall(event)
      case 'tool-call-delta':
        return this.continueCall(event)
      case 'tool-call-end':
        return this.endCall(event)
      case 'image':
        return this.delta(event.choice, {
          images: [encodeImage({ type: 'base64', mediaType: event.mediaType, data: event.data })],
        })
      case 'finish':
        this.finishes.set(event.choice, event.finish)
        return []
      case 'usage':
        this.usage = event.usage
        return []
      default:
        return []
    }
  }

  end(): Frame[] {
    const usageChunk = this.context.wantsUsage && this.usage ? [this.chunk([], encodeUsage(this.usage))] : []
    return [...[...this.finishes].flatMap((finish) => this.finishChunks(finish)), ...usageChunk, { data: DONE }]
  }

  fail(error: GatewayError, requestId: string): Frame[] {
    return [{ data: JSON.stringify(encodeError(error, requestId).body) }]
  }
}
