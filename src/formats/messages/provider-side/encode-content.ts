/** Encodes blocks as messages content that every provider accepts. */
import { invalidRequest } from '@/chat/error'
import type {
  CacheHint,
  FileBlock,
  MediaSource,
  ModelBlock,
  ResultBlock,
  ToolCallBlock,
  ToolResultBlock,
  UserBlock,
  Warning,
} from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import { QUIRKS } from '@/formats/messages/provider'
import { isJsonObject, type JsonObject } from '@/lib/json'

export type ContentContext = { traits: TargetTraits; warnings: Warning[] }

const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])
const PDF = 'application/pdf'
const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*?)(;base64)?,/i
const TEXT_APPLICATIONS = /^application\/(json|xml|yaml|x-yaml|javascript|x-ndjson)\b/

/** The blocks of a user turn except tool results. Blank texts are omitted, since the API refuses them. */
export function encodeUserBlock(block: UserBlock, context: ContentContext): JsonObject[] {
  switch (block.type) {
    case 'refusal':
      return encodeMaterial({ type: 'text', text: block.text }, context)
    case 'tool-result':
      return []
    default:
      return encodeMaterial(block, context)
  }
}

/** The blocks of an assistant turn except tool calls. Only reasoning signed by this format's providers is sent back. */
export function encodeAssistantBlock(block: Exclude<ModelBlock, ToolCallBlock>, context: ContentContext): JsonObject[] {
  switch (block.type) {
    case 'refusal':
      return encodeMaterial({ type: 'text', text: block.text }, context)
    case 'reasoning':
      if (block.redacted?.format === 'messages') return [{ type: 'redacted_thinking', data: block.redacted.value }]
      if (block.signature?.format !== 'messages') return []
      return [{ type: 'thinking', thinking: block.text, signature: block.signature.value }]
    default:
      return encodeMaterial(block, context)
  }
}

/** A tool result with the `id` that its call got. Throws `invalid_request` for media that the format doesn't support. */
export function encodeToolResult(block: ToolResultBlock, id: string, context: ContentContext): JsonObject {
  const content = block.content.flatMap((part) => encodeMaterial(part, context))
  const [only, ...others] = content
  const isPlain = only?.type === 'text' && others.length === 0 && only.cache_control === undefined
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(content.length > 0 && { content: isPlain ? only.text : content }),
    ...(block.isError && { is_error: true }),
    ...encodeCache(block.cache),
  }
}

function encodeMaterial(block: ResultBlock, context: ContentContext): JsonObject[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text, ...encodeCache(block.cache) }]
    case 'image':
      return [{ type: 'image', source: imageSource(block.source, context), ...encodeCache(block.cache) }]
    case 'file':
      return [encodeFile(block, context)]
    case 'audio':
      throw invalidRequest('this model takes no audio', 'messages')
  }
}

function imageSource(source: MediaSource, context: ContentContext): JsonObject {
  const resolved = resolveSource(source)
  switch (resolved.type) {
    case 'base64': {
      const mediaType = normaliseMediaType(resolved.mediaType)
      if (!IMAGE_TYPES.has(mediaType)) {
        throw invalidRequest('an image must be JPEG, PNG, GIF or WebP for this model', 'messages')
      }
      return { type: 'base64', media_type: mediaType, data: resolved.data }
    }
    case 'url':
      return urlSource(resolved.url, context)
    case 'file-id':
      return fileIdSource(resolved)
  }
}

function encodeFile(block: FileBlock, context: ContentContext): JsonObject {
  const source = block.source.type === 'text' ? block.source : resolveSource(block.source)
  refuseMoving(source)
  if (isImage(source)) return { type: 'image', source: imageSource(source, context), ...encodeCache(block.cache) }
  return {
    type: 'document',
    source: documentSource(source, context),
    ...(block.filename !== undefined && { title: block.filename }),
    ...(block.context !== undefined && { context: block.context }),
    ...encodeCache(block.cache),
  }
}

/** Refuses videos and sound, since the provider would read their URL as the URL of a PDF. */
function refuseMoving(source: FileBlock['source']): void {
  const kind = source.type === 'file-id' ? undefined : source.mediaType?.split('/')[0]?.toLowerCase()
  if (kind === 'video' || kind === 'audio') throw invalidRequest(`this model takes no ${kind}`, 'messages')
}

function isImage(source: FileBlock['source']): source is MediaSource {
  return 'mediaType' in source && source.type !== 'text' && (source.mediaType ?? '').startsWith('image/')
}

function documentSource(source: FileBlock['source'], context: ContentContext): JsonObject {
  switch (source.type) {
    case 'text':
      return { type: 'text', media_type: 'text/plain', data: source.text }
    case 'url':
      return urlSource(source.url, context)
    case 'file-id':
      return fileIdSource(source)
    case 'base64': {
      const mediaType = normaliseMediaType(source.mediaType)
      if (mediaType === PDF) return { type: 'base64', media_type: PDF, data: source.data }
      if (mediaType.startsWith('text/') || TEXT_APPLICATIONS.test(mediaType)) {
        const text = Buffer.from(source.data, 'base64').toString('utf8')
        return { type: 'text', media_type: 'text/plain', data: text }
      }
      throw invalidRequest('a file must be a PDF, a text or an image for this model', 'messages')
    }
  }
}

/** A `data:` URL becomes bytes; other sources are unchanged. */
function resolveSource(source: MediaSource): MediaSource {
  if (source.type !== 'url') return source
  const match = DATA_URL.exec(source.url)
  if (!match) return source
  const payload = source.url.slice(match[0].length)
  const mediaType = match[1] || (source.mediaType ?? 'text/plain')
  return { type: 'base64', mediaType, data: match[3] ? payload : percentToBase64(payload) }
}

function percentToBase64(payload: string): string {
  try {
    return Buffer.from(decodeURIComponent(payload)).toString('base64')
  } catch {
    throw invalidRequest('a data: URL is not well-formed', 'messages')
  }
}

/** `Image/JPG; charset=x` becomes `image/jpeg`. */
function normaliseMediaType(mediaType: string): string {
  const bare = (mediaType.split(';')[0] ?? '').trim().toLowerCase()
  return bare === 'image/jpg' ? 'image/jpeg' : bare
}

/** The gateway fetches no URLs itself: they are passed on if the provider accepts them. */
function urlSource(url: string, { traits }: ContentContext): JsonObject {
  if (traits.quirks.has(QUIRKS.noUrlSources)) {
    throw invalidRequest('this model takes no addresses of images or files: send the bytes instead', 'messages')
  }
  if (!/^https?:\/\//i.test(url))
    throw invalidRequest('an image or file must have an http or https address', 'messages')
  return { type: 'url', url }
}

function fileIdSource(source: Extract<MediaSource, { type: 'file-id' }>): JsonObject {
  if (source.format !== 'messages') {
    throw invalidRequest("this model's provider does not know file ids of other providers", 'messages')
  }
  return { type: 'file', file_id: source.id }
}

/** The API refuses a request with more cache breakpoints. */
const MAX_BREAKPOINTS = 4

/** The cache field, as an object to spread into a block or tool; empty without a hint. */
export function encodeCache(cache: CacheHint | undefined): JsonObject {
  if (!cache) return {}
  return { cache_control: cache.ttl === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' } }
}

/**
 * Removes the earliest cache breakpoints above the API's limit, because a later breakpoint covers the prompt before it. `blocks` are in
 * prompt order and are changed in place. Returns how many were removed. The API also refuses an hour's breakpoint after a five-minute one.
 * It becomes a five-minute breakpoint, which costs less.
 */
export function limitBreakpoints(blocks: readonly JsonObject[]): number {
  const marked = blocks.flatMap(withInnerBlocks).filter((block) => block.cache_control !== undefined)
  const excess = Math.max(0, marked.length - MAX_BREAKPOINTS)
  for (const block of marked.slice(0, excess)) delete block.cache_control
  const isShort = ({ cache_control: control }: JsonObject) => isJsonObject(control) && control.ttl !== '1h'
  const kept = marked.slice(excess)
  const firstShort = kept.findIndex(isShort)
  if (firstShort >= 0) for (const block of kept.slice(firstShort)) block.cache_control = { type: 'ephemeral' }
  return excess
}

/** The blocks inside a tool result, then the result itself, because it ends after them. */
function withInnerBlocks(block: JsonObject): JsonObject[] {
  return Array.isArray(block.content) ? [...block.content.filter(isJsonObject), block] : [block]
}
