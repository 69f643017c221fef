/** Tool choices and tool call ids as chat-completions providers accept them. */
import { createNumberedIds, fitToolId } from '@/formats/openai'
import { isJsonObject, type JsonObject } from '@/lib/json'

export { decodeArguments, encodeArguments } from '@/formats/openai'

/** Ids that every chat-completions service accepts. */
const ACCEPTED_ID = /^[A-Za-z0-9_-]{1,40}$/
const KEPT_CHARS = 27

/** Creates the call ids of one turn. They must be unique within the turn, so a repeated id gets a number. */
export function createToolIds(): (id: string) => string {
  return createNumberedIds((id) => fitToolId(id, ACCEPTED_ID, KEPT_CHARS))
}

/** The body with the tool choice `any` for a required call. If one function is required, only its tool is sent. Never changes `body`. */
export function withChoiceOfAny<Body extends JsonObject>(body: Body): Body {
  const { tool_choice: choice, tools } = body
  if (choice === 'required') return { ...body, tool_choice: 'any' }
  const named = isJsonObject(choice) && isJsonObject(choice.function) ? choice.function.name : undefined
  if (named === undefined || !Array.isArray(tools)) return body
  const only = tools.filter((tool) => isJsonObject(tool) && isJsonObject(tool.function) && tool.function.name === named)
  return { ...body, tools: only, tool_choice: 'any' }
}
