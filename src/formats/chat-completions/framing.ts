/** Frames chat-completions streams: server-sent events without names, and a final event. */
import type { Framing } from '@/formats/format'
import { formatSse } from '@/lib/streams/sse'

export const DONE = '[DONE]'

export const framing: Framing = {
  contentType: 'text/event-stream; charset=utf-8',
  open: '',
  close: '',
  format: formatSse,
  keepAlive: ': keepalive\n\n',
}
