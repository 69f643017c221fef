/** How a responses answer is framed: server-sent events whose name is that of their type, and no `[DONE]` at the end. */
import type { Framing } from '@/formats/format'
import { formatSse } from '@/lib/streams/sse'

export const framing = {
  contentType: 'text/event-stream; charset=utf-8',
  open: '',
  close: '',
  format: formatSse,
  keepAlive: ': keep-alive\n\n',
} satisfies Framing
