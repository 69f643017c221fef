/** Reads one upstream event stream: bytes to wire events to hub events, at the reader's own pace. */
import type { ChatEvent } from '@/chat/event'
import type { Format } from '@/formats/format'
import { parseJson } from '@/lib/json'
import { createSseParser, type SseEvent, SseEventTooLargeError } from '@/lib/sse'
import type { UpstreamAnswer } from '@/upstream/client'
import type { UpstreamFailure } from '@/upstream/failure'
import { createRepeatPattern, type Repeats, type StreamItem } from './repeats'

export type StreamBatch =
  /** `repeats` came before `items`. */
  | { kind: 'items'; items: StreamItem[]; repeats?: Repeats | undefined }
  /** The upstream closed; `events` close what was still open. */
  | { kind: 'done'; events: ChatEvent[] }
  | { kind: 'failed'; failure: UpstreamFailure }

export interface StreamSource {
  /** The next batch. One call at a time. After `done` or `failed` there is nothing more. */
  next(): Promise<StreamBatch>
  /** Whether anything has come, be it a comment. */
  hasSent(): boolean
  /** Whether the provider has said why it stopped, in what was read so far: all that is left to come is its last word. */
  isFinished(): boolean
  /** From now on the client's going away does not end the upstream: the reader decides. */
  outliveClient(): void
  /** Who is to be told when the upstream has taken too long in all, also while nobody reads. */
  onOvertime(listener: (failure: UpstreamFailure) => void): void
  abort(): void
}

/** What becomes of an answer whose meter sees it run away: nobody pays for more than was held, but it has to end. */
export const RUNAWAY: UpstreamFailure = { kind: 'broken', detail: 'wrote far beyond its output limit' }

/** How long an upstream that has said its last word may take to close, so that its connection can be used again. */
const CLOSE_PATIENCE_MS = 1_000
/** The longest single event; more is taken for an attack or a fault. */
const MAX_EVENT_CHARS = 16 * 1024 * 1024

/** Opens `answer` as a stream of `format`. */
export function openStreamSource(answer: UpstreamAnswer, format: Format): StreamSource {
  const parser = createSseParser(MAX_EVENT_CHARS)
  const decoder = format.createStreamDecoder()
  const pattern = createRepeatPattern(decoder)
  let hasClosed = false

  function decode(sse: SseEvent): StreamItem {
    if (sse.data === undefined) return { sse, json: undefined, events: [] }
    const json = parseJson(sse.data)
    const item = { sse, json, events: decoder.push(sse, json) }
    pattern.learn(item)
    return item
  }

  async function next(): Promise<StreamBatch> {
    while (!hasClosed) {
      const chunk = await answer.read()
      if (chunk.kind === 'failed') return chunk
      if (chunk.kind === 'done') hasClosed = true
      const batch = parse(chunk.kind === 'bytes' ? chunk.bytes : undefined)
      if (!batch) {
        answer.abort()
        return { kind: 'failed', failure: { kind: 'malformed', detail: `event over ${MAX_EVENT_CHARS} characters` } }
      }
      if (batch.items.length > 0 || batch.repeats) return batch
    }
    return { kind: 'done', events: decoder.end() }
  }

  function parse(bytes: Uint8Array | undefined): Extract<StreamBatch, { kind: 'items' }> | undefined {
    try {
      if (bytes) return parseText(parser.decode(bytes))
      // Whatever follows on the client's side must not run into a block that its provider left open.
      return { kind: 'items', items: parser.end().map((sse) => decode({ ...sse, raw: closed(sse.raw) })) }
    } catch (error) {
      if (error instanceof SseEventTooLargeError) return undefined
      throw error
    }
  }

  function parseText(text: string): Extract<StreamBatch, { kind: 'items' }> {
    const found = parser.isBetweenBlocks() ? pattern.find(text) : undefined
    if (!found) return { kind: 'items', items: parser.append(text).map(decode) }
    const { repeats, end } = found
    const items = end === text.length ? [] : parser.append(text.slice(end)).map(decode)
    return { kind: 'items', items, repeats }
  }

  const { hasSent, outliveClient, onOvertime, abort } = answer
  return { next, hasSent, isFinished: decoder.isFinished, outliveClient, onOvertime, abort }
}

/** What there is to read behind an answer that came in one piece. */
export const EMPTY_SOURCE: StreamSource = {
  next: async () => ({ kind: 'done', events: [] }),
  hasSent: () => true,
  isFinished: () => true,
  outliveClient: () => undefined,
  onOvertime: () => undefined,
  abort: () => undefined,
}

/** Lets a provider that has said everything close by itself, so that its connection can be used again. */
export async function letUpstreamClose(source: StreamSource): Promise<void> {
  const timer = setTimeout(() => source.abort(), CLOSE_PATIENCE_MS)
  for (let batch = await source.next(); batch.kind === 'items'; batch = await source.next());
  clearTimeout(timer)
}

/** The block with the blank line it lacks; what is left of a CRLF is no block. */
function closed(raw: string): string {
  return /^[\r\n]*$/.test(raw) ? raw : `${raw}\n\n`
}
