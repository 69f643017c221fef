/** Bytes and addresses in parts: inlineData and fileData between this format and the hub. */
import { invalidRequest } from '@/chat/error'
import type { AudioBlock, FileBlock, ImageBlock, MediaSource } from '@/chat/request'
import type { JsonObject } from '@/lib/json'
import type { WireFileData, WireInlineData } from './wire'

/** The addresses a provider of this format keeps files under; they mean nothing to any other provider. */
const OWN_FILE = /^https?:\/\/[^/]+\/v1(?:beta)?\/files\/[^/]+$/

/** The quirk of a provider that fetches http(s) addresses by itself. */
const FILE_URI_QUIRK = 'file-uri'

/** Bytes as the block their media type makes them. */
export function decodeInlineData({ mimeType, data }: WireInlineData): ImageBlock | AudioBlock | FileBlock {
  const kind = mimeType.split('/')[0]?.toLowerCase()
  if (kind === 'audio') return { type: 'audio', mediaType: mimeType, data }
  const source = { type: 'base64', mediaType: mimeType, data } as const
  return kind === 'image' ? { type: 'image', source } : { type: 'file', source }
}

/** An address as a block: one that any provider could fetch, or a file that only a provider of this format knows. */
export function decodeFileData({ fileUri, mimeType }: WireFileData): ImageBlock | FileBlock {
  const isAddress = /^https?:\/\//i.test(fileUri) && !OWN_FILE.test(fileUri)
  const source: MediaSource = isAddress
    ? { type: 'url', url: fileUri, ...(mimeType !== undefined && { mediaType: mimeType }) }
    : { type: 'file-id', id: fileUri, format: 'generate-content' }
  const isImage = (mimeType ?? guessMediaType(fileUri))?.toLowerCase().startsWith('image/') ?? false
  return isImage ? { type: 'image', source } : { type: 'file', source }
}

/**
 * The part of a block that holds media. Throws a GatewayError `invalid_request` for an address that the provider can't fetch
 * (the gateway never does) and for another format's file id.
 */
export function encodeMedia(block: ImageBlock | AudioBlock | FileBlock, quirks: ReadonlySet<string>): JsonObject {
  if (block.type === 'audio') return { inlineData: { mimeType: block.mediaType, data: block.data } }
  const { source } = block
  switch (source.type) {
    case 'base64':
      return { inlineData: { mimeType: source.mediaType, data: source.data } }
    case 'text':
      return { inlineData: { mimeType: 'text/plain', data: Buffer.from(source.text, 'utf8').toString('base64') } }
    case 'url': {
      if (!quirks.has(FILE_URI_QUIRK)) throw invalidRequest(UNFETCHABLE)
      const mimeType = source.mediaType ?? guessMediaType(source.url)
      return { fileData: { fileUri: source.url, ...(mimeType !== undefined && { mimeType }) } }
    }
    case 'file-id':
      if (source.format !== 'generate-content') throw invalidRequest(FOREIGN_FILE)
      return { fileData: { fileUri: source.id } }
  }
}

const UNFETCHABLE =
  'the provider of this model does not fetch addresses: send the bytes of images and files (base64) instead of a URL'
const FOREIGN_FILE =
  'the provider of this model does not know this file id: send the bytes of the file (base64) instead'

const MEDIA_TYPE_OF_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['mp4', 'video/mp4'],
])

/** The media type that an address's path suggests. */
function guessMediaType(url: string): string | undefined {
  const path = url.split(/[?#]/, 1)[0] ?? ''
  return MEDIA_TYPE_OF_EXTENSION.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase())
}
