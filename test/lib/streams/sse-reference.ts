/** A second, naive reading of event streams, from the whole text at once: what the incremental parser is compared with. */
import type { SseEvent } from '@/lib/streams/sse'

/** The events of `text`, by the WHATWG rules as far as the gateway needs them, and each event's own text. */
export function readEvents(text: string): Omit<SseEvent, 'raw'>[] {
  const events: Omit<SseEvent, 'raw'>[] = []
  let event: string | undefined
  let data: string[] = []
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  // The text after the last line end is a line of its own only if there is any.
  const isOpen = lines.at(-1) !== ''
  const complete = isOpen ? lines : lines.slice(0, -1)
  for (const line of complete) {
    if (line === '') {
      events.push({ event, data: data.length > 0 ? data.join('\n') : undefined })
      event = undefined
      data = []
      continue
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') data.push(value)
    if (field === 'event') event = value
  }
  if (text !== '' && (isOpen || complete.at(-1) !== '')) {
    events.push({ event, data: data.length > 0 ? data.join('\n') : undefined })
  }
  return events
}
