/** `data:` URLs, media types and documents, for formats in OpenAI's style. */
import type { MediaSource } from '@/chat/request'

type Base64 = { mediaType: string; data: string }

const DEFAULT_MEDIA_TYPE = 'application/octet-stream'

/** The source in a URL: bytes for a `data:` URL, else the URL itself. */
export function decodeUrl(url: string): Extract<MediaSource, { type: 'base64' | 'url' }> {
  const bytes = parseDataUrl(url)
  return bytes ? { type: 'base64', ...bytes } : { type: 'url', url }
}

/** The parts of a `data:` URL with its payload as base64; undefined for another URL. Takes linear time. */
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

/** Bytes as a `data:` URL. */
export function formatDataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`
}

const MEDIA_TYPE_OF_AUDIO_FORMAT: ReadonlyMap<string, string> = new Map([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mpeg'],
])

const AUDIO_FORMAT_OF_MEDIA_TYPE: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/vnd.wave', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp3', 'mp3'],
])

/** The media type of an `input_audio.format`. */
export function audioMediaType(format: string): string {
  return MEDIA_TYPE_OF_AUDIO_FORMAT.get(format.toLowerCase()) ?? `audio/${format.toLowerCase()}`
}

/** The `input_audio.format` of a media type; undefined if there is none. */
export function audioFormat(mediaType: string): string | undefined {
  return AUDIO_FORMAT_OF_MEDIA_TYPE.get(mediaType.toLowerCase())
}

const MEDIA_TYPE_OF_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['json', 'application/json'],
  ['html', 'text/html'],
  ['rtf', 'application/rtf'],
  ['odt', 'application/vnd.oasis.opendocument.text'],
  ['doc', 'application/msword'],
  ['xls', 'application/vnd.ms-excel'],
  ['ppt', 'application/vnd.ms-powerpoint'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
])
const EXTENSION_OF_MEDIA_TYPE: ReadonlyMap<string, string> = new Map(
  [...MEDIA_TYPE_OF_EXTENSION].map(([extension, mediaType]) => [mediaType, extension]),
)

/** The media type that a file name suggests; by default PDF, the one file type that every provider reads. */
export function mediaTypeOfFilename(filename: string | undefined): string {
  const extension = filename?.split('.').pop()?.toLowerCase() ?? ''
  return MEDIA_TYPE_OF_EXTENSION.get(extension) ?? 'application/pdf'
}

/** A file's name for the provider, with the extension of its type: services recognise the type by it. */
export function filenameFor(mediaType: string, given: string | undefined): string {
  const name = given || 'file'
  const extension = EXTENSION_OF_MEDIA_TYPE.get(mediaType.split(';')[0]?.trim().toLowerCase() ?? '')
  return extension === undefined || name.toLowerCase().endsWith(`.${extension}`) ? name : `${name}.${extension}`
}

function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Whether a file can be sent as text, since few services accept files other than PDF. */
export function isText(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json'
}

/** A text file as text; if it has a name, marked with start and end. */
export function textDocument(text: string, filename: string | undefined): string {
  return filename === undefined ? text : `<document name=${JSON.stringify(filename)}>\n${text}\n</document>`
}
