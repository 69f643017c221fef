/** Blocks of the hub as the content of a responses message. */
import { type GatewayError, invalidRequest } from '@/chat/error'
import type { ContentBlock, FileBlock, ImageBlock, MediaSource } from '@/chat/request'
import { audioFormat, filenameFor, formatDataUrl, isText, textDocument } from '@/formats/media'
import type { JsonObject } from '@/lib/json'
import { encodeCache } from './encode-cache'

/** A part that is only text; `mark` is what else it says. */
export function textPart(text: string, mark: JsonObject = {}): JsonObject {
  return { type: 'input_text', text, ...mark }
}

/** The parts of one block of a user turn or a result. Throws a GatewayError `invalid_request` where it can't be said in this format. */
export function encodeUserBlock(block: ContentBlock, quirks: ReadonlySet<string>): JsonObject[] {
  const parts = encodeBlock(block)
  const last = parts.at(-1)
  // One block may become several parts: a hint covers what stands before it.
  if (last && 'cache' in block) Object.assign(last, encodeCache(block.cache, quirks))
  return parts
}

function encodeBlock(block: ContentBlock): JsonObject[] {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return block.text === '' ? [] : [textPart(block.text)]
    case 'image':
      return [encodeImagePart(block)]
    case 'file':
      return encodeFilePart(block)
    case 'audio': {
      const format = audioFormat(block.mediaType)
      if (!format) throw invalidRequest(`This model takes audio as wav or mp3, not ${shown(block.mediaType)}`)
      return [{ type: 'input_audio', input_audio: { data: block.data, format } }]
    }
    default:
      return []
  }
}

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

function foreignFile(): GatewayError {
  return invalidRequest('This model cannot read a file that was uploaded elsewhere; send its content instead')
}

const MAX_SHOWN_CHARS = 60

function shown(value: string): string {
  return JSON.stringify(value.slice(0, MAX_SHOWN_CHARS))
}
