/** Results of functions: functionResponse, whose response is an object, between this format and the hub. */
import type { ToolResultBlock } from '@/chat/request'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import type { AnsweredCall } from './call-register'
import { decodeFileData, decodeInlineData, encodeMedia } from './media'
import type { WireFunctionResponse } from './wire'

/** The quirk of a provider that takes media inside a functionResponse. */
export const RESPONSE_PARTS_QUIRK = 'function-response-parts'

/** The result with its object as `json` and what it says as text: the value alone where it has the format's own wrapper. */
export function decodeFunctionResponse({ response, parts }: WireFunctionResponse, call: AnsweredCall): ToolResultBlock {
  const json = response ?? {}
  const isError = isWrappedAs(json, 'error')
  const text = textOf(json)
  // Even an empty value is content: only where there is none is the object itself what the result says.
  const content: ToolResultBlock['content'] = Object.keys(json).length === 0 ? [] : [{ type: 'text', text }]
  for (const { inlineData, fileData } of parts ?? []) {
    const media = inlineData ? decodeInlineData(inlineData) : fileData ? decodeFileData(fileData) : undefined
    if (media && media.type !== 'audio') content.push(media)
  }
  return { type: 'tool-result', ...call, content, json, isError }
}

/** A result as a part, and its media where they cannot be inside. Reads the quirk {@link RESPONSE_PARTS_QUIRK}. */
export function encodeToolResult(
  result: ToolResultBlock,
  name: string,
  withId: boolean,
  quirks: ReadonlySet<string>,
): { part: JsonObject; beside: JsonObject[] } {
  const media = result.content.filter((block) => block.type !== 'text').map((block) => encodeMedia(block, quirks))
  const isInside = quirks.has(RESPONSE_PARTS_QUIRK)
  const functionResponse = {
    ...(withId && { id: result.callId }),
    name,
    response: encodeResponse(result),
    ...(isInside && media.length > 0 && { parts: media }),
  }
  return { part: { functionResponse }, beside: isInside ? [] : media }
}

/** The answer to a call whose result the history lost: a provider refuses calls and results that differ in number. */
export function missingResult(callId: string, name: string, withId: boolean): JsonObject {
  return {
    functionResponse: { ...(withId && { id: callId }), name, response: { error: 'The call was not answered.' } },
  }
}

/** What a result says, in one text. */
export function textOfResult(result: ToolResultBlock): string {
  return result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

function encodeResponse(result: ToolResultBlock): JsonObject {
  if (result.json) return result.json
  const text = textOfResult(result)
  if (result.isError) return { error: text }
  const value = text.startsWith('{') ? parseJson(text) : undefined
  return isJsonObject(value) ? value : { output: text || placeholderFor(result) }
}

/** A result that is all media says so, or the model would take it for an empty one. */
function placeholderFor(result: ToolResultBlock): string {
  const media = result.content.find((block) => block.type !== 'text')
  return media ? `[${media.type}]` : ''
}

/** Providers read `output` and `error` (libraries also write `result`) as the value itself where they stand alone. */
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
