/** A server-sent event stream to one open page, with heartbeats, session checks and a clean end. */
import { type Frame, formatSse } from '@/lib/streams/sse'

type EventStreamOptions = {
  /** Starts the events; `send` writes one. Returns a function that stops them. */
  begin(send: (frame: Frame) => void): () => void
  /** Whether the page may still receive events. If the promise rejects, the stream continues, so that a store's outage ends no stream. */
  isAllowed(): Promise<boolean>
  signal: AbortSignal
  heartbeatMs?: number
  checkMs?: number
  maxAgeMs?: number
}

/** Shorter than any proxy's idle timeout. */
const HEARTBEAT_MS = 15_000
const CHECK_MS = 15_000
/** Pages reconnect by themselves. The limit ends streams of forgotten tabs and old releases. */
const MAX_AGE_MS = 3_600_000
/** Milliseconds before a page reconnects. */
const RECONNECT_MS = 2_000
/** A page with this many unread events is gone or asleep. */
const MAX_UNREAD = 256

export function eventStream(options: EventStreamOptions): Response {
  const { begin, isAllowed, signal, heartbeatMs = HEARTBEAT_MS, checkMs = CHECK_MS, maxAgeMs = MAX_AGE_MS } = options
  const encoder = new TextEncoder()
  let end = () => {}
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let isOpen = true
        const timers = [
          setInterval(() => write(': still here\n\n'), heartbeatMs),
          setInterval(() => void check(), checkMs),
          setTimeout(() => end(), maxAgeMs),
        ]

        function write(text: string): void {
          if (!isOpen) return
          if ((controller.desiredSize ?? 0) < -MAX_UNREAD) end()
          else controller.enqueue(encoder.encode(text))
        }

        async function check(): Promise<void> {
          const isStillAllowed = await isAllowed().catch(() => true)
          if (isStillAllowed || !isOpen) return
          write(formatSse({ event: 'signed-out', data: '{}' }))
          end()
        }

        let stop = () => {}
        end = () => {
          if (!isOpen) return
          isOpen = false
          for (const timer of timers) clearTimeout(timer)
          signal.removeEventListener('abort', end)
          stop()
          try {
            controller.close()
          } catch {
            // The client has already cancelled the stream.
          }
        }
        signal.addEventListener('abort', end)
        write(`retry: ${RECONNECT_MS}\n\n`)
        stop = begin((frame) => write(formatSse(frame)))
        if (signal.aborted) end()
      },
      cancel: () => end(),
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  })
}
