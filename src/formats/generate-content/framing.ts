/** How generate-content frames become bytes: server-sent events with `alt=sse`, one JSON array without. */
import type { Framing } from '@/formats/format'

/**
 * Events end in CRLF as the original's do, and have no names. A comment is a block of its own: the client library drops every
 * block that does not begin with `data:`.
 */
export const framing: Framing = {
  contentType: 'text/event-stream',
  open: '',
  close: '',
  format: ({ data }) => `data: ${onOneLine(data)}\r\n\r\n`,
  keepAlive: ': keepalive\r\n\r\n',
}

/** A JSON array whose elements come as they are made; white space between them means nothing. */
export const jsonArrayFraming: Framing = {
  contentType: 'application/json',
  open: '[',
  close: ']',
  format: ({ data }, index) => (index === 0 ? data : `,\r\n${data}`),
  keepAlive: '\r\n',
}

/** The client library reads one data line per event. A line end in JSON text is white space, never part of a string. */
function onOneLine(data: string): string {
  return data.includes('\n') ? data.replaceAll('\n', ' ') : data
}
