/**
 * Encodes a streamed generate-content answer: every frame is a complete response with the new parts. Text is sent at once. A call is sent
 * as a whole, after something follows it (another block, or the finish): in an interrupted stream the last call may be incomplete and must
 * not be executed. The finish of every choice is sent in the last frame, with the usage.
 */
import type { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { FinishReason } from '@/chat/response'
import type { Source } from '@/chat/sources'
import type { Usage } from '@/chat/usage'
import type { AnswerContext, StreamEncoder } from '@/formats/format'
import { encodeFinishReason } from '@/formats/generate-content/finish-reason'
import { encodeGrounding } from '@/formats/generate-content/grounding'
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

export function createStreamEncoder(context: AnswerContext): StreamEncoder {
  return new ContentEncoder(context)
}

class ContentEncoder implements StreamEncoder {
  private readonly calls = new Map<number, OpenCall>()
  private readonly waiting: { choice: number; part: JsonObject }[] = []
  private readonly finishes = new Map<number, FinishReason>()
  private readonly reasoningWithText = new Set<number>()
  /** Texts that must be sent whole, by block. */
  private readonly wholeTexts = new Map<number, string>()
  /** Sources by choice; sent last, as providers do. */
  private readonly sources = new Map<number, readonly Source[]>()
  private usage: Usage | undefined

  constructor(private readonly context: AnswerContext) {}

  private frame(candidates: JsonObject[], more: JsonObject = {}): Frame {
    return {
      data: JSON.stringify({ candidates, ...more, modelVersion: this.context.model, responseId: this.context.id }),
    }
  }

  private partFrame(choice: number, part: JsonObject): Frame {
    return this.frame([{ content: { role: 'model', parts: [part] }, index: choice }])
  }

  private pushText(choice: number, text: string): Frame[] {
    return text === '' ? [] : [this.partFrame(choice, { text })]
  }

  private releaseCalls(): Frame[] {
    return this.waiting.splice(0).map(({ choice, part }) => this.partFrame(choice, part))
  }

  private pushReasoning(event: Extract<ChatEvent, { type: `reasoning-${string}` }>): Frame[] {
    const { choice, block } = event
    switch (event.type) {
      case 'reasoning-start':
        return event.redacted ? [this.partFrame(choice, encodeRedactedThought(event.redacted))] : []
      case 'reasoning-delta':
        if (event.text !== '') this.reasoningWithText.add(block)
        return this.context.wantsReasoning && event.text !== ''
          ? [this.partFrame(choice, encodeThought(event.text))]
          : []
      case 'reasoning-end': {
        // A caller who doesn't get the thoughts can't send them back, so their proof would be useless.
        const isKept = event.signature && (this.context.wantsReasoning || !this.reasoningWithText.has(block))
        return isKept ? [this.partFrame(choice, encodeThought('', event.signature))] : []
      }
    }
  }

  private pushCall(event: Extract<ChatEvent, { type: `tool-call-${string}` }>): void {
    const { choice, block } = event
    const call = this.calls.get(block)
    if (event.type === 'tool-call-start')
      this.calls.set(block, { choice, id: event.id, name: event.name, argumentsText: '' })
    else if (event.type === 'tool-call-delta') {
      if (call) call.argumentsText += event.argumentsText
    } else if (call) {
      this.calls.delete(block)
      this.waiting.push({ choice, part: encodeCall(call.id, call.name, call.argumentsText, event.signature) })
    }
  }

  private pushContent(event: ChatEvent): Frame[] {
    switch (event.type) {
      case 'text-delta':
        if (this.context.answerField === undefined) return this.pushText(event.choice, event.text)
        this.wholeTexts.set(event.block, (this.wholeTexts.get(event.block) ?? '') + event.text)
        return []
      case 'refusal-delta':
        return this.pushText(event.choice, event.text)
      case 'text-end':
        if (event.sources) this.sources.set(event.choice, [...(this.sources.get(event.choice) ?? []), ...event.sources])
        return [
          ...this.pushText(event.choice, answerText(this.wholeTexts.get(event.block) ?? '', this.context.answerField)),
          ...(event.signature ? [this.partFrame(event.choice, { text: '', ...encodeProof(event.signature) })] : []),
        ]
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.pushReasoning(event)
      case 'tool-call-start':
      case 'tool-call-delta':
      case 'tool-call-end':
        this.pushCall(event)
        return []
      case 'image':
        return [this.partFrame(event.choice, encodeImage(event.mediaType, event.data))]
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

  private lastFrame(): Frame {
    const ends: [number, FinishReason][] =
      this.finishes.size > 0 ? [...this.finishes].sort(([left], [right]) => left - right) : [[0, { kind: 'error' }]]
    const candidates = ends.map(([index, finish]) => ({
      // Client libraries treat a chunk without parts as a broken answer and drop the turn.
      content: { role: 'model', parts: [{ text: '' }] },
      finishReason: encodeFinishReason(finish),
      index,
      ...encodeGrounding(this.sources.get(index) ?? []),
    }))
    return this.frame(candidates, this.usage && { usageMetadata: encodeUsage(this.usage) })
  }

  push(event: ChatEvent): Frame[] {
    const released =
      event.type === 'finish' || event.type.endsWith('-start') || event.type === 'image' ? this.releaseCalls() : []
    return [...released, ...this.pushContent(event)]
  }

  end(): Frame[] {
    return [...this.releaseCalls(), this.lastFrame()]
  }

  fail(error: GatewayError, requestId: string): Frame[] {
    return [{ data: JSON.stringify(encodeError(error, requestId).body) }]
  }
}
