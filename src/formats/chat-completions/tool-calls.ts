/** Tool choices and tool call ids as chat-completions providers accept them. */
import { createNumberedIds, fitToolId } from '@/formats/openai'
import { isJsonObject, type JsonObject } from '@/lib/json'

export { decodeArguments, encodeArguments } from '@/formats/openai'

/** Ids that every chat-completions service accepts. */
const ACCEPTED_ID = /^[A-Za-z0-9_-]{1,40}$/
const KEPT_CHARS = 27

/** Creates the ids of one turn, within which they must be unique: a repeated id gets a number. */
export function createToolIds(): (id: string) => string {
  return createNumberedIds((id) => fitToolId(id, ACCEPTED_ID, KEPT_CHARS))
}

/** The tool choice by `any`: if one function is required, no other tool is offered. Never changes `body`. */
export function withChoiceOfAny<Body extends JsonObject>(body: Body): Body {
  const { tool_choice: choice, tools } = body
  if (choice === 'required') return { ...body, tool_choice: 'any' }
  const named = isJsonObject(choice) && isJsonObject(choice.function) ? choice.function.name : undefined
  if (named === undefined || !Array.isArray(tools)) return body
  const only = tools.filter((tool) => isJsonObject(tool) && isJsonObject(tool.function) && tool.function.name === named)
  return { ...body, tools: only, tool_choice: 'any' }
}
