/** How messages frames become bytes: server-sent events with names. */
import type { Framing } from '@/formats/format'
import { formatSse } from '@/lib/streams/sse'

/** Event names are on every event, since clients drop those without. */
export const framing: Framing = {
  contentType: 'text/event-stream; charset=utf-8',
  open: '',
  close: '',
  format: formatSse,
  keepAlive: 'event: ping\ndata: {"type": "ping"}\n\n',
}
