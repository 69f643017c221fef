/**
 * Reads out of a request what the model will read of it, once, for estimates and prices: texts, opaque data, and media
 * with a bound of tokens.
 */
import { invalidRequest } from '@/chat/error'
import type { ChatRequest, ContentBlock, FileBlock, MediaSource, Signature } from '@/chat/request'
import type { JsonValue } from '@/lib/json'

/** Everything in a request that a provider counts as input. */
export type PromptParts = {
  /** Words; schemas and fields that the hub has no word for, which the model reads in some form, as JSON. */
  texts: string[]
  /** Data that only the provider can read, such as encrypted reasoning. */
  opaque: string[]
  media: MediaSize[]
}

/** The most tokens and the usual number of tokens that a medium costs, and how many characters of the body it takes. */
type MediaSize = { mostTokens: number; usualTokens: number; bodyChars: number }

/**
 * The most one image costs at any provider on sale: 10,000 patches of an image in original detail, times the 1.2 that small
 * models charge per patch. Other providers stay below 5,000.
 */
export const IMAGE_TOKENS_MAX = 12_000
const IMAGE_TOKENS_USUAL = 1_000
/** A page of a PDF is read as text and as a picture, up to 3,000 tokens, however few bytes it has: room for 16 full pages. */
export const FILE_TOKENS_MAX = 50_000
/** A file the gateway never sees may fill the whole context of any model on sale. */
export const REMOTE_FILE_TOKENS_MAX = 1_000_000
const FILE_TOKENS_USUAL = 3_000
/** At most 32 tokens are charged for a second of sound, and no speech codec needs fewer than 256 bytes for one. */
const AUDIO_BYTES_PER_TOKEN = 8
const AUDIO_TOKENS_MIN = 1_000

/** The parts of `request`. Throws `invalid_request` for what has no known size. */
export function readPrompt(request: ChatRequest): PromptParts {
  const parts: PromptParts = { texts: [], opaque: [], media: [] }
  for (const block of request.system) parts.texts.push(block.text)
  for (const turn of request.turns) {
    if (turn.name !== undefined) parts.texts.push(turn.name)
    for (const block of turn.content) readBlock(block, parts)
  }
  for (const tool of request.tools) {
    parts.texts.push(tool.name)
    if (tool.description !== undefined) parts.texts.push(tool.description)
    if (tool.parameters !== undefined) parts.texts.push(JSON.stringify(tool.parameters))
  }
  if (request.output.type === 'json-schema') parts.texts.push(JSON.stringify(request.output.schema))
  for (const fields of Object.values(request.extensions)) {
    for (const value of Object.values<JsonValue | undefined>(fields ?? {})) {
      if (typeof value === 'string') parts.texts.push(value)
      else if (typeof value === 'object' && value !== null) parts.texts.push(JSON.stringify(value))
    }
  }
  return parts
}

function readBlock(block: ContentBlock, parts: PromptParts): void {
  switch (block.type) {
    case 'text':
    case 'refusal':
      parts.texts.push(block.text)
      break
    case 'reasoning':
      parts.texts.push(block.text)
      readSignature(block.redacted, parts)
      break
    case 'tool-call':
      parts.texts.push(block.name, block.argumentsText)
      break
    case 'tool-result':
      for (const part of block.content) readBlock(part, parts)
      break
    case 'image':
      parts.media.push(imageSize(block.source))
      break
    case 'file':
      readFile(block, parts)
      break
    case 'audio':
      parts.media.push(audioSize(block.data))
      break
  }
  if ('signature' in block) readSignature(block.signature, parts)
}

function readSignature(signature: Signature | undefined, parts: PromptParts): void {
  if (signature) parts.opaque.push(signature.value)
}

function readFile(block: FileBlock, parts: PromptParts): void {
  if (block.filename !== undefined) parts.texts.push(block.filename)
  if (block.context !== undefined) parts.texts.push(block.context)
  if (block.source.type === 'text') parts.texts.push(block.source.text)
  else parts.media.push(fileSize(block.source))
}

function imageSize(source: MediaSource): MediaSize {
  refuseFileId(source)
  const bodyChars = source.type === 'base64' ? source.data.length : 0
  return { mostTokens: IMAGE_TOKENS_MAX, usualTokens: IMAGE_TOKENS_USUAL, bodyChars }
}

function fileSize(source: MediaSource): MediaSize {
  refuseFileId(source)
  const kind = source.mediaType?.split('/')[0] ?? ''
  if (kind === 'image') return imageSize(source)
  if (source.type !== 'base64') {
    return { mostTokens: REMOTE_FILE_TOKENS_MAX, usualTokens: FILE_TOKENS_USUAL, bodyChars: 0 }
  }
  if (kind === 'audio') return audioSize(source.data)
  const bytes = decodedBytes(source.data)
  const isText = kind === 'text'
  return {
    mostTokens: isText ? bytes : bytes + FILE_TOKENS_MAX,
    usualTokens: isText ? Math.ceil(bytes / 4) : FILE_TOKENS_USUAL,
    bodyChars: source.data.length,
  }
}

function audioSize(data: string): MediaSize {
  const tokens = AUDIO_TOKENS_MIN + Math.ceil(decodedBytes(data) / AUDIO_BYTES_PER_TOKEN)
  return { mostTokens: tokens, usualTokens: AUDIO_TOKENS_MIN, bodyChars: data.length }
}

/** A stored file belongs to the gateway's own account at the provider, which all callers share, and has no known size. */
function refuseFileId(source: MediaSource): asserts source is Exclude<MediaSource, { type: 'file-id' }> {
  if (source.type !== 'file-id') return
  throw invalidRequest('Files cannot be named by id here: send the content itself, or its address')
}

function decodedBytes(base64: string): number {
  return Math.ceil((base64.length * 3) / 4)
}
