/** Encodes blocks as the content of a responses message. */
import { invalidRequest } from '@/chat/error'
import type { CacheHint, ContentBlock, FileBlock, ImageBlock, MediaSource } from '@/chat/request'
import { filenameFor, formatDataUrl, isText, textDocument } from '@/formats/media'
import { encodeParts, foreignFile } from '@/formats/openai'
import { QUIRKS } from '@/formats/responses/provider'
import type { JsonObject } from '@/lib/json'

/** A text part; `mark` contains additional fields, such as a cache hint. */
export function textPart(text: string, mark: JsonObject = {}): JsonObject {
  return { type: 'input_text', text, ...mark }
}

/** The parts for one block of a user turn or a result. Throws a GatewayError `invalid_request` if this format can't express it. */
export function encodeUserBlock(block: ContentBlock, quirks: ReadonlySet<string>): JsonObject[] {
  return encodeParts(block, ENCODERS, (hint) => encodeCache(hint, quirks))
}

const ENCODERS = { text: textPart, image: encodeImagePart, file: encodeFilePart }

function encodeImagePart({ source, detail }: ImageBlock): JsonObject {
  return { type: 'input_image', ...encodeImageSource(source), detail: detail ?? 'auto' }
}

function encodeImageSource(source: MediaSource): JsonObject {
  if (source.type === 'file-id') return { file_id: ownFileId(source) }
  return { image_url: source.type === 'base64' ? formatDataUrl(source.mediaType, source.data) : source.url }
}

function encodeFilePart({ source, filename, context }: FileBlock): JsonObject[] {
  const mediaType = source.type === 'file-id' ? undefined : source.mediaType?.toLowerCase()
  const kind = mediaType?.split('/')[0]
  if (kind === 'video' || kind === 'audio') throw invalidRequest(`This model takes no ${kind} as a file`)
  const lead = context ? [textPart(context)] : []
  if (source.type === 'text') return [...lead, textPart(textDocument(source.text, filename))]
  if (kind === 'image') return [...lead, { type: 'input_image', ...encodeImageSource(source), detail: 'auto' }]
  if (source.type === 'file-id') return [...lead, { type: 'input_file', file_id: ownFileId(source) }]
  if (source.type === 'url') return [...lead, { type: 'input_file', file_url: source.url }]
  if (isText(source.mediaType)) {
    const text = Buffer.from(source.data, 'base64').toString('utf8')
    return [...lead, textPart(textDocument(text, filename))]
  }
  const name = filenameFor(source.mediaType, filename)
  return [...lead, { type: 'input_file', filename: name, file_data: formatDataUrl(source.mediaType, source.data) }]
}

function ownFileId({ id, format }: Extract<MediaSource, { type: 'file-id' }>): string {
  if (format !== 'responses') throw foreignFile()
  return id
}

/** The cache field, as an object to spread into a part: empty without a hint, or if the provider would refuse it. */
export function encodeCache(cache: CacheHint | undefined, quirks: ReadonlySet<string>): JsonObject {
  if (!cache || !quirks.has(QUIRKS.cacheBreakpoints)) return {}
  return { prompt_cache_breakpoint: { mode: 'explicit', ttl: cache.ttl === '1h' ? '12h' : '30m' } }
}
