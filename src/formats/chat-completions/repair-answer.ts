/** Puts a provider's complete chat-completions answer right where it breaks the published shape. */
import type { AnswerContext, PassHooks } from '@/formats/format'
import { isJsonObject, type JsonObject } from '@/lib/json'
import type { JsonEdit } from '@/lib/json-splice'
import { encodeFinishReason } from './finish-reason'
import { type Put, repairCalls, repairChoice, repairContent, repairHead, repairSum } from './repair'
import { repairAnnotations } from './repair-annotations'
import { decodeUsage, encodeUsage } from './usage'

/** What is to change in the answer; where it states no usage, what is charged is stated. */
export function repairAnswer(json: JsonObject, context: AnswerContext, hooks: PassHooks): JsonEdit[] {
  const edits: JsonEdit[] = []
  const put: Put = (path, value, repair) => {
    edits.push({ path, value })
    hooks.repaired(repair)
  }
  repairHead(put, json, 'chat.completion', context.id, context)
  const choices = Array.isArray(json.choices) ? json.choices : []
  for (const [index, choice] of choices.entries()) {
    if (isJsonObject(choice) && isJsonObject(choice.message)) repairWhole(put, index, choice, choice.message)
    else put(['choices', index], undefined, 'choices')
  }
  if (decodeUsage(json.usage)) repairSum(put, json.usage)
  else put(['usage'], encodeUsage(hooks.charged()), 'usage')
  return edits
}

function repairWhole(put: Put, place: number, choice: JsonObject, message: JsonObject): void {
  const path = ['choices', place, 'message']
  const hasCalls = Array.isArray(message.tool_calls) && message.tool_calls.length > 0
  const index = Number.isSafeInteger(choice.index) && Number(choice.index) >= 0 ? Number(choice.index) : place
  const otherwise = isJsonObject(message.function_call)
    ? 'function_call'
    : encodeFinishReason({ kind: 'stop' }, { hasToolCalls: hasCalls, hasRefusal: false })
  repairChoice(put, ['choices', place], choice, index, otherwise)
  if (message.role !== 'assistant') put([...path, 'role'], 'assistant', 'role')
  repairContent(put, path, message)
  repairAnnotations(put, path, message.annotations)
  repairCalls(put, [...path, 'tool_calls'], message.tool_calls)
}
