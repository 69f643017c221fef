/** The event-stream parser: the same events for any split of the bytes, and every byte in the raw text. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { formatSse, type SseEvent, SseEventTooLargeError, SseParser } from '@/lib/streams/sse'
import { readEvents } from './sse-reference'

const encoder = new TextEncoder()

function parseAll(chunks: Uint8Array[]): SseEvent[] {
  const parser = new SseParser()
  return [...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.end()]
}

function parseText(text: string): SseEvent[] {
  return parseAll([encoder.encode(text)])
}

/**
 * What the events say. Blocks that say nothing are left out: where a cut parts the CRLF that ends an event, its LF comes
 * later and may become a block of its own.
 */
function meaningOf(events: Omit<SseEvent, 'raw'>[]): Omit<SseEvent, 'raw'>[] {
  return events
    .map(({ event, data }) => ({ event, data }))
    .filter(({ event, data }) => event !== undefined || data !== undefined)
}

/** Cuts `bytes` at the given places, which may repeat and lie outside. */
function cut(bytes: Uint8Array, places: number[]): Uint8Array[] {
  const sorted = [...places.map((place) => place % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b)
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end))
}

const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
const line = fc.oneof(
  fc.constantFrom(
    '',
    'data',
    'data:',
    'data: ',
    'event: ping',
    'event:',
    'event',
    ': comment',
    ':',
    'id: 1',
    'retry: 5',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
  fc.string({ unit: 'binary', maxLength: 8 }).map((text) => text.replace(/[\r\n\uFEFF]/g, '')),
)
const stream = fc
  .tuple(fc.constantFrom('', '\uFEFF'), fc.array(fc.tuple(line, lineEnd), { maxLength: 24 }), fc.boolean())
  .map(([mark, lines, isOpen]) => {
    const text = mark + lines.map(([content, end]) => content + end).join('')
    return isOpen ? `${text}data: rest` : text
  })
const places = fc.array(fc.nat(2000), { maxLength: 12 })

describe('parsing an event stream', () => {
  test('the parser gives the same events as an independent one, for any split', () => {
    fc.assert(
      fc.property(stream, places, (text, cuts) => {
        const bytes = encoder.encode(text)
        const whole = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
        expect(meaningOf(parseAll(cut(bytes, cuts)))).toEqual(meaningOf(readEvents(whole)))
      }),
      { numRuns: 2000 },
    )
  })

  test('parsing byte by byte gives the same events and text', () => {
    fc.assert(
      fc.property(stream, (text) => {
        const bytes = encoder.encode(text)
        const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1))
        expect(meaningOf(parseAll(single))).toEqual(meaningOf(parseAll([bytes])))
      }),
      { numRuns: 500 },
    )
  })

  test('raw texts together are the input, without a byte order mark', () => {
    fc.assert(
      fc.property(stream, places, (text, cuts) => {
        const bytes = encoder.encode(text)
        const whole = new TextDecoder().decode(bytes)
        const raw = parseAll(cut(bytes, cuts))
          .map((event) => event.raw)
          .join('')
        expect(raw).toBe(whole)
      }),
      { numRuns: 2000 },
    )
  })

  test.each([
    ['LF', 'data: a\n\ndata: b\n\n'],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n'],
    ['CR', 'data: a\r\rdata: b\r\r'],
    ['mixed line ends', 'data: a\r\n\ndata: b\n\r\n'],
    ['a byte order mark', '\uFEFFdata: a\n\ndata: b\n\n'],
    ['no blank line at the end', 'data: a\n\ndata: b'],
    ['no space after the colon', 'data:a\n\ndata:b\n\n'],
  ])('the parser reads %s', (_, text) => {
    expect(parseText(text).map((event) => event.data)).toEqual(['a', 'b'])
  })

  test('data lines of an event are joined by LF, and a second space is kept', () => {
    expect(parseText('data: a\ndata:  b\ndata\n\n')).toEqual([
      { event: undefined, data: 'a\n b\n', raw: 'data: a\ndata:  b\ndata\n\n' },
    ])
  })

  test('comments, bare names and extra blank lines are blocks without data', () => {
    expect(parseText(': keep-alive\n\nevent: ping\n\n\n')).toEqual([
      { event: undefined, data: undefined, raw: ': keep-alive\n\n' },
      { event: 'ping', data: undefined, raw: 'event: ping\n\n' },
      { event: undefined, data: undefined, raw: '\n' },
    ])
  })

  test('an event that ends with CR does not wait for the next byte', () => {
    const parser = new SseParser()
    expect(parser.push(encoder.encode('data: a\r\r')).map((event) => event.data)).toEqual(['a'])
    expect(parser.push(encoder.encode('\ndata: b\r\r')).map((event) => event.data)).toEqual(['b'])
  })

  test('invalid UTF-8 bytes are replaced', () => {
    const events = parseAll([encoder.encode('data: '), new Uint8Array([0xff]), encoder.encode('\n\n')])
    expect(events.map((event) => event.data)).toEqual(['\uFFFD'])
  })

  test('an event above the limit stops the parser', () => {
    for (const text of [`data: ${'x'.repeat(100)}`, `data: ${'x'.repeat(100)}\n\n`]) {
      const parser = new SseParser(64)
      expect(() => parser.push(encoder.encode(text))).toThrow(SseEventTooLargeError)
    }
  })

  test('many small events in one chunk may together exceed the limit of one event', () => {
    const parser = new SseParser(64)
    expect(parser.push(encoder.encode('data: 1234567890\n\n'.repeat(1000)))).toHaveLength(1000)
  })
})

describe('formatting an event', () => {
  test('a formatted event is parsed as the same event', () => {
    const data = fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => text.replaceAll('\r', ''))
    fc.assert(
      fc.property(data, fc.option(fc.constantFrom('ping', 'message_start'), { nil: undefined }), (text, event) => {
        const frame = event === undefined ? { data: text } : { event, data: text }
        expect(meaningOf(parseText(formatSse(frame)))).toEqual([{ event, data: text }])
      }),
    )
  })
})
