/** Parts of an answer for chat-completions clients, shared by complete and streamed answers. */
import type { MediaSource, ToolCallBlock } from '@/chat/request'
import { encodeSignature } from '@/formats/chat-completions/signature'
import { encodeArguments } from '@/formats/chat-completions/tool-calls'
import { customInput } from '@/formats/custom-tools'
import { formatDataUrl } from '@/formats/media'
import type { JsonObject } from '@/lib/json'

/** An image made by the model. */
export function encodeImage(source: MediaSource): JsonObject {
  return { type: 'image_url', image_url: { url: urlOf(source) } }
}

/** A complete call with its id, to which the client's result refers. */
export function encodeCall(call: ToolCallBlock, isCustom: boolean): JsonObject {
  const { id, name, argumentsText } = call
  if (isCustom) {
    const custom = { name, input: customInput(argumentsText) }
    return { id, type: 'custom', custom, ...encodeSignature(call.signature) }
  }
  return {
    id,
    type: 'function',
    function: { name, arguments: encodeArguments(argumentsText) },
    ...encodeSignature(call.signature),
  }
}

function urlOf(source: MediaSource): string {
  if (source.type === 'base64') return formatDataUrl(source.mediaType, source.data)
  return source.type === 'url' ? source.url : source.id
}
