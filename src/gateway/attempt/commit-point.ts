/** Reads a stream up to its first content, the commit point. An earlier fault leads to another target; later faults reach the client. */
import type { ChatEvent } from '@/chat/event'
import { UNWANTED, watchFor } from '@/lib/deadline'
import { isJsonObject } from '@/lib/json'
import type { UpstreamFailure } from '@/upstream/failure'
import { emptyFailure, isNoAnswer } from './read-complete'
import { itemsOf, type StreamItem } from './repeats'
import type { StreamBatch, StreamSource } from './stream-source'

/** `held`: items read while waiting for content; `pending`: the next read, if it has begun. */
export type CommittedStream = {
  kind: 'stream'
  source: StreamSource
  held: StreamItem[]
  pending: Promise<StreamBatch> | undefined
}

type Committed = CommittedStream | { kind: 'failed'; failure: UpstreamFailure }

/** Maximum characters held back before the first content, in case an error follows status 200. If there are more, they are sent. */
const MAX_HELD_CHARS = 256 * 1024
/** Characters counted for each held item, in addition to its text. */
const CHARS_PER_ITEM = 64
/** Maximum items held, including keep-alives. Later keep-alives are dropped, since a model may think for an hour. */
const MAX_HELD_AS_SENT = 64

/**
 * Reads until there is content, the buffer is full, or `signal` fires because the client is gone. If the answer `isTranslated`, an empty
 * answer with the finish reason `error` or `unknown` is a failure, since the client's format can't express it.
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

/** Whether no client needs this item: it is a comment, or a ping that equals the item before. */
function isKeepAlive({ sse, json, events }: StreamItem, before: StreamItem | undefined): boolean {
  if (events.length > 0) return false
  if (sse.data === undefined) return true
  return sse.raw === before?.sse.raw && isJsonObject(json) && Object.keys(json).every((name) => name === 'type')
}

/** The result of a stream that ended before any content: a finished answer may be empty, but a stream without terminator was truncated. */
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

/** The failure if a stream with status 200 begins with an error event instead of content. */
function findError(events: readonly ChatEvent[], isTranslated: boolean): UpstreamFailure | undefined {
  for (const event of events) {
    if (event.type === 'finish' && isNoAnswer(event.finish, isTranslated)) return emptyFailure(event.finish)
    if (isContent(event)) return undefined
    if (event.type === 'error') return { kind: 'refused', error: event.error }
  }
  return undefined
}

/** The failure of a stream that contains nothing but a terminator. */
export const NOTHING_SAID: UpstreamFailure = {
  kind: 'malformed',
  detail: 'the stream ended without content and without a finish reason',
}

/** Whether the event is content for the client: output of the model, or the provider's finish reason. */
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
      // Without a value from the provider, the finish was only inferred from the terminator.
      return event.finish.raw !== undefined
    case 'tool-uses':
      return Object.values(event.uses).some((count) => count > 0)
    case 'reasoning-start':
      return event.redacted !== undefined
    default:
      return false
  }
}
