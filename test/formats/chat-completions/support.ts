/** What the tests of this format share: fixtures, reading a stream as the gateway does, and folding events into something short to compare. */
import type { ChatEvent } from '@/chat/event'
import type { ChatRequest } from '@/chat/request'
import type { FinishReason } from '@/chat/response'
import type { Usage } from '@/chat/usage'
import { createStreamDecoder } from '@/formats/chat-completions/provider-side/decode-stream'
import type { AnswerContext, TargetTraits } from '@/formats/format'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { SseParser } from '@/lib/streams/sse'

const FIXTURES = new URL('../../fixtures/chat-completions/', import.meta.url)

/** A file of the recorded conversations of this format. */
export async function fixtureBytes(file: string): Promise<Uint8Array> {
  return Bun.file(new URL(file, FIXTURES)).bytes()
}

/** Such a file that is one JSON object. */
export async function fixtureJson(file: string): Promise<JsonObject> {
  const json: unknown = await Bun.file(new URL(file, FIXTURES)).json()
  assert(isJsonObject(json), `${file} is no JSON object`)
  return json
}

/** Parses and decodes a stream that arrives in the given pieces. */
export function decodePieces(pieces: Iterable<Uint8Array>): ChatEvent[] {
  const parser = new SseParser()
  const decoder = createStreamDecoder()
  const events: ChatEvent[] = []
  const push = (blocks: ReturnType<typeof parser.push>) => {
    for (const block of blocks) events.push(...decoder.push(block, parseJson(block.data ?? '')))
  }
  for (const piece of pieces) push(parser.push(piece))
  push(parser.end())
  events.push(...decoder.end())
  return events
}

/** Decodes chunks given as values; a string is the raw data of its event. */
export function decodeChunks(chunks: (JsonValue | undefined)[]): ChatEvent[] {
  const decoder = createStreamDecoder()
  const events = chunks.flatMap((chunk) => {
    const data = typeof chunk === 'string' ? chunk : JSON.stringify(chunk ?? null)
    return decoder.push({ event: undefined, data, raw: '' }, parseJson(data))
  })
  return [...events, ...decoder.end()]
}

type Folded = {
  start?: { id: string; model: string; created: number }
  /** Each block as `choice kind: text`, in the order of its number. */
  blocks: string[]
  finishes: FinishReason[]
  usage?: Usage
  error?: { kind: string; message: string; status?: number }
  isEnded: boolean
}

/** Folds the events of one stream, and asserts that they keep the rules of ChatEvent. */
export function fold(events: ChatEvent[]): Folded {
  const folded: Folded = { blocks: [], finishes: [], isEnded: false }
  const open = new Set<number>()
  const finished = new Set<number>()
  for (const event of events) {
    assert(!folded.isEnded, 'nothing follows end')
    foldEvent(folded, event, open, finished)
  }
  assert(open.size === 0, 'every block is ended')
  return folded
}

function foldEvent(folded: Folded, event: ChatEvent, open: Set<number>, finished: Set<number>): void {
  if ('block' in event) assert(!finished.has(event.choice), 'no block after its choice has finished')
  switch (event.type) {
    case 'start':
      folded.start = { id: event.id, model: event.model, created: event.created }
      return
    case 'text-start':
    case 'refusal-start':
    case 'reasoning-start':
    case 'tool-call-start': {
      assert(event.block === folded.blocks.length, 'blocks are numbered in order of their start')
      open.add(event.block)
      const kind = event.type.replace('-start', '')
      const head = event.type === 'tool-call-start' ? ` ${event.id} ${event.name}` : ''
      folded.blocks.push(`${event.choice} ${kind}${head}: `)
      return
    }
    case 'text-delta':
    case 'refusal-delta':
    case 'reasoning-delta':
    case 'tool-call-delta':
      assert(open.has(event.block), 'deltas belong to an open block')
      folded.blocks[event.block] += event.type === 'tool-call-delta' ? event.argumentsText : event.text
      return
    case 'text-end':
    case 'refusal-end':
    case 'reasoning-end':
    case 'tool-call-end':
      assert(open.delete(event.block), 'only open blocks end')
      if ('signature' in event && event.signature) {
        folded.blocks[event.block] += ` [${event.signature.format} ${event.signature.value}]`
      }
      return
    case 'image':
      assert(event.block === folded.blocks.length, 'blocks are numbered in order of their start')
      folded.blocks.push(`${event.choice} image: ${event.mediaType} ${event.data}`)
      return
    case 'finish':
      assert(!finished.has(event.choice), 'one finish per choice')
      assert(open.size === 0, 'blocks end before finish')
      finished.add(event.choice)
      folded.finishes.push(event.finish)
      return
    case 'usage':
      folded.usage = event.usage
      return
    case 'error': {
      const { kind, message, status } = event.error
      folded.error = { kind, message, ...(status !== undefined && { status }) }
      return
    }
    case 'end':
      assert(finished.size > 0, 'an answer has a choice')
      folded.isEnded = true
  }
}

/** Usage in which only `counts` is not zero. */
export function usageOf(counts: Partial<Usage>): Usage {
  return { uncached: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0, ...counts }
}

/** A target with these quirks. */
export function traitsWith(...quirks: string[]): TargetTraits {
  return { model: 'alpha-2026-01', maxOutputTokens: 32_768, quirks: new Set(quirks), accountId: 'acc_1' }
}

export const CONTEXT: AnswerContext = {
  id: 'chatcmpl-ours',
  model: 'svc/alpha',
  created: 1_760_000_001,
  wantsUsage: true,
  wantsReasoning: true,
  estimatedInputTokens: 5,
}

/** A request of the hub that says nothing but one user text. */
export function requestWith(overrides: Partial<ChatRequest> = {}): ChatRequest {
  return {
    model: 'svc/alpha',
    stream: false,
    system: [],
    turns: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    tools: [],
    sampling: {},
    choices: 1,
    output: { type: 'text' },
    fallback: [],
    wantsUsage: false,
    extensions: {},
    ...overrides,
  }
}
