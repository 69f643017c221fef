/** The token bound of sounds: by their length if each second has a fixed size, otherwise a whole context. */
import { describe, expect, test } from 'bun:test'
import { soundTokens, TOKENS_PER_SECOND } from '@/catalog/media/sound-tokens'

const UNKNOWN = Number.POSITIVE_INFINITY

type Wav = { codec?: number; channels?: number; rate?: number; bits?: number; stated?: number; more?: string }

function wav(seconds: number, { codec = 1, channels = 1, rate = 16_000, bits = 16, stated, more = '' }: Wav = {}) {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0, 'latin1')
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(codec, 20)
  header.writeUInt16LE(channels, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(stated ?? (rate * channels * bits) / 8, 28)
  header.writeUInt16LE(bits, 34)
  header.write('data', 36, 'latin1')
  return Buffer.concat([header, Buffer.from(more), Buffer.alloc((seconds * rate * channels * bits) / 8)])
}

/** Frames of MPEG-2 layer III at 8 kbit/s and 16 kHz: 36 bytes for 36 ms. */
function mp3(frames: number, header = [0xff, 0xf3, 0x18, 0xc4]): Buffer {
  return Buffer.concat(Array.from({ length: frames }, () => Buffer.concat([Buffer.from(header), Buffer.alloc(32)])))
}

describe('a plain WAV', () => {
  test.each<[Wav]>([[{}], [{ rate: 8_000, bits: 8 }], [{ channels: 2, rate: 44_100 }], [{ rate: 100, bits: 8 }]])(
    'a plain WAV of the form %p has as many tokens as its seconds',
    (form) => {
      const tokens = soundTokens(wav(3_600, form))
      expect(tokens).toBeGreaterThanOrEqual(3_600 * TOKENS_PER_SECOND)
      expect(tokens).toBeLessThan(3_601 * TOKENS_PER_SECOND)
    },
  )

  test('a WAV whose header states a lower rate counts as longer', () => {
    expect(soundTokens(wav(60, { stated: 320 }))).toBeGreaterThanOrEqual(6_000 * TOKENS_PER_SECOND)
  })

  test.each<[string, Buffer]>([
    ['another codec', wav(1, { codec: 0x55 })],
    ['no rate', wav(1, { stated: 0 })],
    ['no channel', wav(1, { channels: 0 })],
    ['two formats', wav(1, { more: 'fmt ' })],
    ['a header that is cut', wav(1).subarray(0, 30)],
  ])('a WAV with %s has an unknown length', (_, bytes) => {
    expect(soundTokens(bytes)).toBe(UNKNOWN)
  })
})

describe('an MP3', () => {
  test('an MP3 at the lowest bit rate stays within its bound, also with a tag before it', () => {
    const seconds = 0.036 * 10_000
    expect(soundTokens(mp3(10_000))).toBeGreaterThanOrEqual(seconds * TOKENS_PER_SECOND)
    expect(soundTokens(mp3(10_000))).toBeLessThan(seconds * TOKENS_PER_SECOND * 1.1)
    const tag = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 5, 1, 2, 3, 4, 5])
    expect(soundTokens(Buffer.concat([tag, mp3(1_000)]))).toBeLessThan(2_000)
  })

  test.each<[string, Buffer]>([
    ['in the free format', mp3(10, [0xff, 0xf3, 0x08, 0xc4])],
    ['of another layer', mp3(10, [0xff, 0xf5, 0x18, 0xc4])],
    ['that is an AAC', mp3(10, [0xff, 0xf1, 0x50, 0x80])],
    ['that is only a tag', Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0x7f, 0x7f, 0x7f, 0x7f])],
    ['of no bytes', Buffer.alloc(0)],
    ['that is an Ogg', Buffer.from('OggS and hours of silence')],
  ])('an MP3 %s has an unknown length', (_, bytes) => {
    expect(soundTokens(bytes)).toBe(UNKNOWN)
  })
})
