/** Decodes the message content of a chat-completions request, a string or parts. */

import { invalidRequest } from '@/chat/error'
import type { CacheHint, FileBlock, TextBlock } from '@/chat/request'
import { audioMediaType, decodeUrl, mediaTypeOfFilename, parseDataUrl } from '@/formats/media'
import { decodeParts, missing, onlyTexts, type PartBlock, unknownPart } from '@/formats/openai'
import { isJsonObject } from '@/lib/json'
import type { WireCacheControl, WireContentPart, WireMessage, WireRequest } from './wire'

/** The blocks of one message's content, without empty texts. `param` names the content in errors. */
export function decodeContent(content: WireMessage['content'], param: string): PartBlock[] {
  return decodeParts(content, param, decodePart)
}

/** The texts, for roles that allow only text. */
export function decodeTexts(content: WireMessage['content'], param: string): TextBlock[] {
  return onlyTexts(decodeContent(content, param), param)
}

function decodePart(part: WireContentPart, param: string): PartBlock[] {
  const hint = decodeCache(part)
  const cache = hint && { cache: hint }
  switch (part.type) {
    // `input_text` and `output_text` belong to the Responses API, but code editors send them here, too.
    case 'text':
    case 'input_text':
    case 'output_text':
      if (typeof part.text !== 'string') throw missing(`${param}.text`)
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...cache }]
    case 'refusal':
      return typeof part.refusal === 'string' && part.refusal !== '' ? [{ type: 'refusal', text: part.refusal }] : []
    case 'image_url': {
      const image = typeof part.image_url === 'string' ? { url: part.image_url, detail: null } : part.image_url
      if (!image) throw missing(`${param}.image_url`)
      const detail = image.detail ? { detail: image.detail } : {}
      return [{ type: 'image', source: decodeUrl(image.url), ...detail, ...cache }]
    }
    case 'input_audio':
      if (!part.input_audio) throw missing(`${param}.input_audio`)
      return [
        { type: 'audio', mediaType: audioMediaType(part.input_audio.format), data: part.input_audio.data, ...cache },
      ]
    case 'file':
      if (!part.file) throw missing(`${param}.file`)
      return [{ ...decodeFile(part.file, `${param}.file`), ...cache }]
    case 'video_url': {
      const url = typeof part.video_url === 'string' ? part.video_url : part.video_url?.url
      if (!url) throw missing(`${param}.video_url`)
      return [{ type: 'file', source: decodeVideoUrl(url), ...cache }]
    }
    default:
      throw unknownPart(param, part.type, 'text, image_url, video_url, input_audio or file')
  }
}

function decodeFile(file: NonNullable<WireContentPart['file']>, param: string): FileBlock {
  const filename = file.filename ? { filename: file.filename } : {}
  if (file.file_id) {
    return { type: 'file', source: { type: 'file-id', id: file.file_id, format: 'chat-completions' }, ...filename }
  }
  if (!file.file_data) throw invalidRequest(`${param} must have file_data or file_id`, param)
  const bytes = parseDataUrl(file.file_data) ?? {
    mediaType: mediaTypeOfFilename(file.filename ?? undefined),
    data: file.file_data,
  }
  return { type: 'file', source: { type: 'base64', ...bytes }, ...filename }
}

/** Decodes the URL of a video; its media type is a video's, even if a data URL states another. */
function decodeVideoUrl(url: string): FileBlock['source'] {
  const source = decodeUrl(url)
  const isVideo = source.mediaType?.startsWith('video/') ?? false
  return { ...source, mediaType: isVideo ? source.mediaType : VIDEO } as FileBlock['source']
}

const VIDEO = 'video/mp4'
/** The cache hint of a part: five minutes, unless it asks for an hour. */
function decodeCache({ prompt_cache_breakpoint: own, cache_control: common }: WireContentPart) {
  if (common) return decodeCacheControl(common)
  return isJsonObject(own) ? hintOf(own.ttl) : undefined
}

/** The cache hint of a message, tool or request. */
export function decodeCacheControl(control: WireCacheControl | undefined): CacheHint | undefined {
  return control ? hintOf(control.ttl) : undefined
}

/** Whether the request contains `cache_control`: services that don't know it would refuse the request. */
export function hasCacheControl({ cache_control: whole, messages, tools, functions }: WireRequest): boolean {
  if (whole || functions?.some((definition) => definition.cache_control)) return true
  if (tools?.some((tool) => tool.cache_control ?? tool.function?.cache_control)) return true
  for (const { cache_control: own, content, tool_calls: calls } of messages) {
    if (own || calls?.some((call) => call.cache_control)) return true
    if (Array.isArray(content)) for (const part of content) if (part.cache_control) return true
  }
  return false
}

function hintOf(ttl: unknown): CacheHint {
  return { ttl: ttl === '1h' ? '1h' : '5m' }
}
