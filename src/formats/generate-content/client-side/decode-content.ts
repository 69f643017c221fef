/** Decodes parts with media and function results. */
import type { AudioBlock, FileBlock, ImageBlock, MediaSource, ToolResultBlock } from '@/chat/request'
import { guessMediaType } from '@/formats/generate-content/media'
import type { JsonObject, JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import type { AnsweredCall } from './call-register'
import type { WireFileData, WireFunctionResponse, WireInlineData } from './wire'

/** URLs of files stored at a provider of this format; useless for other providers. */
const OWN_FILE = /^https?:\/\/[^/]+\/v1(?:beta)?\/files\/[^/]+$/

/** The block for inline bytes, by their media type. */
export function decodeInlineData({ mimeType, data }: WireInlineData): ImageBlock | AudioBlock | FileBlock {
  const kind = mimeType.split('/')[0]?.toLowerCase()
  if (kind === 'audio') return { type: 'audio', mediaType: mimeType, data }
  const source = { type: 'base64', mediaType: mimeType, data } as const
  return kind === 'image' ? { type: 'image', source } : { type: 'file', source }
}

/** The block for a URL: fetchable by any provider, or a file stored at a provider of this format. */
export function decodeFileData({ fileUri, mimeType }: WireFileData): ImageBlock | FileBlock {
  const guessed = mimeType ?? guessMediaType(fileUri)
  const isImage = guessed?.toLowerCase().startsWith('image/') ?? false
  const mediaType = isImage ? mimeType : guessed
  const isAddress = /^https?:\/\//i.test(fileUri) && !OWN_FILE.test(fileUri)
  const source: MediaSource = isAddress
    ? { type: 'url', url: fileUri, ...(mediaType !== undefined && { mediaType }) }
    : { type: 'file-id', id: fileUri, format: 'generate-content' }
  return isImage ? { type: 'image', source } : { type: 'file', source }
}

/** A tool result: its object as `json`, and its content as text, without the format's wrapper. */
export function decodeToolResult({ response, parts }: WireFunctionResponse, call: AnsweredCall): ToolResultBlock {
  const json = asWritten(response) ?? {}
  const isError = isWrappedAs(json, 'error')
  const text = textOf(json)
  // An empty value also counts as content. Only an empty object has none.
  const content: ToolResultBlock['content'] = Object.keys(json).length === 0 ? [] : [{ type: 'text', text }]
  for (const { inlineData, fileData } of parts ?? []) {
    const media = inlineData ? decodeInlineData(inlineData) : fileData ? decodeFileData(fileData) : undefined
    if (media) content.push(media)
  }
  return { type: 'tool-result', ...call, content, json, isError }
}

/** The result as text. If `output`, `result` (from libraries) or `error` is the only field, only its value counts. */
function textOf(response: JsonObject): string {
  for (const key of ['output', 'result', 'error']) {
    if (isWrappedAs(response, key)) return asText(response[key])
  }
  return Object.keys(response).length === 0 ? '' : JSON.stringify(response)
}

function isWrappedAs(response: JsonObject, key: string): boolean {
  const keys = Object.keys(response)
  return keys.length === 1 && keys[0] === key
}

function asText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}
