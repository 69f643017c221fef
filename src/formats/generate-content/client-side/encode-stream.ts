/**
 * Events of the hub as a streamed generate-content answer: every frame is a whole response that holds the new parts.
 *
 * Text goes out as it comes. A call goes out whole, and not before something follows it (another block, or the finish): of a
 * stream that breaks off, the call that was being made may be half of one and must not be acted upon. The finish of every
 * choice is kept for the one last frame, which also has the usage, since nothing may follow a finish reason.
 */
import type { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { FinishReason } from '@/chat/response'
import type { Usage } from '@/chat/usage'
import type { AnswerContext, StreamEncoder } from '@/formats/format'
import { encodeFinishReason } from '@/formats/generate-content/finish-reason'
import { encodeUsage } from '@/formats/generate-content/usage'
import type { JsonObject } from '@/lib/json'
import type { Frame } from '@/lib/streams/sse'
import {
  answerText,
  encodeCall,
  encodeImage,
  encodeProof,
  encodeRedactedThought,
  encodeThought,
} from './encode-content'
import { encodeError } from './encode-error'

type OpenCall = { choice: number; id: string; name: string; argumentsText: string }

/** Creates the encoder of one stream. */
export function createStreamEncoder(context: AnswerContext): StreamEncoder {
  const calls = new Map<number, OpenCall>()
  const waiting: { choice: number; part: JsonObject }[] = []
  const finishes = new Map<number, FinishReason>()
  const reasoningWithText = new Set<number>()
  /** By block, texts that have to be whole before any of them can be told. */
  const wholeTexts = new Map<number, string>()
  let usage: Usage | undefined

  function frame(candidates: JsonObject[], more: JsonObject = {}): Frame {
    return { data: JSON.stringify({ candidates, ...more, modelVersion: context.model, responseId: context.id }) }
  }

  function partFrame(choice: number, part: JsonObject): Frame {
    return frame([{ content: { role: 'model', parts: [part] }, index: choice }])
  }

  function pushText(choice: number, text: string): Frame[] {
    return text === '' ? [] : [partFrame(choice, { text })]
  }

  function releaseCalls(): Frame[] {
    return waiting.splice(0).map(({ choice, part }) => partFrame(choice, part))
  }

  function pushReasoning(event: Extract<ChatEvent, { type: `reasoning-${string}` }>): Frame[] {
    const { choice, block } = event
    switch (event.type) {
      case 'reasoning-start':
        return event.redacted ? [partFrame(choice, encodeRedactedThought(event.redacted))] : []
      case 'reasoning-delta':
        if (event.text !== '') reasoningWithText.add(block)
        return context.wantsReasoning && event.text !== '' ? [partFrame(choice, encodeThought(event.text))] : []
      case 'reasoning-end': {
        // A proof of thoughts that the caller does not see could never be sent back with them.
        const isKept = event.signature && (context.wantsReasoning || !reasoningWithText.has(block))
        return isKept ? [partFrame(choice, encodeThought('', event.signature))] : []
      }
    }
  }

  function pushCall(event: Extract<ChatEvent, { type: `tool-call-${string}` }>): void {
    const { choice, block } = event
    const call = calls.get(block)
    if (event.type === 'tool-call-start')
      calls.set(block, { choice, id: event.id, name: event.name, argumentsText: '' })
    else if (event.type === 'tool-call-delta') {
      if (call) call.argumentsText += event.argumentsText
    } else if (call) {
      calls.delete(block)
      waiting.push({ choice, part: encodeCall(call.id, call.name, call.argumentsText, event.signature) })
    }
  }

  function pushContent(event: ChatEvent): Frame[] {
    switch (event.type) {
      case 'text-delta':
        if (context.answerField === undefined) return pushText(event.choice, event.text)
        wholeTexts.set(event.block, (wholeTexts.get(event.block) ?? '') + event.text)
        return []
      case 'refusal-delta':
        return pushText(event.choice, event.text)
      case 'text-end':
        return [
          ...pushText(event.choice, answerText(wholeTexts.get(event.block) ?? '', context.answerField)),
          ...(event.signature ? [partFrame(event.choice, { text: '', ...encodeProof(event.signature) })] : []),
        ]
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return pushReasoning(event)
      case 'tool-call-start':
      case 'tool-call-delta':
      case 'tool-call-end':
        pushCall(event)
        return []
      case 'image':
        return [partFrame(event.choice, encodeImage(event.mediaType, event.data))]
      case 'finish':
        finishes.set(event.choice, event.finish)
        return []
      case 'usage':
        usage = event.usage
        return []
      default:
        return []
    }
  }

  function lastFrame(): Frame {
    const ends: [number, FinishReason][] =
      finishes.size > 0 ? [...finishes].sort(([left], [right]) => left - right) : [[0, { kind: 'error' }]]
    const candidates = ends.map(([index, finish]) => ({
      // Client libraries count a chunk without parts as a broken answer and forget the turn.
      content: { role: 'model', parts: [{ text: '' }] },
      finishReason: encodeFinishReason(finish),
      index,
    }))
    return frame(candidates, usage && { usageMetadata: encodeUsage(usage) })
  }

  return {
    push(event) {
      const released =
        event.type === 'finish' || event.type.endsWith('-start') || event.type === 'image' ? releaseCalls() : []
      return [...released, ...pushContent(event)]
    },
    end: () => [...releaseCalls(), lastFrame()],
    fail: (error: GatewayError, requestId: string) => [{ data: JSON.stringify(encodeError(error, requestId).body) }],
  }
}
