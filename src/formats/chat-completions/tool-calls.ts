/** The calls of tools: their arguments, and ids that providers of chat-completions take. */
import { createNumberedIds, fitToolId } from '@/formats/openai'
import { isJsonObject, type JsonObject } from '@/lib/json'

export { decodeArguments, encodeArguments } from '@/formats/openai'

/** What every chat-completions service accepts. */
const ACCEPTED_ID = /^[A-Za-z0-9_-]{1,40}$/
const KEPT_CHARS = 27

/** Hands out the ids of one turn, where alone they have to be unique: a call that repeats one gets distinguished by number. */
export function createToolIds(): (id: string) => string {
  return createNumberedIds((id) => fitToolId(id, ACCEPTED_ID, KEPT_CHARS))
}

/** The same choice in those words: where one function has to be called, no other tool is offered. Never changes `body`. */
export function withChoiceOfAny<Body extends JsonObject>(body: Body): Body {
  const { tool_choice: choice, tools } = body
  if (choice === 'required') return { ...body, tool_choice: 'any' }
  const named = isJsonObject(choice) && isJsonObject(choice.function) ? choice.function.name : undefined
  if (named === undefined || !Array.isArray(tools)) return body
  const only = tools.filter((tool) => isJsonObject(tool) && isJsonObject(tool.function) && tool.function.name === named)
  return { ...body, tools: only, tool_choice: 'any' }
}
