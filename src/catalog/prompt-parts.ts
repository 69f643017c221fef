import type { ChatRequest, ContentBlock, FileBlock, Signature } from '@/chat/request'
import type { JsonObject, JsonValue } from '@/lib/json'
import { audioSize, COUNTED_TOKENS_MAX, fileSize, imageSize, type MediaSize } from './media/media-size'

export type PromptParts = {
  /** Texts. Schemas and fields unknown to the hub are included as JSON, since the model reads them in some form. */
  texts: string[]
  /** Data readable only for the provider, such as encrypted reasoning. */
  opaque: string[]
  media: MediaSize[]
  mediaTokens: number
  hasFiles: boolean
  /** Bytes of tool and answer schemas, which some providers get in another form. */
  schemaBytes: number
}

/** The parts of `request` that a model reads: texts, opaque data, and media. Throws `invalid_request` for content of unknown size. */
export function readPrompt(request: ChatRequest): PromptParts {
  const parts: PromptParts = { texts: [], opaque: [], media: [], mediaTokens: 0, hasFiles: false, schemaBytes: 0 }
  for (const block of request.system) parts.texts.push(block.text)
  for (const turn of request.turns) {
    if (turn.name !== undefined) parts.texts.push(turn.name)
    for (const block of turn.content) readBlock(block, parts)
  }
  for (const block of request.nativeMedia ?? []) readBlock(block, parts)
  for (const tool of request.tools) {
    parts.texts.push(tool.name)
    if (tool.description !== undefined) parts.texts.push(tool.description)
    if (tool.parameters !== undefined) addSchema(parts, tool.parameters)
  }
  if (request.output.type === 'json-schema') addSchema(parts, request.output.schema)
  for (const fields of Object.values(request.extensions)) {
    for (const value of Object.values<JsonValue | undefined>(fields ?? {})) {
      if (typeof value === 'string') parts.texts.push(value)
      else if (typeof value === 'object' && value !== null) parts.texts.push(JSON.stringify(value))
    }
  }
  return parts
}

function addSchema(parts: PromptParts, schema: JsonObject): void {
  const text = JSON.stringify(schema)
  parts.texts.push(text)
  parts.schemaBytes += Buffer.byteLength(text)
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
      addMedium(parts, (room) => imageSize(block.source, room))
      break
    case 'file':
      readFile(block, parts)
      break
    case 'audio':
      addMedium(parts, (room) => audioSize(block, room))
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
  const { source } = block
  if (source.type === 'text') parts.texts.push(source.text)
  else addMedium(parts, (room) => fileSize(source, room))
}

/** Adds a medium's size. Counting stops at a size that no model's context exceeds. */
function addMedium(parts: PromptParts, measure: (room: number) => MediaSize): void {
  const size = measure(COUNTED_TOKENS_MAX - parts.mediaTokens)
  parts.media.push(size)
  parts.mediaTokens += size.mostTokens
  if (!size.isPicture) parts.hasFiles = true
}
