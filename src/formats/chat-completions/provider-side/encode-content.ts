/** Blocks of the hub as the content of a chat-completions user message. */
import { invalidRequest } from '@/chat/error'
import type { CacheHint, ContentBlock, FileBlock, ImageBlock } from '@/chat/request'
import { QUIRKS } from '@/formats/chat-completions/provider'
import { filenameFor, formatDataUrl, isText, textDocument } from '@/formats/media'
import { encodeParts, foreignFile } from '@/formats/openai'
import { isJsonObject, type JsonObject } from '@/lib/json'

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
  return encodeParts(block, ENCODERS, (hint) => encodeCache(hint, quirks))
}

const ENCODERS = { text: textPart, image: encodeImagePart, file: encodeFilePart }

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

/** The most breakpoints that the models behind such services take. */
const MAX_BREAKPOINTS = 4

/** The field to spread into a wire object: nothing if there is no hint, or where the provider would refuse it. */
export function encodeCache(cache: CacheHint | undefined, quirks: ReadonlySet<string>): JsonObject {
  if (!cache || !quirks.has(QUIRKS.cacheControl)) return {}
  return { cache_control: cache.ttl === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' } }
}

/** Takes the earliest breakpoints away where there are too many, since a later one covers the prompt before it. */
export function limitBreakpoints(tools: readonly JsonObject[], messages: readonly JsonObject[]): number {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isJsonObject) : []))
  const marked = [...tools, ...parts].filter((object) => object.cache_control !== undefined)
  const excess = Math.max(0, marked.length - MAX_BREAKPOINTS)
  for (const object of marked.slice(0, excess)) delete object.cache_control
  return excess
}
