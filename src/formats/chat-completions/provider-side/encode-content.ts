/** Encodes blocks as the content of a chat-completions user message. */
import { invalidRequest } from '@/chat/error'
import type { CacheHint, ContentBlock, FileBlock, ImageBlock } from '@/chat/request'
import { QUIRKS } from '@/formats/chat-completions/provider'
import { filenameFor, formatDataUrl, isText, textDocument } from '@/formats/media'
import { encodeParts, foreignFile } from '@/formats/openai'
import { isJsonObject, type JsonObject } from '@/lib/json'

/** One string if there is only one text (or all texts joined, if `asString`), else the parts. */
export function partsAsContent(parts: JsonObject[], asString: boolean): string | JsonObject[] {
  const texts = parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : []))
  const isMarked = !asString && parts.some((part) => part.cache_control !== undefined)
  const isAllText = texts.length === parts.length && !isMarked
  return isAllText && (asString || texts.length <= 1) ? texts.join('\n\n') : parts
}

/** A text part; `mark` contains additional fields, such as a cache hint. */
export function textPart(text: string, mark: JsonObject = {}): JsonObject {
  return { type: 'text', text, ...mark }
}

/** The parts for one block of a user turn. Throws a GatewayError `invalid_request` if this format can't express it. */
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
  // A file part can't contain video or sound: services expect them in video and audio parts.
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

/** Maximum cache breakpoints of the models behind services that accept `cache_control`. */
const MAX_BREAKPOINTS = 4

/** The cache field, as an object to spread into a part or tool: empty without a hint, or if the provider would refuse it. */
export function encodeCache(cache: CacheHint | undefined, quirks: ReadonlySet<string>): JsonObject {
  if (!cache || !quirks.has(QUIRKS.cacheControl)) return {}
  return { cache_control: cache.ttl === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' } }
}

/** Removes the earliest breakpoints if there are too many: a later one also covers the prompt before it. */
export function limitBreakpoints(tools: readonly JsonObject[], messages: readonly JsonObject[]): number {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isJsonObject) : []))
  const marked = [...tools, ...parts].filter((object) => object.cache_control !== undefined)
  const excess = Math.max(0, marked.length - MAX_BREAKPOINTS)
  for (const object of marked.slice(0, excess)) delete object.cache_control
  return excess
}
