/** Blocks of the hub as the content of a chat-completions user message. */
import { type GatewayError, invalidRequest } from '@/chat/error'
import type { ContentBlock, FileBlock, ImageBlock } from '@/chat/request'
import { audioFormat, filenameFor, formatDataUrl, isText, textDocument } from '@/formats/media'
import type { JsonObject } from '@/lib/json'
import { encodeCache } from './encode-cache'

/** One string where the parts are one text (or where `asString` wants all texts joined), else the parts. */
export function partsAsContent(parts: JsonObject[], asString: boolean): string | JsonObject[] {
  const texts = parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : []))
  const isMarked = !asString && parts.some((part) => part.cache_control !== undefined)
  const isAllText = texts.length === parts.length && !isMarked
  return isAllText && (asString || texts.length <= 1) ? texts.join('\n\n') : parts
}

/** A part that is only text; `mark` is what else it says. */
export function textPart(text: string, mark: JsonObject = {}): JsonObject {
  return { type: 'text', text, ...mark }
}

/** The parts of one block of a user turn. Throws a GatewayError `invalid_request` where it can't be said in this format. */
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

function encodeImagePart(image: ImageBlock): JsonObject {
  const { source } = image
  if (source.type === 'file-id') return encodeFileId(source)
  const url = source.type === 'base64' ? formatDataUrl(source.mediaType, source.data) : source.url
  return { type: 'image_url', image_url: { url, ...(image.detail && { detail: image.detail }) } }
}

function encodeFilePart(file: FileBlock): JsonObject[] {
  const { source, filename, context } = file
  // A service that takes videos does so in a part of its own, which this format has none for.
  const kind = source.type === 'file-id' ? undefined : source.mediaType?.split('/')[0]?.toLowerCase()
  if (kind === 'video' || kind === 'audio') throw invalidRequest(`This model takes no ${kind} as a file`)
  const lead = context ? [textPart(context)] : []
  if (source.type === 'text') return [...lead, textPart(textDocument(source.text, filename))]
  if (source.type === 'file-id') return [...lead, encodeFileId(source)]
  if (source.type === 'url') {
    if (source.mediaType?.startsWith('image/')) return [...lead, { type: 'image_url', image_url: { url: source.url } }]
    throw invalidRequest('This model cannot read a file from a URL; send its content as base64')
  }
  if (isText(source.mediaType)) {
    const text = Buffer.from(source.data, 'base64').toString('utf8')
    return [...lead, textPart(textDocument(text, filename))]
  }
  const name = filenameFor(source.mediaType, filename)
  const data = formatDataUrl(source.mediaType, source.data)
  return [...lead, { type: 'file', file: { filename: name, file_data: data } }]
}

function encodeFileId(source: Extract<FileBlock['source'], { type: 'file-id' }>): JsonObject {
  if (source.format !== 'chat-completions') throw foreignFile()
  return { type: 'file', file: { file_id: source.id } }
}

function foreignFile(): GatewayError {
  return invalidRequest('This model cannot read a file that was uploaded elsewhere; send its content instead')
}

const MAX_SHOWN_CHARS = 60

function shown(value: string): string {
  return JSON.stringify(value.slice(0, MAX_SHOWN_CHARS))
}
