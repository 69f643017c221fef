import type { FormatName } from '@/chat/format-name'
import type { FileBlock, ImageBlock, MediaSource } from '@/chat/request'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { decodeUrl } from './media'

type Medium = ImageBlock | FileBlock

const PICTURE = /image|screenshot/
/** Kinds of parts whose file ids the model reads. In other parts, only tools read file ids. */
const READ_BY_ID = /^file$|^input_|screenshot/
const READ_BY_ADDRESS = /^url$|image|screenshot/
const GENERATED_PICTURE = 'image_generation_call'
const GENERATED_TYPE = 'image/png'
const UNKNOWN_TYPE = 'application/octet-stream'

/** Finds images and files in parts unknown to the hub, at any depth and in any format's spelling. A URL inside text doesn't count. */
export function findMedia(parts: readonly unknown[], format: FormatName): Medium[] {
  const found: Medium[] = []
  for (const part of parts) collect(part as JsonValue, format, '', found)
  return found
}

/** `around` is the kind of the object that contains `value`. */
function collect(value: JsonValue | undefined, format: FormatName, around: string, found: Medium[]): void {
  if (Array.isArray(value)) for (const one of value) collect(one, format, around, found)
  if (!isJsonObject(value)) return
  const kind = typeof value.type === 'string' ? value.type : around
  const source = sourceOf(value, kind, format)
  const isPicture = PICTURE.test(around) || PICTURE.test(kind) || value.image_url !== undefined
  if (source) found.push({ type: isPicture ? 'image' : 'file', source })
  for (const inner of Object.values(value)) collect(inner, format, kind, found)
}

function sourceOf(part: JsonObject, kind: string, format: FormatName): MediaSource | undefined {
  const { data, result, file_id: id, image_url: picture, url } = part
  const mediaType = firstText(part.media_type, part.mediaType, part.mime_type, part.mimeType)
  if (typeof data === 'string' && mediaType !== undefined && kind !== 'text') return { type: 'base64', mediaType, data }
  if (typeof result === 'string' && kind === GENERATED_PICTURE)
    return { type: 'base64', mediaType: GENERATED_TYPE, data: result }
  if (typeof id === 'string' && READ_BY_ID.test(kind)) return { type: 'file-id', id, format }
  const own = READ_BY_ADDRESS.test(kind) ? url : undefined
  const named = isJsonObject(picture) ? picture.url : picture
  const address = firstText(named, part.file_url, part.fileUri, part.file_uri, own)
  if (address !== undefined) return decodeUrl(address)
  const bytes = firstText(part.file_data, part.fileData)
  if (bytes === undefined) return undefined
  const source = decodeUrl(bytes)
  return source.type === 'base64' ? source : { type: 'base64', mediaType: UNKNOWN_TYPE, data: bytes }
}

function firstText(...values: readonly (JsonValue | undefined)[]): string | undefined {
  return values.find((value) => typeof value === 'string')
}
