/**
 * Reads a stream up to its commit point: the first content that is worth showing. A fault before it may still fall back; after
 * it the answer belongs to the client.
 */
import type { ChatEvent } from '@/chat/event'
import { UNWANTED, watchFor } from '@/lib/deadline'
import { isJsonObject } from '@/lib/json'
import type { UpstreamFailure } from '@/upstream/failure'
import { emptyFailure, isNoAnswer } from './read-complete'
import { itemsOf, type StreamItem } from './repeats'
import type { StreamBatch, StreamSource } from './stream-source'

/** `held` were read while waiting for content; `pending` is what the next read brings, where it has begun. */
export type CommittedStream = {
  kind: 'stream'
  source: StreamSource
  held: StreamItem[]
  pending: Promise<StreamBatch> | undefined
}

type Committed = CommittedStream | { kind: 'failed'; failure: UpstreamFailure }

/**
 * The most text held back before content, so that an error after a 200 can still fall back. Beyond it the answer is the
 * client's.
 */
const MAX_HELD_CHARS = 256 * 1024
/** The weight of an item besides its text. */
const CHARS_PER_ITEM = 64
/** The most items held with their keep-alives; later keep-alives are omitted, since a model may think for an hour. */
const MAX_HELD_AS_SENT = 64

/**
 * Reads until there is content, until too much is held back, or until `signal` says that nobody waits. If the answer
 * `isTranslated`, an empty one with the finish reason error or unknown is a failure: only its own format could say so.
 */
export async function awaitContent(
  source: StreamSource,
  isTranslated: boolean,
  signal: AbortSignal,
): Promise<Committed> {
  const held: StreamItem[] = []
  let heldChars = 0
  const watch = watchFor(signal)
  try {
    for (;;) {
      const pending = source.next()
      const batch = await watch.orUnwanted(pending)
      if (batch === UNWANTED) return { kind: 'stream', source, held, pending }
      if (batch.kind === 'failed') return batch
      if (batch.kind === 'done') return endedWithoutContent(batch.events, held, source, isTranslated)
      const items = itemsOf(batch)
      const failure = findError(
        items.flatMap((item) => item.events),
        isTranslated,
      )
      if (failure) {
        source.abort()
        return { kind: 'failed', failure }
      }
      for (const item of items) {
        if (held.length >= MAX_HELD_AS_SENT && isKeepAlive(item, held.at(-1))) continue
        held.push(item)
        heldChars += item.sse.raw.length + CHARS_PER_ITEM
      }
      if (heldChars >= MAX_HELD_CHARS || items.some((item) => item.events.some(isContent))) {
        return { kind: 'stream', source, held, pending: undefined }
      }
    }
  } finally {
    watch.clear()
  }
}

/**
 * Whether a client of any format can do without the item: a comment, or a ping like the one before, with no member but its
 * type. Nothing else is omitted: it may mean something to a client of the same format.
 */
function isKeepAlive({ sse, json, events }: StreamItem, before: StreamItem | undefined): boolean {
  if (events.length > 0) return false
  if (sse.data === undefined) return true
  return sse.raw === before?.sse.raw && isJsonObject(json) && Object.keys(json).every((name) => name === 'type')
}

/** An answer may be legally empty, and then says that it has finished; one that stops without its terminator was cut. */
function endedWithoutContent(
  events: ChatEvent[],
  held: StreamItem[],
  source: StreamSource,
  isTranslated: boolean,
): Committed {
  const all = [...held.flatMap((item) => item.events), ...events]
  const hasEnded = all.some((event) => event.type === 'end')
  if (!hasEnded) return { kind: 'failed', failure: { kind: 'broken', detail: 'stream ended before any content' } }
  if (!all.some(isContent)) return { kind: 'failed', failure: NOTHING_SAID }
  const failure = findError(all, isTranslated)
  if (failure) return { kind: 'failed', failure }
  return { kind: 'stream', source, held, pending: Promise.resolve({ kind: 'done', events }) }
}

/** An error inside a 200, as long as nothing of the answer came before it. */
function findError(events: readonly ChatEvent[], isTranslated: boolean): UpstreamFailure | undefined {
  for (const event of events) {
    if (event.type === 'finish' && isNoAnswer(event.finish, isTranslated)) return emptyFailure(event.finish)
    if (isContent(event)) return undefined
    if (event.type === 'error') return { kind: 'refused', error: event.error }
  }
  return undefined
}

/** A terminator alone is no answer. */
export const NOTHING_SAID: UpstreamFailure = {
  kind: 'malformed',
  detail: 'stream ended with nothing said, not even a finish',
}

/** Whether the event is worth showing by itself; an answer's finish is. */
export function isContent(event: ChatEvent): boolean {
  switch (event.type) {
    case 'text-delta':
    case 'refusal-delta':
    case 'reasoning-delta':
      return event.text !== ''
    case 'tool-call-start':
    case 'image':
      return true
    case 'finish':
      // Without a word of the provider's it was only concluded from the terminator.
      return event.finish.raw !== undefined
    case 'tool-uses':
      return Object.values(event.uses).some((count) => count > 0)
    case 'reasoning-start':
      return event.redacted !== undefined
    default:
      return false
  }
}
