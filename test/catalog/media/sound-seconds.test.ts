/** The length of sound files: as their headers state, and never shorter than their bytes allow. */
import { describe, expect, test } from 'bun:test'
import { mp3Of, wavOf } from '@test/gateway/media/sounds'
import { fc } from '@test/support/property'
import { soundSeconds } from '@/catalog/media/sound-seconds'

function box(name: string, ...inside: Buffer[]): Buffer {
  const body = Buffer.concat(inside)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8, 0)
  head.write(name, 4, 'latin1')
  return Buffer.concat([head, body])
}

function mp4Of(seconds: number): Buffer {
  const header = Buffer.alloc(20)
  header.writeUInt32BE(1_000, 12)
  header.writeUInt32BE(seconds * 1_000, 16)
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A ')),
    box('mdat', Buffer.alloc(4_000)),
    box('moov', box('free'), box('mvhd', header)),
  ])
}

function flacOf(seconds: number): Buffer {
  const bytes = Buffer.alloc(2_000)
  bytes.write('fLaC', 0, 'latin1')
  bytes.writeUIntBE(16_000 << 4, 18, 3)
  bytes.writeUInt32BE(seconds * 16_000, 22)
  return bytes
}

function page(granule: number, body: Buffer): Buffer {
  const head = Buffer.alloc(28)
  head.write('OggS', 0, 'latin1')
  head.writeBigUInt64LE(BigInt(granule), 6)
  head.writeUInt8(1, 26)
  head.writeUInt8(body.length, 27)
  return Buffer.concat([head, body])
}

function opusOf(seconds: number): Buffer {
  return Buffer.concat([page(0, Buffer.from('OpusHead0123456789')), page(seconds * 48_000, Buffer.alloc(200))])
}

function vorbisOf(seconds: number): Buffer {
  const head = Buffer.alloc(30)
  head.write('\x01vorbis', 0, 'latin1')
  head.writeUInt32LE(44_100, 12)
  return Buffer.concat([page(0, head), page(seconds * 44_100, Buffer.alloc(200))])
}

function element(id: number[], body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([...id, 0x40 | (body.length >> 8), body.length & 0xff]), body])
}

function webmOf(seconds: number): Buffer {
  const ticks = Buffer.alloc(8)
  ticks.writeDoubleBE(seconds * 1_000)
  const info = element([0x15, 0x49, 0xa9, 0x66], element([0x44, 0x89], ticks))
  const head = element([0x1a, 0x45, 0xdf, 0xa3], Buffer.alloc(4))
  const segment = [0x18, 0x53, 0x80, 0x67, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]
  return Buffer.concat([head, Buffer.from(segment), info, Buffer.alloc(500)])
}

const FILES: readonly (readonly [string, Buffer, number])[] = [
  ['WAV', wavOf(12.5), 13],
  ['MP3', mp3Of(1_000), 24],
  ['MP4', mp4Of(61), 61],
  ['FLAC', flacOf(30), 30],
  ['Ogg with Opus', opusOf(9), 9],
  ['Ogg with Vorbis', vorbisOf(7), 7],
  ['WebM', webmOf(42), 42],
]

describe('the length of a sound file', () => {
  test.each(FILES)('%s: the length is the seconds that the file states or plays', (_, bytes, seconds) => {
    expect(soundSeconds(bytes).known).toBe(seconds)
  })

  test('an MP3 with a tag before and after its frames has the length of its frames', () => {
    const tag = Buffer.alloc(138)
    tag.write('ID3', 0, 'latin1')
    tag.writeUInt8(1, 8)
    const bytes = Buffer.concat([tag, mp3Of(500), Buffer.from('TAGsomething')])
    expect(soundSeconds(bytes).known).toBe(12)
  })

  test('a WAV whose data chunk states too small a size has the length of its bytes', () => {
    const bytes = wavOf(20)
    bytes.writeUInt32LE(8, 40)
    expect(soundSeconds(bytes).known).toBe(20)
  })

  test('a sound file that states an implausibly short length is measured by its bytes', () => {
    const bytes = Buffer.concat([mp4Of(1), Buffer.alloc(3_000_000)])
    expect(soundSeconds(bytes)).toMatchObject({ most: Math.ceil(bytes.length / 500) })
    expect(soundSeconds(bytes).known).toBeUndefined()
  })

  test.each(FILES.map(([name, bytes]) => [name, bytes] as const))(
    '%s: a sound file cut at any byte is measured without an error',
    (_, bytes) => {
      for (let length = 0; length < bytes.length; length += 1 + Math.floor(bytes.length / 300)) {
        const { known = 1, most, likely } = soundSeconds(bytes.subarray(0, length))
        expect([known > 0, most > 0, likely > 0, likely <= most]).toEqual([true, true, true, true])
      }
    },
  )

  test('a sound file with any magic bytes and any content has a finite length', () => {
    const magic = fc.constantFrom(
      ...FILES.map(([, bytes]) => bytes.subarray(0, 40)),
      Buffer.from([0x1a, 0x45, 0xdf, 0xa3]),
      Buffer.alloc(0),
    )
    fc.assert(
      fc.property(magic, fc.uint8Array({ maxLength: 400 }), (start, rest) => {
        const { known = 1, most, likely } = soundSeconds(Buffer.concat([start, rest]))
        expect([known, most, likely].every((seconds) => Number.isSafeInteger(seconds) && seconds > 0)).toBe(true)
      }),
    )
  })

  test('the search for frames ends early in millions of bytes that look like the start of one', () => {
    const bytes = Buffer.concat([mp3Of(2), Buffer.alloc(20_000_000, 0xff)])
    expect(soundSeconds(bytes).known).toBeUndefined()
  })
})
