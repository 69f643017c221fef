import type { Framing } from '@/formats/format'
import { formatSse } from '@/lib/streams/sse'

/** Frames messages streams as server-sent events with names: clients drop events without one. */
export const framing: Framing = {
  contentType: 'text/event-stream; charset=utf-8',
  open: '',
  close: '',
  format: formatSse,
  keepAlive: 'event: ping\ndata: {"type": "ping"}\n\n',
}
