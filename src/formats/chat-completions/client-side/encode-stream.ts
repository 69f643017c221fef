/** Events of the hub as a streamed chat-completions answer. */
import type { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { FinishReason } from '@/chat/response'
import type { Usage } from '@/chat/usage'
import { encodeFinishReason } from '@/formats/chat-completions/finish-reason'
import { DONE } from '@/formats/chat-completions/framing'
import { encodeSignature } from '@/formats/chat-completions/signature'
import { encodeArguments } from '@/formats/chat-completions/tool-arguments'
import { encodeUsage } from '@/formats/chat-completions/usage'
import { customInput } from '@/formats/custom-tools'
import type { AnswerContext, StreamEncoder } from '@/formats/format'
import type { JsonObject } from '@/lib/json'
import type { Frame } from '@/lib/streams/sse'
import { encodeImage } from './encode-content'
import { encodeError } from './encode-error'

/** A call's place among the calls of its choice. `custom` collects a custom tool's arguments, told when they are whole. */
type Call = { index: number; hasArguments: boolean; custom?: string }

/** Every chunk has the same id, time and model; the first of each choice brings the role, without which clients throw. */
export function createStreamEncoder(context: AnswerContext): StreamEncoder {
  const callOfBlock = new Map<number, Call>()
  const callsOfChoice = new Map<number, number>()
  const choicesWithRole = new Set<number>()
  const choicesWithRefusal = new Set<number>()
  /** Said at the end: some providers go on after a reason, and some clients do not read on after one. */
  const finishes = new Map<number, FinishReason>()
  let usage: Usage | undefined

  function chunk(choices: JsonObject[], usageObject: JsonObject | null): Frame {
    const { id, created, model, wantsUsage } = context
    const body = {
      id,
      object: 'chat.completion.chunk',
      created,
      model,
      choices,
      ...(wantsUsage && { usage: usageObject }),
    }
    return { data: JSON.stringify(body) }
  }

  function choiceChunk(choice: number, delta: JsonObject, finish: string | null = null): Frame {
    return chunk([{ index: choice, delta, logprobs: null, finish_reason: finish }], null)
  }

  function roleChunk(choice: number): Frame[] {
    if (choicesWithRole.has(choice)) return []
    choicesWithRole.add(choice)
    return [choiceChunk(choice, { role: 'assistant', content: '' })]
  }

  function delta(choice: number, content: JsonObject): Frame[] {
    return [...roleChunk(choice), choiceChunk(choice, content)]
  }

  /** The deprecated shape has room for the function of one call. */
  function callDelta(choice: number, index: number, fragment: JsonObject & { function: JsonObject }): Frame[] {
    if (!context.wantsFunctionCall) return delta(choice, { tool_calls: [{ index, ...fragment }] })
    return index === 0 ? delta(choice, { function_call: fragment.function }) : []
  }

  function startCall(event: Extract<ChatEvent, { type: 'tool-call-start' }>): Frame[] {
    const index = callsOfChoice.get(event.choice) ?? 0
    callsOfChoice.set(event.choice, index + 1)
    const { id, name } = event
    if (context.toolOrigins?.get(name)?.kind === 'custom') {
      callOfBlock.set(event.block, { index, hasArguments: false, custom: '' })
      return delta(event.choice, { tool_calls: [{ index, id, type: 'custom', custom: { name, input: '' } }] })
    }
    callOfBlock.set(event.block, { index, hasArguments: false })
    return callDelta(event.choice, index, { id, type: 'function', function: { name, arguments: '' } })
  }

  function continueCall(event: Extract<ChatEvent, { type: 'tool-call-delta' }>): Frame[] {
    const call = callOfBlock.get(event.block)
    if (!call || event.argumentsText === '') return []
    if (call.custom !== undefined) {
      call.custom += event.argumentsText
      return []
    }
    call.hasArguments = true
    return callDelta(event.choice, call.index, { function: { arguments: event.argumentsText } })
  }

  function endCall(event: Extract<ChatEvent, { type: 'tool-call-end' }>): Frame[] {
    const call = callOfBlock.get(event.block)
    const signature = encodeSignature(event.signature)
    if (call?.custom !== undefined) {
      const custom = { input: customInput(call.custom) }
      return delta(event.choice, { tool_calls: [{ index: call.index, custom, ...signature }] })
    }
    if (!call || (call.hasArguments && !signature.extra_content)) return []
    const rest = call.hasArguments ? '' : encodeArguments('')
    return callDelta(event.choice, call.index, { function: { arguments: rest }, ...signature })
  }

  function finishChunks([choice, finish]: [number, FinishReason]): Frame[] {
    const emitted = { hasToolCalls: callsOfChoice.has(choice), hasRefusal: choicesWithRefusal.has(choice) }
    const reason = encodeFinishReason(finish, emitted, context.wantsFunctionCall)
    return [...roleChunk(choice), choiceChunk(choice, {}, reason)]
  }

  return {
    push(event) {
      switch (event.type) {
        case 'start':
          return roleChunk(0)
        case 'text-delta':
          return event.text === '' ? [] : delta(event.choice, { content: event.text })
        case 'refusal-delta':
          if (event.text === '') return []
          choicesWithRefusal.add(event.choice)
          return delta(event.choice, { refusal: event.text })
        case 'reasoning-delta':
          return event.text === '' ? [] : delta(event.choice, { reasoning_content: event.text })
        case 'tool-call-start':
          return startCall(event)
        case 'tool-call-delta':
          return continueCall(event)
        case 'tool-call-end':
          return endCall(event)
        case 'image':
          return delta(event.choice, {
            images: [encodeImage({ type: 'base64', mediaType: event.mediaType, data: event.data })],
          })
        case 'finish':
          finishes.set(event.choice, event.finish)
          return []
        case 'usage':
          usage = event.usage
          return []
        default:
          return []
      }
    },
    end() {
      const usageChunk = context.wantsUsage && usage ? [chunk([], encodeUsage(usage))] : []
      return [...[...finishes].flatMap(finishChunks), ...usageChunk, { data: DONE }]
    },
    fail: (error: GatewayError, requestId: string) => [{ data: JSON.stringify(encodeError(error, requestId).body) }],
  }
}
