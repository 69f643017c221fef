/** Streams of Bedrock as it sends them: framed by AWS’ own codec, which is the judge of ours. */
import { EventStreamCodec } from '@smithy/eventstream-codec'
import type { JsonObject } from '@/lib/json'

const codec = new EventStreamCodec(
  (input) => (typeof input === 'string' ? input : new TextDecoder().decode(input as Uint8Array)),
  (input) => new TextEncoder().encode(input),
)

/** One message as AWS’ own codec reads it. */
export function decodeFrame(bytes: Uint8Array) {
  const { headers, body } = codec.decode(bytes)
  const texts = Object.entries(headers).map(([name, { value }]) => [name, String(value)])
  return { headers: Object.fromEntries(texts) as Record<string, string>, payload: [...body] }
}

/** One message with these headers, all text. */
export function frame(headers: Record<string, string>, payload: Uint8Array | string): Uint8Array {
  const body = typeof payload === 'string' ? new TextEncoder().encode(payload) : payload
  const values = Object.entries(headers).map(([name, value]) => [name, { type: 'string' as const, value }])
  return codec.encode({ headers: Object.fromEntries(values), body })
}

/** One event of Converse, or a `chunk` of InvokeModel. */
export function eventFrame(kind: string, payload: JsonObject): Uint8Array {
  const headers = { ':event-type': kind, ':content-type': 'application/json', ':message-type': 'event' }
  return frame(headers, JSON.stringify({ ...payload, p: 'abcdefgh' }))
}

/** One event of messages, as InvokeModel wraps it. */
export function invokeFrame(event: JsonObject): Uint8Array {
  return eventFrame('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64') })
}

/** What ends a stream that has begun well. */
export function exceptionFrame(kind: string, message: string): Uint8Array {
  const headers = { ':exception-type': kind, ':content-type': 'application/json', ':message-type': 'exception' }
  return frame(headers, JSON.stringify({ message }))
}

/** What ends a stream where not the model has failed. */
export function errorFrame(code: string, message: string): Uint8Array {
  return frame({ ':message-type': 'error', ':error-code': code, ':error-message': message }, '')
}

/** A stream of these frames, with what is to be known of its request. */
export function framed(...frames: Uint8Array[]): Response {
  return new Response(Buffer.concat(frames), {
    headers: { 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-requestid': 'request-1' },
  })
}

const METRICS = { inputTokenCount: 20, outputTokenCount: 7, invocationLatency: 900, firstByteLatency: 300 }

/** What Claude says by InvokeModel. */
export function claudeFrames(...texts: string[]): Uint8Array[] {
  const usage = { input_tokens: 20, output_tokens: 1 }
  const message = { id: 'msg_bdrk_1', type: 'message', role: 'assistant', model: 'claude-upstream', content: [] }
  return [
    invokeFrame({ type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null, usage } }),
    invokeFrame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...texts.map((text) => invokeFrame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    invokeFrame({ type: 'content_block_stop', index: 0 }),
    invokeFrame({
      ...{
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 7 },
      },
    }),
    invokeFrame({ type: 'message_stop', 'amazon-bedrock-invocationMetrics': METRICS }),
  ]
}

export const USAGE = { inputTokens: 20, outputTokens: 7, totalTokens: 27 }

/** What any model says by Converse. */
export function converseFrames(...texts: string[]): Uint8Array[] {
  return [
    eventFrame('messageStart', { role: 'assistant' }),
    ...texts.map((text) => eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } })),
    eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
    eventFrame('messageStop', { stopReason: 'end_turn' }),
    eventFrame('metadata', { usage: USAGE, metrics: { latencyMs: 900 } }),
  ]
}
