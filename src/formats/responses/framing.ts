/** Frames responses streams: server-sent events named by their type, without `[DONE]` at the end. */
import type { Framing } from '@/formats/format'
import { formatSse } from '@/lib/streams/sse'

export const framing = {
  contentType: 'text/event-stream; charset=utf-8',
  open: '',
  close: '',
  format: formatSse,
  keepAlive: ': keep-alive\n\n',
} satisfies Framing
