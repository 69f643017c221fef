/**
 * Reads a stream to its end where the client asked for JSON and the provider streamed all the same. Nothing of it is
 * delivered before it is complete, so that whatever goes wrong until then may still fall back.
 */
import type { ChatEvent } from '@/chat/event'
import { createFolder } from '@/chat/fold'
import type { ChatResponse } from '@/chat/response'
import type { UpstreamFailure } from '@/upstream/failure'
import { letUpstreamClose, type StreamBatch, type StreamSource } from './stream-source'

type FoldedStream = { kind: 'folded'; response: ChatResponse } | { kind: 'failed'; failure: UpstreamFailure }

/**
 * Sees each event of a stream that is read to its end, as it comes: it knows what a client who leaves in the middle has to
 * pay for. Returns why there is no point in reading on, if there is none.
 */
export type ObserveEvent = (event: ChatEvent) => UpstreamFailure | undefined

/**
 * Reads `source` up to its terminator; a stream of more than `maxChars` counts as malformed.
 */
export async function foldStream(source: StreamSource, maxChars: number, observe: ObserveEvent): Promise<FoldedStream> {
  const folder = createFolder()
  let chars = 0
  for (;;) {
    const batch = await source.next()
    if (batch.kind === 'failed') return batch
    for (const event of eventsOf(batch)) {
      folder.push(event)
      const objection = observe(event)
      if (event.type === 'end') {
        void letUpstreamClose(source)
        return { kind: 'folded', response: folder.response() }
      }
      if (objection) return refuse(source, objection)
      if (event.type === 'error') return refuse(source, { kind: 'refused', error: event.error })
    }
    if (batch.kind === 'done') return refuse(source, { kind: 'broken', detail: 'stream ended without its terminator' })
    for (const { sse } of batch.items) chars += sse.raw.length
    if (chars > maxChars) return refuse(source, { kind: 'malformed', detail: `answer over ${maxChars} characters` })
  }
}

function eventsOf(batch: Exclude<StreamBatch, { kind: 'failed' }>): ChatEvent[] {
  return batch.kind === 'done' ? batch.events : batch.items.flatMap((item) => item.events)
}

function refuse(source: StreamSource, failure: UpstreamFailure): FoldedStream {
  source.abort()
  return { kind: 'failed', failure }
}
