/** Decodes the items of a complete response. */
import type { AnswerBlock } from '@/chat/response'
import { customArguments } from '@/formats/custom-tools'
import { decodeSignature } from '@/formats/responses/signature'
import { decodeArguments } from '@/formats/responses/tool-calls'
import { decodeAnnotations } from '@/formats/url-citations'
import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'

/** The blocks of an item that every format supports. Items of provider-run tools are skipped: the text based on them is a separate item. */
export function decodeItem(item: JsonValue | undefined): AnswerBlock[] {
  if (!isJsonObject(item)) return []
  switch (item.type) {
    case 'message':
      return partsOf(item).flatMap(decodePart)
    case 'reasoning':
      return [decodeReasoningItem(item)]
    case 'function_call':
    case 'custom_tool_call':
      return decodeCall(item)
    case 'image_generation_call':
      return decodeImage(item)
    default:
      return []
  }
}

/** The parts of a message; some providers send a text instead. */
function partsOf({ content }: JsonObject): JsonValue[] {
  if (typeof content === 'string') return [{ type: 'output_text', text: content }]
  return Array.isArray(content) ? content : []
}

function decodePart(part: JsonValue): AnswerBlock[] {
  const read = readPart(part)
  if (!read || read.text === '') return []
  const sources = isJsonObject(part) ? decodeAnnotations(part.annotations) : []
  return [{ type: read.kind, text: read.text, ...(read.kind === 'text' && sources.length > 0 && { sources }) }]
}

/** The text of a message's part; undefined for other kinds of parts. */
export function readPart(part: JsonValue | undefined): { kind: 'text' | 'refusal'; text: string } | undefined {
  if (!isJsonObject(part)) return undefined
  if (part.type === 'refusal') return { kind: 'refusal', text: textOf(part.refusal) ?? '' }
  return part.type === 'output_text' || part.type === 'text'
    ? { kind: 'text', text: textOf(part.text) ?? '' }
    : undefined
}

/** The summaries, or else the reasoning itself, which open-weight models show. */
export function reasoningText({ summary, content }: JsonObject): string {
  const summaries = textsOf(summary)
  return (summaries.length > 0 ? summaries : textsOf(content)).join('\n\n')
}

function textsOf(parts: JsonValue | undefined): string[] {
  const texts = (Array.isArray(parts) ? parts : []).map((part) => (isJsonObject(part) ? textOf(part.text) : undefined))
  return texts.filter((text) => text !== undefined && text !== '') as string[]
}

function decodeReasoningItem(item: JsonObject): AnswerBlock {
  return { type: 'reasoning', text: reasoningText(item), ...readProof(item) }
}

/** The proof of a reasoning item. Providers of this format send only their own proofs. */
export function readProof(item: JsonObject): ReturnType<typeof decodeSignature> {
  return decodeSignature(textOf(item.id), textOf(item.encrypted_content))
}

/** A call without a name is omitted, since nobody could answer it. */
function decodeCall(item: JsonObject): AnswerBlock[] {
  const name = textOf(item.name) ?? ''
  if (name === '') return []
  const argumentsText =
    item.type === 'custom_tool_call' ? customArguments(textOf(item.input) ?? '') : decodeArguments(item.arguments)
  return [{ type: 'tool-call', id: callId(item), name, argumentsText }]
}

/** The id that the call's output must refer to, which differs from the item's id. */
export function callId({ call_id: id, id: itemId }: JsonObject): string {
  return textOf(id) || textOf(itemId) || randomId('call')
}

function decodeImage(item: JsonObject): AnswerBlock[] {
  const image = readImage(item)
  return image ? [{ type: 'image', source: { type: 'base64', ...image } }] : []
}

/** An image made by a provider-run tool. */
export function readImage({
  result,
  output_format: format,
}: JsonObject): { mediaType: string; data: string } | undefined {
  const data = textOf(result) ?? ''
  return data === '' ? undefined : { mediaType: `image/${textOf(format) || 'png'}`, data }
}
