/** Computes the maximum tokens of a sound from its size, if its format has a minimum number of bytes per second. */

/** Maximum tokens per second of sound at any provider. */
export const TOKENS_PER_SECOND = 32
/** 8 kbit/s, the lowest bit rate of MPEG layer III. Its free format, which has no lowest rate, is not recognised. */
const MP3_BYTES_PER_SECOND = 1_000
/** Codecs with a constant bit rate: PCM, floating point, A-law and µ-law. */
const PLAIN_CODECS: ReadonlySet<number> = new Set([1, 3, 6, 7])
const FORMAT_CHUNK = 'fmt '
const FORMAT_CHUNK_AT = 12
const WAV_HEADER_BYTES = 36

/** Maximum tokens of a sound. Infinity if its rate is unknown: some codecs store hours of silence in a few bytes. */
export function soundTokens(bytes: Buffer): number {
  const bytesPerSecond = wavRate(bytes) ?? (isMp3(bytes) ? MP3_BYTES_PER_SECOND : 0)
  return bytesPerSecond > 0 ? Math.ceil((bytes.length / bytesPerSecond) * TOKENS_PER_SECOND) : Number.POSITIVE_INFINITY
}

/** Bytes per second of an uncompressed WAV: the lower of the stated and the computed rate. */
function wavRate(bytes: Buffer): number | undefined {
  if (bytes.length < WAV_HEADER_BYTES || !isAt(bytes, 'RIFF', 0) || !isAt(bytes, 'WAVE', 8)) return undefined
  if (!isAt(bytes, FORMAT_CHUNK, FORMAT_CHUNK_AT)) return undefined
  // If there are two format chunks, some readers use the first one, and some the second.
  if (bytes.indexOf(FORMAT_CHUNK, FORMAT_CHUNK_AT + 1, 'latin1') !== -1) return undefined
  if (!PLAIN_CODECS.has(bytes.readUInt16LE(20))) return undefined
  const [channels, samples] = [bytes.readUInt16LE(22), bytes.readUInt32LE(24)]
  const [stated, bits] = [bytes.readUInt32LE(28), bytes.readUInt16LE(34)]
  return Math.min(stated, (samples * channels * bits) / 8)
}

function isMp3(bytes: Buffer): boolean {
  const start = isAt(bytes, 'ID3', 0) ? tagBytes(bytes) : 0
  const [sync = 0, version = 0, rates = 0] = bytes.subarray(start, start + 3)
  if (sync !== 0xff || (version & 0xe0) !== 0xe0) return false
  const [layer, bitRate, sampleRate] = [(version >> 1) & 3, rates >> 4, (rates >> 2) & 3]
  return layer === 1 && bitRate > 0 && bitRate < 15 && sampleRate < 3
}

/** The bytes of an ID3 tag: its header, and the size, which has seven bits in each of four bytes. */
function tagBytes(bytes: Buffer): number {
  const sizes = [...bytes.subarray(6, 10)]
  return sizes.reduce((sum, part) => sum * 128 + (part & 0x7f), 0) + 10
}

function isAt(bytes: Buffer, text: string, at: number): boolean {
  return bytes.toString('latin1', at, at + text.length) === text
}
