import type { ChatEvent } from '@/chat/event'
import { createFolder } from '@/chat/fold'
import type { ChatResponse } from '@/chat/response'
import type { Meter } from '@/gateway/charge/meter'
import type { UpstreamFailure } from '@/upstream/failure'
import { isContent, NOTHING_SAID } from './commit-point'
import { itemsOf } from './repeats'
import { letUpstreamClose, RUNAWAY, type StreamBatch, type StreamSource } from './stream-source'

type FoldedStream = { kind: 'folded'; response: ChatResponse } | { kind: 'failed'; failure: UpstreamFailure }

/**
 * Reads a stream to its end for a client that requested JSON. Nothing is delivered before it is complete, so any fault can still lead to
 * another target. Reads `source` up to its terminator. A stream of more than `maxChars` is malformed. The meter gets each event, because a
 * client that disconnects pays for the text so far.
 */
export async function foldStream(source: StreamSource, maxChars: number, meter: Meter): Promise<FoldedStream> {
  const folder = createFolder()
  let chars = 0
  let hasContent = false
  for (;;) {
    const batch = await source.next()
    if (batch.kind === 'failed') return batch
    for (const event of eventsOf(batch)) {
      folder.push(event)
      meter.observe(event)
      hasContent ||= isContent(event)
      if (event.type === 'end') {
        if (!hasContent) return refuse(source, NOTHING_SAID)
        void letUpstreamClose(source)
        return { kind: 'folded', response: folder.response() }
      }
      if (meter.isRunaway()) return refuse(source, RUNAWAY)
      if (event.type === 'error') return refuse(source, { kind: 'refused', error: event.error })
    }
    if (batch.kind === 'done') return refuse(source, { kind: 'broken', detail: 'stream ended without its terminator' })
    for (const { sse } of itemsOf(batch)) chars += sse.raw.length
    if (chars > maxChars) return refuse(source, { kind: 'malformed', detail: `answer over ${maxChars} characters` })
  }
}

function eventsOf(batch: Exclude<StreamBatch, { kind: 'failed' }>): ChatEvent[] {
  return batch.kind === 'done' ? batch.events : itemsOf(batch).flatMap((item) => item.events)
}

function refuse(source: StreamSource, failure: UpstreamFailure): FoldedStream {
  source.abort()
  return { kind: 'failed', failure }
}
