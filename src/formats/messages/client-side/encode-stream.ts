/**
 * Events of the hub as a messages stream: `message_start`, blocks one after another with indexes from 0,
 * `message_delta` with reason and usage, `message_stop`. States: before the start; inside, where the block writer keeps
 * blocks apart; closed, after the terminator or an error, when nothing more is written. Reason and usage are held until
 * the end, because some providers report usage after the reason; `message_stop` is only written by {@link
 * StreamEncoder.end}.
 */
import type { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { FinishReason } from '@/chat/response'
import type { Usage } from '@/chat/usage'
import type { AnswerContext, StreamEncoder } from '@/formats/format'
import { encodeFinishReason } from '@/formats/messages/finish-reason'
import { encodeUsage, estimatedUsage } from '@/formats/messages/usage'
import type { JsonObject } from '@/lib/json'
import type { Frame } from '@/lib/streams/sse'
import { encodeError } from './encode-error'
import { encodeMessage } from './encode-response'
import { createBlockWriter } from './encode-stream-blocks'

/** Creates an encoder for one answer. Choices beyond the first can't be said and are left out. */
export function createStreamEncoder(context: AnswerContext): StreamEncoder {
  const blocks = createBlockWriter(context)
  let isStarted = false
  let isClosed = false
  let reason: FinishReason = { kind: 'stop' }
  let usage: Usage = estimatedUsage(context.estimatedInputTokens)

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
        return [...start(), ...blocks.push(event)]
    }
  }

  /** States the estimated input: a zero would show in clients as a request without a prompt. */
  function start(): Frame[] {
    if (isStarted) return []
    isStarted = true
    const opening = encodeUsage(estimatedUsage(context.estimatedInputTokens))
    return [toFrame({ type: 'message_start', message: encodeMessage(context, [], undefined, opening) })]
  }

  function end(): Frame[] {
    if (isClosed) return []
    const before = [...start(), ...blocks.end()]
    isClosed = true
    const stop = encodeFinishReason(reason, blocks.emitted())
    return [
      ...before,
      toFrame({ type: 'message_delta', delta: { ...stop, stop_details: null }, usage: encodeUsage(usage) }),
      toFrame({ type: 'message_stop' }),
    ]
  }

  function fail(error: GatewayError, requestId: string): Frame[] {
    if (isClosed) return []
    isClosed = true
    return [toFrame(encodeError(error, requestId).body)]
  }

  return { push, end, fail }
}

/** The event's name is its type. */
function toFrame(body: JsonObject): Frame {
  return { event: String(body.type), data: JSON.stringify(body) }
}
