import type { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { FinishReason } from '@/chat/response'
import type { Usage } from '@/chat/usage'
import type { AnswerContext, StreamEncoder } from '@/formats/format'
import { encodeFinishReason } from '@/formats/messages/finish-reason'
import { encodeEstimate, encodeUsage, estimatedUsage } from '@/formats/messages/usage'
import type { JsonObject } from '@/lib/json'
import type { Frame } from '@/lib/streams/sse'
import { encodeError } from './encode-error'
import { encodeMessage } from './encode-response'
import { BlockWriter } from './encode-stream-blocks'

/**
 * Creates the encoder of one answer. A messages stream has `message_start`, blocks with indexes from 0, `message_delta` with reason and
 * usage, and `message_stop`. States: before the start; inside, while the block writer separates blocks; closed, after the terminator or an
 * error. A closed encoder writes nothing. Reason and usage are sent at the end, because some providers report usage after the reason. Only
 * {@link StreamEncoder.end} writes `message_stop`. Choices after the first are omitted.
 */
export function createStreamEncoder(context: AnswerContext): StreamEncoder {
  return new MessageEncoder(context)
}

class MessageEncoder implements StreamEncoder {
  private readonly blocks: BlockWriter
  private isStarted = false
  private isClosed = false
  private reason: FinishReason = { kind: 'stop' }
  private usage: Usage

  constructor(private readonly context: AnswerContext) {
    this.blocks = new BlockWriter(context)
    this.usage = estimatedUsage(context.estimatedInputTokens)
  }

  push(event: ChatEvent): Frame[] {
    if (this.isClosed) return []
    switch (event.type) {
      case 'start':
        return this.start()
      case 'usage':
        this.usage = event.usage
        return []
      case 'finish':
        if (event.choice === 0) this.reason = event.finish
        return []
      case 'tool-uses':
      case 'error':
      case 'end':
        return []
      default:
        if (event.choice !== 0) return []
        return [...this.start(), ...this.blocks.push(event)]
    }
  }

  /** Sends the estimated input tokens, since clients would display a zero. */
  private start(): Frame[] {
    if (this.isStarted) return []
    this.isStarted = true
    const opening = encodeEstimate(this.context.estimatedInputTokens)
    return [toFrame({ type: 'message_start', message: encodeMessage(this.context, [], undefined, opening) })]
  }

  end(): Frame[] {
    if (this.isClosed) return []
    const before = [...this.start(), ...this.blocks.end()]
    this.isClosed = true
    const stop = encodeFinishReason(this.reason, this.blocks.emitted())
    return [
      ...before,
      toFrame({ type: 'message_delta', delta: { ...stop, stop_details: null }, usage: encodeUsage(this.usage) }),
      toFrame({ type: 'message_stop' }),
    ]
  }

  fail(error: GatewayError, requestId: string): Frame[] {
    if (this.isClosed) return []
    this.isClosed = true
    return [toFrame(encodeError(error, requestId).body)]
  }
}

function toFrame(body: JsonObject): Frame {
  return { event: String(body.type), data: JSON.stringify(body) }
}
