/** The token counts, maximal and typical, of an image, a file or a sound in a request. */
import { isUtf8 } from 'node:buffer'
import { invalidRequest } from '@/chat/error'
import type { AudioBlock, MediaSource } from '@/chat/request'
import { pdfTokens } from './pdf-tokens'
import { soundTokens } from './sound-tokens'

/** Maximal and typical tokens of a medium, and its characters in the body. Infinity: the model's whole context. */
export type MediaSize = { isPicture: boolean; mostTokens: number; usualTokens: number; bodyChars: number }

/** The most any provider charges for an image: 10,000 patches at original detail, times 1.2 for small models. */
export const IMAGE_TOKENS_MAX = 12_000
const IMAGE_TOKENS_USUAL = 1_000
const FILE_TOKENS_USUAL = 3_000
const SOUND_TOKENS_USUAL = 1_000
/** More tokens than any model's context. Counting a request's media stops at this sum, which limits the parsing. */
export const COUNTED_TOKENS_MAX = 1_100_000
/** PDF readers accept the header `%PDF` anywhere within this many first bytes. */
const MAGIC_BYTES = 1_024
const ZIP_MAGIC = 'PK\x03\x04'
/** Maximum UTF-8 bytes for one byte of text in another encoding. */
const FOREIGN_BYTES = 3

/** The size of an image. A file of more than `room` tokens is not parsed. Throws `invalid_request` for a file id. */
export function imageSize(source: MediaSource, room: number): MediaSize {
  const known = knownSource(source)
  const { mediaType } = known
  if (mediaType !== undefined && !isKind(mediaType, 'image')) return fileSize(source, room)
  if (known.type === 'base64' && isDocument(known.data)) return documentSize(known.data, room)
  const bodyChars = known.type === 'base64' ? known.data.length : 0
  return { isPicture: true, mostTokens: IMAGE_TOKENS_MAX, usualTokens: IMAGE_TOKENS_USUAL, bodyChars }
}

/** The size of a file: a PDF's by pages and text, a text's by its bytes, any other file's is the whole context. */
export function fileSize(source: MediaSource, room: number): MediaSize {
  const known = knownSource(source)
  const { mediaType = '' } = known
  if (isKind(mediaType, 'image')) return imageSize(source, room)
  if (known.type !== 'base64') return sizeOf(Number.POSITIVE_INFINITY, FILE_TOKENS_USUAL, 0)
  if (isKind(mediaType, 'audio')) return audioSize(known, room)
  const { data } = known
  return isText(mediaType, data) ? textSize(mediaType, data) : documentSize(data, room)
}

function textSize(mediaType: string, data: string): MediaSize {
  const bytes = bytesOf(data)
  const isPlain = !isForeign(mediaType) && isUtf8(Buffer.from(data, 'base64'))
  return sizeOf(isPlain ? bytes : bytes * FOREIGN_BYTES, Math.ceil(bytes / 4), data.length)
}

function documentSize(data: string, room: number): MediaSize {
  const isCounted = bytesOf(data) < room && isPdf(data)
  const tokens = isCounted ? pdfTokens(Buffer.from(data, 'base64'), room) : Number.POSITIVE_INFINITY
  return sizeOf(tokens, FILE_TOKENS_USUAL, data.length)
}

function bytesOf(data: string): number {
  return Math.ceil((data.length * 3) / 4)
}

function isForeign(mediaType: string): boolean {
  const charset = /charset\s*=\s*"?([^\s;"]+)/i.exec(mediaType)?.[1] ?? 'utf-8'
  return !/^(?:utf-?8|us-ascii)$/i.test(charset)
}

/** The size of a sound. */
export function audioSize({ data }: Pick<AudioBlock, 'data'>, room: number): MediaSize {
  const tokens = room > 0 ? soundTokens(Buffer.from(data, 'base64')) : Number.POSITIVE_INFINITY
  return sizeOf(tokens + SOUND_TOKENS_USUAL, SOUND_TOKENS_USUAL, data.length)
}

/** Whether a file is text: by its declared type, if its first bytes are no document's. Providers check these bytes. */
function isText(mediaType: string, data: string): boolean {
  const isSaid = isKind(mediaType, 'text') || mediaType.toLowerCase() === 'application/json'
  return isSaid && !isDocument(data)
}

function isDocument(data: string): boolean {
  return isPdf(data) || beginning(data).startsWith(ZIP_MAGIC)
}

function isPdf(data: string): boolean {
  return beginning(data).includes('%PDF-')
}

function beginning(data: string): string {
  return Buffer.from(data.slice(0, Math.ceil((MAGIC_BYTES * 4) / 3)), 'base64').toString('latin1')
}

function isKind(mediaType: string, kind: string): boolean {
  return mediaType.split('/')[0]?.trim().toLowerCase() === kind
}

function sizeOf(mostTokens: number, usualTokens: number, bodyChars: number): MediaSize {
  return { isPicture: false, mostTokens, usualTokens, bodyChars }
}

/** Throws for a file id: a file stored at the provider belongs to the gateway's account, so any caller could read it. */
function knownSource(source: MediaSource): Exclude<MediaSource, { type: 'file-id' }> {
  if (source.type !== 'file-id') return source
  throw invalidRequest('Files cannot be named by id here: send the content or its URL')
}
