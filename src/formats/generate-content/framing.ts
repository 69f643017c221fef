/** Frames generate-content streams: server-sent events with `alt=sse`, otherwise one JSON array. */
import type { Framing } from '@/formats/format'

/** One data line with line ends; a leading line feed may be the second half of the previous block's CRLF. */
const PLAIN_BLOCK = /^\n?(?:data: [^\r\n]*)?[\r\n]*$/

/** Events end in CRLF and have no names. The stream has no comment lines: the Python library parses every line as an answer. */
export const framing: Framing = {
  contentType: 'text/event-stream',
  open: '',
  close: '',
  format: ({ data }) => `data: ${onOneLine(data)}\r\n\r\n`,
  keepAlive: '\r\n\r\n',
  isReadable: (block) => PLAIN_BLOCK.test(block),
}

/** A JSON array whose elements are sent one by one, separated by white space. */
export const jsonArrayFraming: Framing = {
  contentType: 'application/json',
  open: '[',
  close: ']',
  format: ({ data }, index) => (index === 0 ? data : `,\r\n${data}`),
  keepAlive: '\r\n',
}

/** Characters that some line readers treat as line ends, and that JSON allows inside strings. */
const FOREIGN_LINE_END = /[\u0085\u2028\u2029]/
const FOREIGN_LINE_ENDS = new RegExp(FOREIGN_LINE_END, 'g')

/** One data line per event. Unicode line ends are escaped, because the Python library would split there. */
export function onOneLine(data: string): string {
  const line = data.includes('\n') ? data.replaceAll('\n', ' ') : data
  return FOREIGN_LINE_END.test(line) ? line.replaceAll(FOREIGN_LINE_ENDS, escaped) : line
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
