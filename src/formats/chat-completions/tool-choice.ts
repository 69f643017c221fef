/** The choice of tools for services that know `auto`, `any` and `none` alone. */
import { isJsonObject, type JsonObject } from '@/lib/json'

/** The same choice in those words: where one function has to be called, no other tool is offered. Never changes `body`. */
export function withChoiceOfAny<Body extends JsonObject>(body: Body): Body {
  const { tool_choice: choice, tools } = body
  if (choice === 'required') return { ...body, tool_choice: 'any' }
  const named = isJsonObject(choice) && isJsonObject(choice.function) ? choice.function.name : undefined
  if (named === undefined || !Array.isArray(tools)) return body
  const only = tools.filter((tool) => isJsonObject(tool) && isJsonObject(tool.function) && tool.function.name === named)
  return { ...body, tools: only, tool_choice: 'any' }
}
