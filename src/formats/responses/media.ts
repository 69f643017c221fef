/** `data:` URLs and media types: how bytes travel inside responses requests. */
import type { MediaSource } from '@/chat/request'

type Base64 = { mediaType: string; data: string }

const DEFAULT_MEDIA_TYPE = 'application/octet-stream'

/** What a URL in a request points at: bytes where it is a `data:` URL, else an address. */
export function decodeUrl(url: string): MediaSource {
  const bytes = parseDataUrl(url)
  return bytes ? { type: 'base64', ...bytes } : { type: 'url', url }
}

/** The parts of a `data:` URL with its payload as base64, or undefined where `url` is none. Linear in its length. */
export function parseDataUrl(url: string): Base64 | undefined {
  if (!/^data:/i.test(url)) return undefined
  const comma = url.indexOf(',')
  if (comma === -1) return undefined
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).split(';')
  const payload = url.slice(comma + 1)
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')
  return {
    mediaType: mediaType.trim().toLowerCase() || DEFAULT_MEDIA_TYPE,
    data: isBase64 ? payload : Buffer.from(percentDecode(payload)).toString('base64'),
  }
}

const MEDIA_TYPE_OF_AUDIO_FORMAT: ReadonlyMap<string, string> = new Map([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mpeg'],
])

/** The media type of an `input_audio.format`. */
export function audioMediaType(format: string): string {
  return MEDIA_TYPE_OF_AUDIO_FORMAT.get(format.toLowerCase()) ?? `audio/${format.toLowerCase()}`
}

const MEDIA_TYPE_OF_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['json', 'application/json'],
  ['html', 'text/html'],
])

/** The media type a file name suggests; PDF where it suggests nothing, the one file kind that every provider reads. */
export function mediaTypeOfFilename(filename: string | undefined): string {
  const extension = filename?.split('.').pop()?.toLowerCase() ?? ''
  return MEDIA_TYPE_OF_EXTENSION.get(extension) ?? 'application/pdf'
}

function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
