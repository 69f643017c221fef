import type { AnswerBlock } from '@/chat/response'
import { decodeUrl } from '@/formats/media'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'

export type DecodedPart = Exclude<AnswerBlock, { type: 'tool-call' | 'audio' }>

/** Decodes a chat-completions message or delta, in all known variants: reasoning, text, refusal, images. Array parts keep their order. */
export function decodeContent(message: JsonObject): DecodedPart[] {
  const parts: DecodedPart[] = []
  pushText(parts, 'reasoning', firstText(message.reasoning_content, message.reasoning))
  if (Array.isArray(message.content)) for (const part of message.content) parts.push(...decodePart(part))
  else pushText(parts, 'text', message.content)
  pushText(parts, 'refusal', message.refusal)
  if (Array.isArray(message.images)) for (const image of message.images) parts.push(...decodePart(image))
  if (parts.length === 0 && isJsonObject(message.audio)) pushText(parts, 'text', message.audio.transcript)
  return parts
}

/** Mistral's reasoning models answer in parts of `thinking` and `text`; image models in `image_url` parts. */
function decodePart(part: JsonValue | undefined): DecodedPart[] {
  const parts: DecodedPart[] = []
  if (typeof part === 'string') pushText(parts, 'text', part)
  if (!isJsonObject(part)) return parts
  if (part.type === 'thinking') pushText(parts, 'reasoning', decodeThinking(part.thinking))
  else if (part.type === 'refusal') pushText(parts, 'refusal', part.refusal)
  else if (part.type === 'image_url') {
    const url = isJsonObject(part.image_url) ? part.image_url.url : part.image_url
    if (typeof url === 'string') parts.push({ type: 'image', source: decodeUrl(url) })
  } else pushText(parts, 'text', part.text)
  return parts
}

function decodeThinking(thinking: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(thinking)) return thinking
  return thinking.map((part) => (isJsonObject(part) ? (textOf(part.text) ?? '') : '')).join('')
}

function pushText(parts: DecodedPart[], type: 'text' | 'reasoning' | 'refusal', text: JsonValue | undefined): void {
  if (typeof text === 'string' && text !== '') parts.push({ type, text })
}

function firstText(one: JsonValue | undefined, other: JsonValue | undefined): JsonValue | undefined {
  return typeof one === 'string' && one !== '' ? one : other
}
