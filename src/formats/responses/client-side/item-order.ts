/** The order that every format can say: what stands between a call and its output comes after the output. */
import { typeOfItem } from './check-request'
import type { WireAnyItem } from './wire-items'

/** An item and where it stands in the body. */
export type PlacedItem = { item: WireAnyItem; path: string }

const CALLS: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call'])
const OUTPUTS: ReadonlySet<unknown> = new Set(['function_call_output', 'custom_tool_call_output'])

/** The items in that order. Calls that have no output hold nothing up. */
export function orderItems(items: readonly WireAnyItem[]): PlacedItem[] {
  const lastOutput = new Map<unknown, number>()
  items.forEach((item, index) => {
    if (OUTPUTS.has(item.type)) lastOutput.set(item.call_id, index)
  })
  const open = new Set<unknown>()
  const ordered: PlacedItem[] = []
  let waiting: PlacedItem[] = []
  items.forEach((item, index) => {
    const placed = { item, path: `input[${index}]` }
    if (open.size > 0 && typeOfItem(item) === 'message') {
      waiting.push(placed)
      return
    }
    ordered.push(placed)
    if (CALLS.has(item.type) && (lastOutput.get(item.call_id) ?? -1) > index) open.add(item.call_id)
    if (OUTPUTS.has(item.type)) open.delete(item.call_id)
    if (open.size > 0 || waiting.length === 0) return
    for (const late of waiting) ordered.push(late)
    waiting = []
  })
  return [...ordered, ...waiting]
}
