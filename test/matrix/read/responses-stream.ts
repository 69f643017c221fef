/** The order of a responses stream: what may follow what, with which numbers and ids, as the stream helper of `openai` insists on. */
import type { JsonObject, JsonValue } from '@/lib/json'
import { asObject, objects, textOf } from './reading'

/** What a stream said piece by piece: its finished items by their place, and all text of its messages. */
type Streamed = { items: JsonObject[]; text: string }

type OpenItem = { id: JsonValue | undefined; type: string; parts: string[]; argumentsText: string }

/** The event that each kind of delta belongs to, and the field of `done` that must say the same as all deltas. */
const TEXTS: Record<string, { field: string; isPart: boolean; item: string }> = {
  'response.output_text': { field: 'text', isPart: true, item: 'message' },
  'response.refusal': { field: 'refusal', isPart: true, item: 'message' },
  'response.reasoning_summary_text': { field: 'text', isPart: true, item: 'reasoning' },
  'response.function_call_arguments': { field: 'arguments', isPart: false, item: 'function_call' },
  'response.custom_tool_call_input': { field: 'input', isPart: false, item: 'custom_tool_call' },
}

/** Reads the events of one stream; what is out of order is a complaint. */
export function checkStream(events: readonly JsonObject[], complaints: string[]): Streamed {
  const open = new Map<JsonValue | undefined, OpenItem>()
  const done: JsonObject[] = []
  let text = ''
  if (events[0]?.type !== 'response.created') complaints.push('response.created is not the first event')
  if (events[1]?.type !== 'response.in_progress') complaints.push('response.in_progress is not the second event')
  for (const [position, event] of events.entries()) {
    const type = textOf(event.type)
    const { output_index: index } = event
    if (event.sequence_number !== position) complaints.push(`sequence_number ${event.sequence_number} at ${position}`)
    const item = open.get(index)
    if (type === 'response.output_item.added') {
      const added = asObject(event.item) ?? {}
      if (index !== open.size) complaints.push(`output_index ${index} after ${open.size} items`)
      if (added.type !== 'reasoning' && added.status !== 'in_progress')
        complaints.push(`an item begins as ${added.status}`)
      open.set(index, { id: added.id, type: textOf(added.type), parts: [], argumentsText: '' })
    } else if (type === 'response.output_item.done') {
      const finished = asObject(event.item) ?? {}
      if (!item || finished.id !== item.id) complaints.push('an item is done that was not begun')
      if (item) checkWhole(item, finished, complaints)
      done[Number(index)] = finished
    } else if (index !== undefined) {
      if (!item || event.item_id !== item.id || done[Number(index)])
        complaints.push(`${type} for an item that is not open`)
      else readPiece(type, event, item, complaints)
      if (type === 'response.output_text.delta' || type === 'response.refusal.delta') text += textOf(event.delta)
    }
  }
  return { items: done, text }
}

function readPiece(type: string, event: JsonObject, item: OpenItem, complaints: string[]): void {
  const at = Number(event.content_index ?? event.summary_index ?? 0)
  if (type.endsWith('part.added')) {
    if (at !== item.parts.length) complaints.push(`part ${at} after ${item.parts.length} parts`)
    item.parts.push('')
    return
  }
  const part = item.parts[at]
  if (type.endsWith('part.done')) {
    const { text, refusal } = asObject(event.part) ?? {}
    if ((text ?? refusal) !== part) complaints.push(`${type} says ${text ?? refusal}`)
    return
  }
  if (type === 'response.output_text.annotation.added') {
    if (part === undefined) complaints.push(`${type} before its part`)
    return
  }
  const [base, isDelta] = [type.replace(/\.(delta|done)$/, ''), type.endsWith('.delta')]
  const rule = TEXTS[base]
  if (!rule || rule.item !== item.type) {
    if (!type.startsWith('response.image_generation_call.')) complaints.push(`${type} in a ${item.type}`)
    return
  }
  if (rule.isPart && part === undefined) complaints.push(`${type} before its part`)
  const before = rule.isPart ? (part ?? '') : item.argumentsText
  if (!isDelta) {
    if (event[rule.field] !== before) complaints.push(`${type} says ${event[rule.field]}, not ${before}`)
    return
  }
  if (textOf(event.delta) === '') complaints.push(`an empty ${type}`)
  if (rule.isPart) item.parts[at] = before + textOf(event.delta)
  else item.argumentsText = before + textOf(event.delta)
}

function checkWhole({ type, parts, argumentsText }: OpenItem, item: JsonObject, complaints: string[]): void {
  if (item.type !== type) complaints.push(`a ${type} ends as ${item.type}`)
  const said = [...objects(item.content), ...objects(item.summary)].map(({ text, refusal }) => text ?? refusal)
  if (JSON.stringify(said) !== JSON.stringify(parts)) complaints.push(`an item ends as ${JSON.stringify(said)}`)
  if (type === 'function_call' && item.arguments !== argumentsText) complaints.push(`a call ends as ${item.arguments}`)
}
