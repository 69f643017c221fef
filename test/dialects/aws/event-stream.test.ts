/** The framing of AWS’ event streams compared with AWS’ own codec: split anywhere, altered anywhere, and with wrong lengths. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { SEED } from '@test/support/seed'
import { createEventStreamParser, type EventMessage } from '@/dialects/aws/event-stream'
import { decodeFrame, eventFrame, frame } from './bedrock-frames'

const decoder = new TextDecoder()

/** What a parser makes of the bytes, given to it in pieces of these sizes again and again. */
function parse(bytes: Uint8Array, ...sizes: number[]): EventMessage[] {
  const parser = createEventStreamParser()
  const messages: EventMessage[] = []
  for (let [at, turn] = [0, 0]; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] || bytes.length
    messages.push(...parser.push(bytes.subarray(at, at + size)))
    at += size
  }
  expect(parser.isOpen()).toBe(false)
  return messages
}

const told = (messages: readonly EventMessage[]) =>
  messages.map(({ headers, payload }) => [headers.get(':event-type'), decoder.decode(payload)])

const FRAMES = [
  eventFrame('chunk', { text: 'Grüße 😀' }),
  frame({ ':event-type': 'empty' }, ''),
  frame({ ':event-type': 'long', other: 'x'.repeat(300) }, 'y'.repeat(300_000)),
  frame({}, '{}'),
]
const ALL = Buffer.concat(FRAMES)
const WHOLE = [
  ['chunk', '{"text":"Grüße 😀","p":"abcdefgh"}'],
  ['empty', ''],
  ['long', 'y'.repeat(300_000)],
  [undefined, '{}'],
]

const PIECES: readonly (readonly number[])[] = [[1], [7], [1000], [ALL.length], [3, 12, 1, 65_536]]

test.each(PIECES.map((sizes) => ({ sizes })))(
  'E12: reading an event stream in chunks of $sizes bytes gives the same messages',
  ({ sizes }) => {
    expect(told(parse(ALL, ...sizes))).toEqual(WHOLE)
  },
)

test('E12: an event stream cut anywhere gives the same messages', () => {
  const bytes = Buffer.concat([FRAMES[0] ?? '', FRAMES[1] ?? '', FRAMES[3] ?? ''] as Uint8Array[])
  const whole = told(parse(bytes))
  for (let cut = 1; cut < bytes.length; cut++) expect(told(parse(bytes, cut, bytes.length))).toEqual(whole)
})

test('event headers of every type are skipped, and text headers are read', () => {
  const typed: [number, number[]][] = [
    [0, []],
    [1, []],
    [2, [1]],
    [3, [1, 2]],
    [4, [1, 2, 3, 4]],
    [5, Array(8).fill(1)],
    [6, [0, 2, 9, 9]],
    [7, [0, 2, 104, 105]],
    [8, Array(8).fill(2)],
    [9, Array(16).fill(3)],
  ]
  const headers = typed.flatMap(([type, value]) => [1, 97 + type, type, ...value])
  const [message] = parse(sealed(Uint8Array.from(headers)))
  expect([...(message?.headers ?? [])]).toEqual([['h', 'hi']])
})

/** A message with these bytes for headers and no payload, whose checksums are right whatever they say. */
function sealed(headers: Uint8Array, lengths: { total?: number; headers?: number } = {}): Uint8Array {
  const message = Buffer.alloc(16 + headers.length)
  message.writeUInt32BE(lengths.total ?? message.length, 0)
  message.writeUInt32BE(lengths.headers ?? headers.length, 4)
  message.writeUInt32BE(Bun.hash.crc32(message.subarray(0, 8)), 8)
  message.set(headers, 12)
  message.writeUInt32BE(Bun.hash.crc32(message.subarray(0, message.length - 4)), message.length - 4)
  return message
}

describe('E13: damaged event streams', () => {
  test('E13: any flipped bit is detected, or leaves the message incomplete', () => {
    const original = eventFrame('chunk', { text: 'Hello' })
    for (let bit = 0; bit < original.length * 8; bit++) {
      const bytes = Uint8Array.from(original)
      const at = bit >> 3
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7))
      const parser = createEventStreamParser()
      expect(parser.push(bytes)).toEqual([])
      expect(parser.fault() ?? parser.isOpen()).not.toBe(false)
    }
  })

  test.each([
    ['of a gibibyte', sealed(new Uint8Array(4), { total: 2 ** 30 })],
    ['below its content', sealed(new Uint8Array(4), { total: 12 })],
    ['with headers beyond the message', sealed(new Uint8Array(4), { headers: 5 })],
    ['with headers beyond everything', sealed(new Uint8Array(4), { headers: 2 ** 32 - 1 })],
    ['with a header beyond the headers', sealed(Uint8Array.from([1, 97, 7, 255, 255]))],
    ['with a name beyond the headers', sealed(Uint8Array.from([200, 97, 7]))],
    ['with an unknown header type', sealed(Uint8Array.from([1, 97, 10, 0]))],
  ])('E13: a wrong message length %s is detected before more bytes are buffered', (_, bytes) => {
    const parser = createEventStreamParser()
    expect(parser.push(bytes)).toEqual([])
    expect(parser.fault()).toMatch(/cannot be$/)
    expect(parser.isOpen()).toBe(false)
    expect(parser.push(FRAMES[0] ?? bytes)).toEqual([])
  })

  test('E13: a stream that ends within a message is incomplete', () => {
    const parser = createEventStreamParser()
    expect(parser.push(ALL.subarray(0, (FRAMES[0]?.length ?? 0) + 5))).toHaveLength(1)
    expect(parser.isOpen()).toBe(true)
  })
})

test.each([SEED, SEED + 1, SEED + 2])(
  'random streams, seed %p: read as by AWS’ codec, however split; a corrupted stream is never read as another',
  (seed) => {
    const message = fc.record({
      headers: fc.dictionary(
        fc.string({ minLength: 1, maxLength: 20 }).filter((name) => name !== '__proto__'),
        fc.string({ maxLength: 50 }),
        { maxKeys: 4 },
      ),
      payload: fc.uint8Array({ maxLength: 2000 }),
    })
    const cuts = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 5 }), cuts, fc.nat(), (drawn, sizes, flip) => {
        const frames = drawn.map(({ headers, payload }) => frame(headers, payload))
        const theirs = frames.map(decodeFrame)
        const bytes = Buffer.concat(frames)
        const ours = parse(bytes, ...sizes).map(({ headers, payload }) => ({
          headers: Object.fromEntries(headers),
          payload: [...payload],
        }))
        expect(ours).toEqual(theirs)
        const at = flip % bytes.length
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (flip % 8))
        const parser = createEventStreamParser()
        const left = parser.push(bytes).map(({ payload }) => [...payload])
        expect(left.length).toBeLessThan(frames.length)
        expect(left).toEqual(ours.slice(0, left.length).map(({ payload }) => payload))
        expect(parser.fault() ?? parser.isOpen()).not.toBe(false)
      }),
      { seed, numRuns: 100 },
    )
  },
)
