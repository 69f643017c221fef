/** Encodes a responses stream: created, in_progress, items, and a final event with the whole response, which waits for the usage. */
import { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { FinishReason } from '@/chat/response'
import type { Usage } from '@/chat/usage'
import type { AnswerContext, StreamEncoder, TextPiece } from '@/formats/format'
import { encodeUsage } from '@/formats/responses/usage'
import type { JsonObject } from '@/lib/json'
import type { Frame } from '@/lib/streams/sse'
import { encodeErrorEvent, encodeFailure } from './encode-error'
import { completedAt, encodeBody, endingOf, lastStatus, MODEL_FAILED } from './encode-response'
import { ItemWriter } from './encode-stream-items'

export function createStreamEncoder(context: AnswerContext): StreamEncoder {
  return new ResponseEncoder(context)
}

class ResponseEncoder implements StreamEncoder {
  private readonly items: ItemWriter
  private sequence = 0
  private isStarted = false
  private isClosed = false
  private reason: FinishReason = { kind: 'stop' }
  private usage: Usage | undefined
  readonly numbering = {
    name: 'sequence_number',
    last: () => this.sequence - 1,
    repeat: (piece: TextPiece) => {
      this.items.note(piece)
      return this.sequence++
    },
  }

  constructor(private readonly context: AnswerContext) {
    this.items = new ItemWriter(context, (type, fields) => this.emit(type, fields))
  }

  private emit(type: string, fields: JsonObject): Frame {
    return { event: type, data: JSON.stringify({ type, sequence_number: this.sequence++, ...fields }) }
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
        return this.isStarted ? this.items.push(event) : [...this.start(), ...this.items.push(event)]
    }
  }

  private start(): Frame[] {
    if (this.isStarted) return []
    this.isStarted = true
    const begun = { status: 'in_progress', incomplete_details: null, error: null, completed_at: null }
    // The response repeats the request, which may be long, so both events share one serialised text.
    const response = JSON.stringify(encodeBody(this.context, { ...begun, output: [], usage: null }))
    return ['response.created', 'response.in_progress'].map((event) => ({
      event,
      data: `{"type":"${event}","sequence_number":${this.sequence++},"response":${response}}`,
    }))
  }

  end(): Frame[] {
    if (this.isClosed) return []
    const opening = this.start()
    this.isClosed = true
    const ending = endingOf(this.reason, this.items.hasRefusal())
    const closing = this.items.end(lastStatus(ending))
    if (ending.status === 'failed') return [...opening, ...closing, ...this.failWith(modelFailed())]
    const response = encodeBody(this.context, {
      ...ending,
      error: null,
      completed_at: completedAt(ending),
      output: this.items.output(),
      usage: this.usage ? encodeUsage(this.usage) : null,
    })
    return [...opening, ...closing, this.emit(`response.${ending.status}`, { response })]
  }

  /** Sends an error event and a failed response, since some clients read only one of them. */
  private failWith(error: GatewayError): Frame[] {
    const response = encodeBody(this.context, {
      status: 'failed',
      incomplete_details: null,
      error: encodeFailure(error),
      completed_at: null,
      output: this.items.output(),
      usage: this.usage ? encodeUsage(this.usage) : null,
    })
    return [this.emit('error', encodeErrorEvent(error)), this.emit('response.failed', { response })]
  }

  fail(error: GatewayError, _requestId?: string, eventsBefore = 0): Frame[] {
    if (this.isClosed) return []
    this.isClosed = true
    if (!this.isStarted) this.sequence = eventsBefore
    return this.failWith(error)
  }
}

function modelFailed(): GatewayError {
  return new GatewayError('upstream_failed', MODEL_FAILED.message)
}
