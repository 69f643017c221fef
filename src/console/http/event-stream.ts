/** Server-sent events to one open page: heartbeats, checks of the session, and a clean end. */
import { type Frame, formatSse } from '@/lib/streams/sse'

type EventStreamOptions = {
  /** Starts the events: `send` writes one. Returns what stops them. */
  begin(send: (frame: Frame) => void): () => void
  /** Whether the page may still listen. A rejection counts as yes: a store that is away ends no session. */
  isAllowed(): Promise<boolean>
  /** Ends the stream, e.g. the request's own. */
  signal: AbortSignal
  heartbeatMs?: number
  checkMs?: number
  maxAgeMs?: number
}

/** Less than any proxy's idle timeout. */
const HEARTBEAT_MS = 15_000
const CHECK_MS = 15_000
/** Pages reconnect by themselves; a limit keeps connections from outliving releases and forgotten tabs from living for ever. */
const MAX_AGE_MS = 3_600_000
/** How long a page waits before it connects again. */
const RECONNECT_MS = 2_000
/** A page that has left so many events unread is gone or asleep. */
const MAX_UNREAD = 256

/** An answer that stays open. */
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
            // Cancelled already.
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
