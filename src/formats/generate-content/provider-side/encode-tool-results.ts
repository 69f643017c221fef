/** Results of functions for a provider: functionResponse, whose response is an object. */
import type { ToolResultBlock } from '@/chat/request'
import { encodeMedia } from '@/formats/generate-content/media'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'

/** The quirk of a provider that takes media inside a functionResponse. */
const RESPONSE_PARTS_QUIRK = 'function-response-parts'

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
