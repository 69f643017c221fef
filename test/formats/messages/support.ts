/** What the tests of the messages format share: fixtures, the shortest request, and running a stream both ways. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChatEvent } from '@/chat/event'
import type { ChatRequest } from '@/chat/request'
import type { AnswerContext, TargetTraits } from '@/formats/format'
import { messages } from '@/formats/messages/index'
import { type JsonObject, parseJson } from '@/lib/json'
import { type Frame, SseParser } from '@/lib/streams/sse'

export const context: AnswerContext = {
  id: 'msg_public',
  model: 'svc/alpha',
  created: 1_760_000_000,
  wantsUsage: true,
  wantsReasoning: true,
  estimatedInputTokens: 21,
}

/** A file of the recorded conversations of this format. */
export function readFixture(name: string): string {
  return readFileSync(join(import.meta.dir, '..', '..', 'fixtures', 'messages', name), 'utf8')
}

/** A target with these quirks. */
export function traits(...quirks: string[]): TargetTraits {
  return { model: 'upstream-model', maxOutputTokens: 8192, quirks: new Set(quirks), accountId: 'acc_1' }
}

/** A request of the hub with one user turn, changed by `changes`. */
export function chatRequest(changes: Partial<ChatRequest> = {}): ChatRequest {
  return {
    model: 'svc/alpha',
    stream: false,
    system: [],
    turns: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    tools: [],
    sampling: {},
    choices: 1,
    output: { type: 'text' },
    fallback: [],
    wantsUsage: false,
    extensions: {},
    ...changes,
  }
}

/** The shortest legal body, changed by `changes`; undefined takes a field away. */
export function wireBody(changes: JsonObject = {}): JsonObject {
  const body = { model: 'svc/alpha', max_tokens: 1024, messages: [{ role: 'user', content: 'Hi' }], ...changes }
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

/** The events of a stream that arrives in `chunks`. */
export function decodeChunks(chunks: readonly Uint8Array[]): ChatEvent[] {
  const parser = new SseParser()
  const decoder = messages.createStreamDecoder()
  const events = [...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.end()].flatMap((event) =>
    decoder.push(event, event.data === undefined ? undefined : parseJson(event.data)),
  )
  return [...events, ...decoder.end()]
}

/** The events of a stream that arrives at once. */
export function decodeText(text: string): ChatEvent[] {
  return decodeChunks([new TextEncoder().encode(text)])
}

/** The frames of a stream that ends well. */
export function encodeEvents(events: readonly ChatEvent[], changes: Partial<AnswerContext> = {}): Frame[] {
  const encoder = messages.createStreamEncoder({ ...context, ...changes })
  return [...events.flatMap((event) => encoder.push(event)), ...encoder.end()]
}

/** The bytes of these frames, as text. */
export function toSse(frames: readonly Frame[]): string {
  return frames.map((frame, index) => messages.framing.format(frame, index)).join('')
}

/** The JSON of each frame. */
export function dataOf(frames: readonly Frame[]): JsonObject[] {
  return frames.map((frame) => parseJson(frame.data) as JsonObject)
}

/** The parameter and message of the error that `run` throws. */
export function complaint(run: () => unknown): { param: string | undefined; message: string } {
  try {
    run()
  } catch (error) {
    const { options, message } = error as { options?: { param?: string }; message: string }
    return { param: options?.param, message }
  }
  throw new Error('expected an error')
}
