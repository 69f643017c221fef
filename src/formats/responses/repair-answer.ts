/** Puts a provider's complete response right where it breaks the published shape, and gives it the gateway's name. */
import type { AnswerContext, PassHooks } from '@/formats/format'
import { isJsonObject, type JsonObject, textOf } from '@/lib/json'
import type { JsonEdit } from '@/lib/json-splice'
import { identityOf, newItemId, repairHead, repairItem, repairUsage } from './repair'
import type { Put } from './repair-annotations'

/** What is to change in the answer; where it states no usage, what is charged is stated. */
export function repairAnswer(json: JsonObject, context: AnswerContext, hooks: PassHooks): JsonEdit[] {
  const edits: JsonEdit[] = []
  const put: Put = (path, value, repair) => {
    edits.push({ path, value })
    hooks.repaired(repair)
  }
  repairHead(put, edits, [], json, identityOf(context))
  for (const [index, item] of (Array.isArray(json.output) ? json.output : []).entries()) {
    if (!isJsonObject(item)) {
      put(['output', index], undefined, 'output')
      continue
    }
    if (!textOf(item.id)) put(['output', index, 'id'], newItemId(item.type), 'id')
    repairItem(put, ['output', index], item, true)
  }
  repairUsage(put, ['usage'], json.usage, hooks)
  return edits
}
