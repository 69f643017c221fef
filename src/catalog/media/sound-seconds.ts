/** Measures a sound file in seconds: by its headers if they are plausible, else the maximum and the usual length for its size. */

/** `known`: the length that the file states, or the sum of its frames. */
export type SoundSeconds = { known?: number; most: number; likely: number }

/** Usual bytes per second of speech: 128 kbit/s. */
const USUAL_RATE = 16_000
/** Minimum bytes per second of speech codecs: 4 kbit/s. It bounds only files whose format is unknown or unreadable. */
const LEAST_RATE = 500
/** 8 kbit/s, the lowest rate of MPEG layer III. */
const LEAST_MP3_RATE = 1_000
/** Maximum bytes per second of compressed sound with pictures. A header is ignored if its length would need a higher rate. */
const MOST_RATE = 1_000_000

/** More seconds than any accepted file can contain. */
const MAX_SECONDS = 1_000_000

/** Measures `bytes`. Takes linear time; never throws. */
export function soundSeconds(bytes: Buffer): SoundSeconds {
  const mp3 = isMp3(bytes)
  const stated = mp3 ? mp3Seconds(bytes) : headerSeconds(bytes)
  const least = bytes.length / MOST_RATE
  const most = Math.ceil(bytes.length / (mp3 ? LEAST_MP3_RATE : LEAST_RATE)) || 1
  const likely = Math.min(Math.ceil(bytes.length / USUAL_RATE) || 1, most)
  const isPlausible = stated !== undefined && stated > 0 && stated >= least && stated < MAX_SECONDS
  return isPlausible ? { known: Math.ceil(stated), most, likely } : { most, likely }
}

function headerSeconds(bytes: Buffer): number | undefined {
  try {
    if (isAt(bytes, 'RIFF', 0)) return wavSeconds(bytes)
    if (isAt(bytes, 'fLaC', 0)) return flacSeconds(bytes)
    if (isAt(bytes, 'OggS', 0)) return oggSeconds(bytes)
    if (isAt(bytes, 'ftyp', 4)) return mp4Seconds(bytes)
    if (bytes.length > 4 && bytes.readUInt32BE(0) === EBML_MAGIC) return webmSeconds(bytes)
    return undefined
  } catch (error) {
    // The header is longer than the file.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** A WAV file's length: all bytes after the start of its data chunk, divided by the rate. The chunk's stated size may be wrong. */
function wavSeconds(bytes: Buffer): number | undefined {
  let rate = 0
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32LE(at + 4)
    if (isAt(bytes, 'fmt ', at)) {
      const [channels, samples] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 12)]
      const [stated, bits] = [bytes.readUInt32LE(at + 16), bytes.readUInt16LE(at + 22)]
      const computed = (samples * channels * bits) / 8
      rate = computed > 0 ? Math.min(stated, computed) : stated
    }
    if (isAt(bytes, 'data', at)) return rate > 0 ? (bytes.length - at - 8) / rate : undefined
    at += 8 + size + (size % 2)
  }
  return undefined
}

/** A FLAC file's length: the number of samples that its first block states, divided by the rate. */
function flacSeconds(bytes: Buffer): number | undefined {
  const rate = bytes.readUIntBE(18, 3) >> 4
  const samples = (bytes.readUInt8(21) & 0x0f) * 2 ** 32 + bytes.readUInt32BE(22)
  return rate > 0 && samples > 0 ? samples / rate : undefined
}

const OPUS_RATE = 48_000
const OGG_HEADER_BYTES = 27

/** An Ogg file's length: the position of its last page, divided by the rate in its first packet. */
function oggSeconds(bytes: Buffer): number | undefined {
  const packet = OGG_HEADER_BYTES + bytes.readUInt8(26)
  const isOpus = isAt(bytes, 'OpusHead', packet)
  const isVorbis = isAt(bytes, 'vorbis', packet + 1)
  const rate = isOpus ? OPUS_RATE : isVorbis ? bytes.readUInt32LE(packet + 12) : 0
  const last = bytes.lastIndexOf('OggS', bytes.length, 'latin1')
  if (rate === 0 || last < 0) return undefined
  return Number(bytes.readBigUInt64LE(last + 6)) / rate
}

/** An MP4 file's length: the duration in `moov/mvhd`. It is 0, and so unknown, in fragmented files. */
function mp4Seconds(bytes: Buffer): number | undefined {
  const moov = findBox(bytes, 0, bytes.length, 'moov')
  const mvhd = moov && findBox(bytes, moov.start, moov.end, 'mvhd')
  if (!mvhd) return undefined
  const isLong = bytes.readUInt8(mvhd.start) === 1
  const scale = bytes.readUInt32BE(mvhd.start + (isLong ? 20 : 12))
  const duration = isLong ? Number(bytes.readBigUInt64BE(mvhd.start + 24)) : bytes.readUInt32BE(mvhd.start + 16)
  return scale > 0 ? duration / scale : undefined
}

function findBox(bytes: Buffer, from: number, to: number, name: string): { start: number; end: number } | undefined {
  for (let at = from; at + 8 <= to; ) {
    const isLong = bytes.readUInt32BE(at) === 1
    const size = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : bytes.readUInt32BE(at)
    const head = isLong ? 16 : 8
    // A size of 0 means: to the end.
    const end = size === 0 ? to : at + size
    if (end < at + head || end > to) return undefined
    if (isAt(bytes, name, at + 4)) return { start: at + head, end }
    at = end
  }
  return undefined
}

const EBML_MAGIC = 0x1a45dfa3
const SEGMENT_ID = 0x18538067
const INFO_ID = 0x1549a966
const TIMECODE_SCALE_ID = 0x2ad7b1
const DURATION_ID = 0x4489
const DEFAULT_TIMECODE_SCALE = 1_000_000

/** A WebM file's length: its `Segment/Info/Duration`. Recordings made by browsers have none. */
function webmSeconds(bytes: Buffer): number | undefined {
  const segment = findElement(bytes, 0, bytes.length, SEGMENT_ID)
  const info = segment && findElement(bytes, segment.start, segment.end, INFO_ID)
  const duration = info && findElement(bytes, info.start, info.end, DURATION_ID)
  if (!duration) return undefined
  const scale = findElement(bytes, info.start, info.end, TIMECODE_SCALE_ID)
  const perTick = scale ? bytes.readUIntBE(scale.start, Math.min(scale.end - scale.start, 6)) : DEFAULT_TIMECODE_SCALE
  const isShort = duration.end - duration.start === 4
  const ticks = isShort ? bytes.readFloatBE(duration.start) : bytes.readDoubleBE(duration.start)
  return (ticks * perTick) / 1e9
}

function findElement(
  bytes: Buffer,
  from: number,
  to: number,
  wanted: number,
): { start: number; end: number } | undefined {
  for (let at = from; at < to; ) {
    const idBytes = Math.clz32(bytes.readUInt8(at)) - 23
    if (idBytes > 4) return undefined
    const id = bytes.readUIntBE(at, idBytes)
    const first = bytes.readUInt8(at + idBytes)
    const sizeBytes = Math.clz32(first) - 23
    if (sizeBytes > 8) return undefined
    let size = first - (1 << (8 - sizeBytes))
    let isUnknown = size === (1 << (8 - sizeBytes)) - 1
    for (let index = 1; index < sizeBytes; index++) {
      const byte = bytes.readUInt8(at + idBytes + index)
      isUnknown &&= byte === 0xff
      size = size * 256 + byte
    }
    const start = at + idBytes + sizeBytes
    const end = isUnknown ? to : Math.min(start + size, to)
    if (id === wanted) return { start, end }
    at = end
  }
  return undefined
}

const MP3_VERSIONS = [2.5, 0, 2, 1]
const MP3_RATES = [44_100, 48_000, 32_000]
/** kbit/s by the header's index: for MPEG version 1, and for versions 2 and 2.5. */
const MP3_BITS_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const MP3_BITS_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]

/** Maximum gaps between frames. A normal file has few. */
const MAX_GAPS = 10_000

/** The length of all frames together. A decoder plays that, whatever a header states. */
function mp3Seconds(bytes: Buffer): number | undefined {
  let seconds = 0
  let gaps = 0
  for (let at = startOfMp3(bytes); at + 4 <= bytes.length; ) {
    const frame = mp3Frame(bytes, at)
    if (frame) {
      seconds += frame.seconds
      at += frame.bytes
    } else {
      // No frame begins here, but other data, such as a tag.
      const next = bytes.indexOf(0xff, at + 1)
      if (next === -1) break
      if (++gaps > MAX_GAPS) return undefined
      at = next
    }
  }
  // Rounded, because a sum of thousands of fractions is inexact.
  return seconds > 0 ? Math.round(seconds * 1_000_000) / 1_000_000 : undefined
}

function mp3Frame(bytes: Buffer, at: number): { bytes: number; seconds: number } | undefined {
  const [sync, kind = 0, rates = 0] = [bytes[at], bytes[at + 1], bytes[at + 2]]
  const version = MP3_VERSIONS[(kind >> 3) & 3] ?? 0
  if (sync !== 0xff || (kind & 0xe0) !== 0xe0 || version === 0 || ((kind >> 1) & 3) !== 1) return undefined
  const bits = (version === 1 ? MP3_BITS_1 : MP3_BITS_2)[rates >> 4] ?? 0
  const base = MP3_RATES[(rates >> 2) & 3]
  if (bits === 0 || base === undefined) return undefined
  const rate = base / (version === 1 ? 1 : version === 2 ? 2 : 4)
  const samples = version === 1 ? 1_152 : 576
  const size = Math.floor(((samples / 8) * bits * 1_000) / rate) + ((rates >> 1) & 1)
  return { bytes: size, seconds: samples / rate }
}

function isMp3(bytes: Buffer): boolean {
  return mp3Frame(bytes, startOfMp3(bytes)) !== undefined
}

/** The position after an ID3 tag at the start. The tag's size has seven bits in each of four bytes. */
function startOfMp3(bytes: Buffer): number {
  if (!isAt(bytes, 'ID3', 0)) return 0
  return [...bytes.subarray(6, 10)].reduce((sum, part) => sum * 128 + (part & 0x7f), 0) + 10
}

function isAt(bytes: Buffer, text: string, at: number): boolean {
  return bytes.toString('latin1', at, at + text.length) === text
}
