/** Answers of picture requests in the shape of OpenAI's image endpoints, whole or as the last events of a stream. */
import type { PictureRequest } from '@/chat/picture'
import { tokensOf } from '@/chat/units'
import { inputTokens, type Usage } from '@/chat/usage'
import type { JsonObject } from '@/lib/json'
import { formatSse } from '@/lib/streams/sse'
import { formatDataUrl } from './media'

export const PICTURE_EVENTS = 'text/event-stream'

/** A finished picture as an entry of `data`, as a URL or as base64, as requested. */
export function pictureEntry(mediaType: string, data: string, { packing }: PictureRequest): JsonObject {
  return packing === 'url' ? { url: formatDataUrl(mediaType, data) } : { b64_json: data }
}

/** A whole answer as the client asked for it: `answer` itself, or an event for each picture, the last one with the usage. */
export function writePictures(
  { operation, stream }: PictureRequest,
  answer: JsonObject & { data: readonly JsonObject[] },
): { body: string; contentType: string } {
  if (!stream) return { body: JSON.stringify(answer), contentType: 'application/json' }
  const { created, data, usage, ...look } = answer
  const type = operation === 'edit' ? 'image_edit.completed' : 'image_generation.completed'
  const events = data.map((entry, index) => {
    const last = index === data.length - 1 && usage !== undefined && { usage }
    return formatSse({ event: type, data: JSON.stringify({ type, created_at: created, ...look, ...entry, ...last }) })
  })
  return { body: events.join(''), contentType: PICTURE_EVENTS }
}

/** The usage object of a picture answer whose provider has another format. */
export function encodePictureUsage(usage: Usage): JsonObject {
  const input = inputTokens(usage)
  const { output, units } = usage
  const read = tokensOf(units, 'input_image')
  const written = tokensOf(units, 'output_image')
  return {
    input_tokens: input,
    input_tokens_details: { text_tokens: input - read, image_tokens: read },
    output_tokens: output,
    output_tokens_details: { text_tokens: output - written, image_tokens: written },
    total_tokens: input + output,
  }
}
