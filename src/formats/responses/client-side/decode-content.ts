/** Decodes the content of responses items, a string or parts. */

import { invalidRequest } from '@/chat/error'
import type { CacheHint, FileBlock, ImageBlock, TextBlock } from '@/chat/request'
import { audioMediaType, decodeUrl, mediaTypeOfFilename, parseDataUrl } from '@/formats/media'
import { decodeParts, missing, onlyTexts, type PartBlock, unknownPart } from '@/formats/openai'
import type { WireContent, WirePart } from './wire'

/** The blocks of one item's content, without empty texts. `param` names the content in errors. */
export function decodeContent(content: WireContent | null | undefined, param: string): PartBlock[] {
  return decodeParts(content, param, decodePart)
}

/** The texts, for roles that allow only text. */
export function decodeTexts(content: WireContent, param: string): TextBlock[] {
  return onlyTexts(decodeContent(content, param), param)
}

function decodePart(part: WirePart, param: string): PartBlock[] {
  const hint = decodeCache(part)
  const cache = hint && { cache: hint }
  switch (part.type) {
    // The first two names belong to this format; clients also send the others.
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
    case 'reasoning_text':
      if (typeof part.text !== 'string') throw missing(`${param}.text`)
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...cache }]
    case 'refusal':
      return typeof part.refusal === 'string' && part.refusal !== '' ? [{ type: 'refusal', text: part.refusal }] : []
    case 'input_image':
    case 'image_url':
      return [{ ...decodeImage(part, param), ...cache }]
    case 'input_file':
    case 'file':
      return [{ ...decodeFile(part, param), ...cache }]
    case 'input_audio':
      if (!part.input_audio) throw missing(`${param}.input_audio`)
      return [
        { type: 'audio', mediaType: audioMediaType(part.input_audio.format), data: part.input_audio.data, ...cache },
      ]
    default:
      throw unknownPart(param, part.type, 'input_text, input_image, input_file or input_audio')
  }
}

function decodeImage(part: WirePart, param: string): ImageBlock {
  const { image_url: image } = part
  const url = typeof image === 'string' ? image : image?.url
  const detail = (typeof image === 'string' ? part.detail : (image?.detail ?? part.detail)) ?? undefined
  const about = detail === undefined ? {} : { detail }
  if (url) return { type: 'image', source: decodeUrl(url), ...about }
  if (!part.file_id) throw missing(`${param}.image_url`)
  return { type: 'image', source: { type: 'file-id', id: part.file_id, format: 'responses' }, ...about }
}

function decodeFile(part: WirePart, param: string): FileBlock {
  const filename = part.filename ? { filename: part.filename } : {}
  if (part.file_data) {
    const bytes = parseDataUrl(part.file_data) ?? {
      mediaType: mediaTypeOfFilename(part.filename ?? undefined),
      data: part.file_data,
    }
    return { type: 'file', source: { type: 'base64', ...bytes }, ...filename }
  }
  if (part.file_url) return { type: 'file', source: decodeUrl(part.file_url), ...filename }
  if (!part.file_id) throw invalidRequest(`${param} must have file_data, file_url or file_id`, param)
  return { type: 'file', source: { type: 'file-id', id: part.file_id, format: 'responses' }, ...filename }
}

/** The cache hint of a part. Twelve hours become one hour, the hub's longest time. */
function decodeCache({ prompt_cache_breakpoint: breakpoint }: WirePart): CacheHint | undefined {
  if (!breakpoint) return undefined
  return { ttl: breakpoint.ttl === '12h' ? '1h' : '5m' }
}
