/** How generate-content frames become bytes: server-sent events with `alt=sse`, one JSON array without. */
import type { Framing } from '@/formats/format'

/** One line of data, and line ends: one before it may be the second half of what the block before ended in. */
const PLAIN_BLOCK = /^\n?(?:data: [^\r\n]*)?[\r\n]*$/

/** Events end in CRLF and have no names. No comments: the Python library takes any other line for an answer. */
export const framing: Framing = {
  contentType: 'text/event-stream',
  open: '',
  close: '',
  format: ({ data }) => `data: ${onOneLine(data)}\r\n\r\n`,
  keepAlive: '\r\n\r\n',
  isReadable: (block) => PLAIN_BLOCK.test(block),
}

/** A JSON array whose elements come as they are made; white space between them means nothing. */
export const jsonArrayFraming: Framing = {
  contentType: 'application/json',
  open: '[',
  close: ']',
  format: ({ data }, index) => (index === 0 ? data : `,\r\n${data}`),
  keepAlive: '\r\n',
}

/** What some readers of lines take for the end of one, and JSON leaves as it is inside strings. */
const FOREIGN_LINE_END = /[\u0085\u2028\u2029]/
const FOREIGN_LINE_ENDS = new RegExp(FOREIGN_LINE_END, 'g')

/** One data line per event. What only Unicode calls a line end becomes an escape: the Python library would split there. */
export function onOneLine(data: string): string {
  const line = data.includes('\n') ? data.replaceAll('\n', ' ') : data
  return FOREIGN_LINE_END.test(line) ? line.replaceAll(FOREIGN_LINE_ENDS, escaped) : line
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
