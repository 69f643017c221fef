/** Encodes blocks as generate-content parts that every provider accepts. */
import { invalidRequest } from '@/chat/error'
import type { MediaBlock, ModelBlock, ToolResultBlock, UserBlock, Warning } from '@/chat/request'
import { guessMediaType } from '@/formats/generate-content/media'
import { QUIRKS } from '@/formats/generate-content/provider'
import { ownSignature } from '@/formats/generate-content/signature'
import { encodeArguments } from '@/formats/generate-content/tool-calls'
import { isJsonObject, type JsonObject, TEXT_BOUNDS } from '@/lib/json'
import { parseAsWritten } from '@/lib/json-source/as-written'
import { inspectJson } from '@/lib/json-source/scan'

/** State that the encoding of all blocks of one request shares. */
export type ContentContext = {
  quirks: ReadonlySet<string>
  warnings: Warning[]
  names: ReadonlyMap<string, string>
  withIds: boolean
  parsedChars: number
  parsedValues: number
}

/** Maximum characters of a request's tool results that are parsed as JSON; further results are sent as text. */
const MAX_PARSED_CHARS = 4 * 1024 * 1024

/** The parts of one block of a user content. */
export function encodeUserBlock(block: UserBlock, context: ContentContext): JsonObject[] {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return block.text === '' ? [] : [{ text: block.text }]
    case 'image':
    case 'audio':
      return [encodeMedia(block, context.quirks)]
    case 'file':
      return encodeFile(block, context.quirks)
    case 'tool-result':
      return encodeOrphan(block, context)
  }
}

/** A result without its call becomes text, since a functionResponse would be refused. */
function encodeOrphan(result: ToolResultBlock, { names, warnings, quirks }: ContentContext): JsonObject[] {
  warnings.push({ feature: 'tool-result', detail: `no call ${result.callId} precedes it; sent as text` })
  const name = result.name ?? names.get(result.callId) ?? 'a function'
  return [{ text: `Result of ${name}: ${textOfResult(result)}` }, ...mediaOf(result, quirks)]
}

/** The parts of one block of a model content. Only reasoning signed by this format's providers is sent back. */
export function encodeAssistantBlock(block: ModelBlock, { quirks, withIds }: ContentContext): JsonObject[] {
  switch (block.type) {
    case 'text': {
      const thoughtSignature = ownSignature(block.signature)
      if (block.text === '' && thoughtSignature === undefined) return []
      return [{ text: block.text, ...(thoughtSignature !== undefined && { thoughtSignature }) }]
    }
    case 'refusal':
      return block.text === '' ? [] : [{ text: block.text }]
    case 'reasoning': {
      // Thoughts without this format's proof come from another model: they are useless and may be refused.
      const thoughtSignature = ownSignature(block.signature)
      return thoughtSignature === undefined ? [] : [{ text: block.text, thought: true, thoughtSignature }]
    }
    case 'tool-call': {
      const thoughtSignature = ownSignature(block.signature)
      const functionCall = {
        ...(withIds && { id: block.id }),
        name: block.name,
        args: encodeArguments(block.argumentsText),
      }
      return [{ functionCall, ...(thoughtSignature !== undefined && { thoughtSignature }) }]
    }
    case 'image':
    case 'audio':
      return [encodeMedia(block, quirks)]
    case 'file':
      return encodeFile(block, quirks)
  }
}

function encodeFile(file: Extract<MediaBlock, { type: 'file' }>, quirks: ReadonlySet<string>): JsonObject[] {
  return [...(file.context ? [{ text: file.context }] : []), encodeMedia(file, quirks)]
}

/** The part of a tool result; its media follow as parts if they are not allowed inside. Uses the quirk `functionResponseParts`. */
export function encodeToolResult(
  result: ToolResultBlock,
  name: string,
  context: ContentContext,
): { part: JsonObject; beside: JsonObject[] } {
  const { quirks, withIds } = context
  const media = mediaOf(result, quirks)
  const isInside = quirks.has(QUIRKS.functionResponseParts)
  const functionResponse = {
    ...(withIds && { id: result.callId }),
    name,
    response: encodeResponse(result, context),
    ...(isInside && media.length > 0 && { parts: media }),
  }
  return { part: { functionResponse }, beside: isInside ? [] : media }
}

/** A placeholder for a missing result: providers refuse a conversation whose calls and results differ in number. */
export function missingResult(callId: string, name: string, withId: boolean): JsonObject {
  return {
    functionResponse: { ...(withId && { id: callId }), name, response: { error: 'The call was not answered.' } },
  }
}

function mediaOf({ content }: ToolResultBlock, quirks: ReadonlySet<string>): JsonObject[] {
  return content.flatMap((block) => (block.type === 'text' ? [] : [encodeMedia(block, quirks)]))
}

function textOfResult(result: ToolResultBlock): string {
  const texts = result.content.flatMap((block) => {
    if (block.type === 'text') return [block.text]
    return block.type === 'file' && block.context ? [block.context] : []
  })
  return texts.join('\n')
}

function encodeResponse(result: ToolResultBlock, context: ContentContext): JsonObject {
  if (result.json) return result.json
  const text = textOfResult(result)
  if (result.isError) return { error: text }
  return readObject(text, context) ?? { output: text || placeholderFor(result) }
}

/** The JSON object in `text`; undefined for other texts and too long ones. Throws `invalid_request` if it is nested too deeply. */
function readObject(text: string, context: ContentContext): JsonObject | undefined {
  if (!text.startsWith('{')) return undefined
  context.parsedChars += text.length
  if (context.parsedChars > MAX_PARSED_CHARS) return undefined
  const { breach, values } = inspectJson(text, TEXT_BOUNDS)
  if (breach === 'depth') {
    throw invalidRequest(`the result of a tool call is nested deeper than ${TEXT_BOUNDS.depth} levels`, 'messages')
  }
  context.parsedValues += values
  // A text beyond the bounds is not parsed as JSON; it is sent as plain text.
  if (breach !== undefined || context.parsedValues > TEXT_BOUNDS.values) return undefined
  const value = parseAsWritten(text)
  return isJsonObject(value) ? value : undefined
}

/** A text for a result that contains only media: without it, the model would take the result for empty. */
function placeholderFor(result: ToolResultBlock): string {
  const media = result.content.find((block) => block.type !== 'text')
  return media ? `[${media.type}]` : ''
}

/** The part of a media block. Throws `invalid_request` for a URL that cannot be fetched, and for another format's file id. */
function encodeMedia(block: MediaBlock, quirks: ReadonlySet<string>): JsonObject {
  if (block.type === 'audio') return { inlineData: { mimeType: block.mediaType, data: block.data } }
  const { source } = block
  switch (source.type) {
    case 'base64':
      return { inlineData: { mimeType: source.mediaType, data: source.data } }
    case 'text':
      return { inlineData: { mimeType: 'text/plain', data: Buffer.from(source.text, 'utf8').toString('base64') } }
    case 'url': {
      if (!quirks.has(QUIRKS.fileUri)) throw invalidRequest(UNFETCHABLE)
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
