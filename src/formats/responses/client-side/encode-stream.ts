/**
 * Events of the hub as a responses stream: `response.created` and `response.in_progress`, the items, and one terminal event with the
 * whole response, which waits for the usage. Every event has a number, and the name of its type.
 */
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
import { createItemWriter } from './encode-stream-items'

/** Creates an encoder for one answer. Choices beyond the first can't be said and are left out. */
export function createStreamEncoder(context: AnswerContext): StreamEncoder {
  const items = createItemWriter(context, emit)
  let sequence = 0
  let isStarted = false
  let isClosed = false
  let reason: FinishReason = { kind: 'stop' }
  let usage: Usage | undefined

  function emit(type: string, fields: JsonObject): Frame {
    return { event: type, data: JSON.stringify({ type, sequence_number: sequence++, ...fields }) }
  }

  function push(event: ChatEvent): Frame[] {
    if (isClosed) return []
    switch (event.type) {
      case 'start':
        return start()
      case 'usage':
        usage = event.usage
        return []
      case 'finish':
        if (event.choice === 0) reason = event.finish
        return []
      case 'tool-uses':
      case 'error':
      case 'end':
        return []
      default:
        if (event.choice !== 0) return []
        return isStarted ? items.push(event) : [...start(), ...items.push(event)]
    }
  }

  function start(): Frame[] {
    if (isStarted) return []
    isStarted = true
    const begun = { status: 'in_progress', incomplete_details: null, error: null, completed_at: null }
    // It repeats what was asked for, which may be long: written once, for both.
    const response = JSON.stringify(encodeBody(context, { ...begun, output: [], usage: null }))
    return ['response.created', 'response.in_progress'].map((event) => ({
      event,
      data: `{"type":"${event}","sequence_number":${sequence++},"response":${response}}`,
    }))
  }

  function end(): Frame[] {
    if (isClosed) return []
    const opening = start()
    isClosed = true
    const ending = endingOf(reason, items.hasRefusal())
    const closing = items.end(lastStatus(ending))
    if (ending.status === 'failed') return [...opening, ...closing, ...failWith(modelFailed())]
    const response = encodeBody(context, {
      ...ending,
      error: null,
      completed_at: completedAt(ending),
      output: items.output(),
      usage: usage ? encodeUsage(usage) : null,
    })
    return [...opening, ...closing, emit(`response.${ending.status}`, { response })]
  }

  /** Clients read one of the two: some know only the event, and some only the response. */
  function failWith(error: GatewayError): Frame[] {
    const response = encodeBody(context, {
      status: 'failed',
      incomplete_details: null,
      error: encodeFailure(error),
      completed_at: null,
      output: items.output(),
      usage: usage ? encodeUsage(usage) : null,
    })
    return [emit('error', encodeErrorEvent(error)), emit('response.failed', { response })]
  }

  function fail(error: GatewayError, _requestId?: string, eventsBefore = 0): Frame[] {
    if (isClosed) return []
    isClosed = true
    if (!isStarted) sequence = eventsBefore
    return failWith(error)
  }

  const numbering = {
    name: 'sequence_number',
    last: () => sequence - 1,
    repeat(piece: TextPiece) {
      items.note(piece)
      return sequence++
    },
  }

  return { push, numbering, end, fail }
}

function modelFailed(): GatewayError {
  return new GatewayError('upstream_failed', MODEL_FAILED.message)
}
