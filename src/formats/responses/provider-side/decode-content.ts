/** Items of a complete response as blocks of the hub. */
import type { AnswerBlock } from '@/chat/response'
import { customArguments } from '@/formats/custom-tools'
import { decodeSignature } from '@/formats/responses/signature'
import { decodeArguments } from '@/formats/responses/tool-calls'
import { decodeAnnotations } from '@/formats/url-citations'
import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'

/** What of an item every format can carry; the text that uses a search or another tool of the provider follows in an item of its own. */
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

/** The parts of a message; some write one text in their place. */
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

/** What a part of a message says, and in which way; undefined for parts of other kinds. */
export function readPart(part: JsonValue | undefined): { kind: 'text' | 'refusal'; text: string } | undefined {
  if (!isJsonObject(part)) return undefined
  if (part.type === 'refusal') return { kind: 'refusal', text: textOf(part.refusal) ?? '' }
  return part.type === 'output_text' || part.type === 'text'
    ? { kind: 'text', text: textOf(part.text) ?? '' }
    : undefined
}

/** The summaries, or where there are none the thoughts themselves, which open models show. */
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

/** A provider of this format has no proofs but its own. */
export function readProof(item: JsonObject): ReturnType<typeof decodeSignature> {
  return decodeSignature(textOf(item.id), textOf(item.encrypted_content))
}

/** A call without a name can't be answered by anyone, and is left out. */
function decodeCall(item: JsonObject): AnswerBlock[] {
  const name = textOf(item.name) ?? ''
  if (name === '') return []
  const argumentsText =
    item.type === 'custom_tool_call' ? customArguments(textOf(item.input) ?? '') : decodeArguments(item.arguments)
  return [{ type: 'tool-call', id: callId(item), name, argumentsText }]
}

/** The id by which the output is to answer, which is not that of the item. */
export function callId({ call_id: id, id: itemId }: JsonObject): string {
  return textOf(id) || textOf(itemId) || randomId('call')
}

function decodeImage(item: JsonObject): AnswerBlock[] {
  const image = readImage(item)
  return image ? [{ type: 'image', source: { type: 'base64', ...image } }] : []
}

/** The picture that a provider's tool has made. */
export function readImage({
  result,
  output_format: format,
}: JsonObject): { mediaType: string; data: string } | undefined {
  const data = textOf(result) ?? ''
  return data === '' ? undefined : { mediaType: `image/${textOf(format) || 'png'}`, data }
}
