/** What the tests of the generate-content format share: fixtures, the shortest requests, and running streams both ways. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import { createFolder } from '@/chat/fold'
import type { ChatRequest } from '@/chat/request'
import type { ChatResponse } from '@/chat/response'
import type { AnswerContext, Framing, TargetTraits } from '@/formats/format'
import { generateContent } from '@/formats/generate-content/index'
import { createStreamDecoder } from '@/formats/generate-content/provider-side/decode-stream'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { SseParser } from '@/lib/streams/sse'

export const context: AnswerContext = {
  id: 'answer-1',
  model: 'svc/alpha',
  created: 1_760_000_000,
  wantsUsage: true,
  wantsReasoning: true,
  estimatedInputTokens: 21,
}

/** A file of the recorded conversations of this format. */
export function readFixture(name: string): string {
  return readFileSync(join(import.meta.dir, '..', '..', 'fixtures', 'generate-content', name), 'utf8')
}

/** Such a file that is one JSON object. */
export function readJsonFixture(name: string): JsonObject {
  const json = parseJson(readFixture(name))
  assert(isJsonObject(json), `${name} is no JSON object`)
  return json
}

/** A target with these quirks. */
export function traits(...quirks: string[]): TargetTraits {
  return { model: 'up-flash', maxOutputTokens: 8192, quirks: new Set(quirks), accountId: 'acc_1' }
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

/** Decodes a body whose contents are `contents`, or one user text. */
export function decode(body: JsonObject = {}): ChatRequest {
  return generateContent.decodeRequest({ contents: [{ parts: [{ text: 'Hi' }] }], ...body }, { model: 'svc/alpha' })
}

/** Encodes a request for a provider with `quirks`. */
export function encode(changes: Partial<ChatRequest>, ...quirks: string[]): JsonObject {
  return generateContent.encodeRequest(chatRequest(changes), traits(...quirks)).body
}

/** The message and field of the GatewayError that `action` throws. */
export function refusalOf(action: () => unknown): { kind: string; message: string; param: string | undefined } {
  try {
    action()
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { kind: error.kind, message: error.message, param: error.options.param }
  }
  throw new Error('nothing was refused')
}

/** Parses and decodes a stream that arrives in the given pieces; calls without an id are named call_1, call_2, … */
export function decodePieces(pieces: Iterable<Uint8Array>): ChatEvent[] {
  const parser = new SseParser()
  let calls = 0
  const decoder = createStreamDecoder(() => `call_${++calls}`)
  const events: ChatEvent[] = []
  const push = (blocks: ReturnType<typeof parser.push>) => {
    for (const block of blocks) events.push(...decoder.push(block, parseJson(block.data ?? '')))
  }
  for (const piece of pieces) push(parser.push(piece))
  push(parser.end())
  return [...events, ...decoder.end()]
}

/** The events of a recorded stream. */
export function decodeFixture(name: string): ChatEvent[] {
  return decodePieces([new TextEncoder().encode(readFixture(name))])
}

/** Folds events, and asserts that they keep the rules of ChatEvent. */
export function fold(events: readonly ChatEvent[]): ChatResponse {
  checkRules(events)
  const folder = createFolder()
  for (const event of events) folder.push(event)
  return folder.response()
}

/** A stream for a client as bytes of its framing. */
export function encodeStream(
  events: readonly ChatEvent[],
  framing: Framing = generateContent.framing,
  changes: Partial<AnswerContext> = {},
): string {
  const encoder = generateContent.createStreamEncoder({ ...context, ...changes })
  const frames = events.flatMap((event) => (event.type === 'end' ? encoder.end() : encoder.push(event)))
  return framing.open + frames.map((frame, index) => framing.format(frame, index)).join('') + framing.close
}

/** The chunks that {@link encodeStream} sends. */
export function encodedChunks(events: readonly ChatEvent[], changes: Partial<AnswerContext> = {}): JsonObject[] {
  const encoder = generateContent.createStreamEncoder({ ...context, ...changes })
  const frames = events.flatMap((event) => (event.type === 'end' ? encoder.end() : encoder.push(event)))
  return frames.map(({ data }) => parseJson(data)).filter(isJsonObject)
}

/** The parts of all chunks' first candidates, in order. */
export function partsOf(chunks: readonly JsonValue[]): JsonValue[] {
  return chunks.flatMap((chunk) => {
    const candidates = isJsonObject(chunk) && Array.isArray(chunk.candidates) ? chunk.candidates : []
    const first = candidates[0]
    const content = isJsonObject(first) ? first.content : undefined
    return isJsonObject(content) && Array.isArray(content.parts) ? content.parts : []
  })
}

function checkRules(events: readonly ChatEvent[]): void {
  const open = new Set<number>()
  const finished = new Set<number>()
  let next = 0
  for (const event of events) {
    if ('block' in event) {
      assert(!finished.has(event.choice), `block ${event.block} of a finished choice`)
      if (event.type.endsWith('-start') || event.type === 'image') {
        assert(event.block === next++, `block ${event.block} is out of order`)
        if (event.type !== 'image') open.add(event.block)
      } else assert(open.has(event.block), `${event.type} of block ${event.block}, which is not open`)
      if (event.type.endsWith('-end')) open.delete(event.block)
    }
    if (event.type === 'finish') {
      assert(!finished.has(event.choice), `choice ${event.choice} finishes twice`)
      finished.add(event.choice)
    }
    if (event.type === 'end') assert(open.size === 0, 'a block is open at the end')
  }
  assert(open.size === 0, 'a block was never closed')
}
