/** Results of functions in a request: functionResponse, whose response is an object, as a result of the hub. */
import type { ToolResultBlock } from '@/chat/request'
import { decodeFileData, decodeInlineData } from '@/formats/generate-content/media'
import type { WireFunctionResponse } from '@/formats/generate-content/wire'
import type { JsonObject, JsonValue } from '@/lib/json'
import type { AnsweredCall } from './call-register'

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
