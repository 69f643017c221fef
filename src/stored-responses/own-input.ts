/** What a request brings by itself: its input as items, and which of them only name others. */

import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { withChanges } from '@/lib/json-source/as-written'
import { STORED_ID } from './limits'

/** The request's own input as items; undefined where it is nothing that could be one, which is for the format to refuse. */
export function ownItems(input: JsonValue | undefined): JsonValue[] | undefined {
  if (input === undefined || input === null) return []
  if (typeof input === 'string') {
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
  }
  return Array.isArray(input) ? input : undefined
}

/** The id of another item that `item` only names; undefined where it is one itself. Its type may be left out. */
export function referenceOf(item: JsonValue): string | undefined {
  if (!isJsonObject(item) || typeof item.id !== 'string') return undefined
  if (item.type === 'item_reference') return item.id
  return (item.type === undefined || item.type === null) && item.role === undefined ? item.id : undefined
}

/** What ids of reasoning begin with. Without it a conversation goes on; without anything else it has a hole. */
export const isReasoningId = (id: string): boolean => id.startsWith('rs_')

/** What the ids of items begin with, by their types. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  compaction: 'cmp',
}
const OTHER_PREFIX = 'item'

/** The items as they are stored: each with a type, and an id by which it can be named. */
export function withIds(items: readonly JsonValue[]): JsonObject[] {
  return items.filter(isJsonObject).map((item) => {
    const type = typeof item.type === 'string' ? item.type : 'message'
    if (typeof item.id === 'string' && STORED_ID.test(item.id)) return withChanges(item, { type })
    const prefix = Object.hasOwn(PREFIXES, type) ? PREFIXES[type] : OTHER_PREFIX
    return withChanges(item, { type, id: randomId(prefix ?? OTHER_PREFIX) })
  })
}

/** An item as a list shows it: a message's content in parts, whatever short form its request had, and its status. */
export function asListed(item: JsonObject): JsonObject {
  const { type, role, content } = item
  if (type !== 'message') return item
  const isAnswer = role === 'assistant'
  const part = isAnswer ? { type: 'output_text', annotations: [] } : { type: 'input_text' }
  const parts = typeof content === 'string' ? [{ ...part, text: content }] : content
  return withChanges(item, { status: item.status ?? 'completed', content: parts })
}
