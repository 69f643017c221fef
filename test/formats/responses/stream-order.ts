/**
 * Judges the order of a responses stream by what is published of it, knowing nothing of the encoder: numbers without a gap, every
 * item added before its parts and done after them, pieces that add up to what is said at their end, and one terminal event.
 */
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject } from '@/lib/json'

const TERMINAL: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed'])
const PREFIXES: Record<string, string> = {
  message: 'msg_',
  function_call: 'fc_',
  custom_tool_call: 'ctc_',
  reasoning: 'rs_',
  image_generation_call: 'ig_',
}
/** Which field of a piece's last event repeats all of its deltas. */
const WHOLE: Record<string, string> = {
  'response.output_text': 'text',
  'response.refusal': 'refusal',
  'response.reasoning_summary_text': 'text',
  'response.function_call_arguments': 'arguments',
  'response.custom_tool_call_input': 'input',
}

type Item = { id: unknown; type: unknown; openPart?: string; deltas: string; isSaid: boolean; done?: JsonObject }

/** Throws where `events` break a rule; returns the response of the terminal event. */
export function judgeOrder(events: readonly JsonObject[]): JsonObject {
  const items: Item[] = []
  let first: JsonObject | undefined
  let last: JsonObject | undefined
  events.forEach((event, index) => {
    assert(event.sequence_number === index, `event ${index} has the number ${event.sequence_number}`)
    assert(!last, `${event.type} follows the terminal event`)
    if (index === 0) assert(event.type === 'response.created', 'created comes first')
    if (index === 1) assert(event.type === 'response.in_progress', 'in_progress comes second')
    if (isJsonObject(event.response)) {
      first ??= event.response
      assert(
        event.response.id === first.id && event.response.model === first.model,
        'the response keeps its id and model',
      )
    }
    if (TERMINAL.has(event.type)) last = judgeEnd(event, items, events[index - 1])
    else if (index > 1 && event.type !== 'error') judgeItemEvent(event, items)
  })
  assert(last, 'there is a terminal event')
  return last
}

function judgeEnd(event: JsonObject, items: readonly Item[], before: JsonObject | undefined): JsonObject {
  const { response } = event
  assert(isJsonObject(response), 'the terminal event has the response')
  assert(`response.${response.status}` === event.type, `${event.type} says the status ${response.status}`)
  assert(Array.isArray(response.output), 'the response has its output')
  assert(response.output.length === items.length, 'the output has the items of the stream')
  if (event.type === 'response.failed') assert(before?.type === 'error', 'an error comes before the failed response')
  else {
    items.forEach((item, index) => {
      assert(item.done, `item ${index} is done`)
      assert(
        JSON.stringify(item.done) === JSON.stringify(response.output?.[index as never]),
        `item ${index} stays as it was`,
      )
    })
  }
  return response
}

function judgeItemEvent(event: JsonObject, items: Item[]): void {
  const type = String(event.type)
  const index = event.output_index
  assert(typeof index === 'number', `${type} has an output_index`)
  if (type === 'response.output_item.added') {
    assert(index === items.length, `item ${index} is the next one`)
    assert(isJsonObject(event.item), 'an item is added')
    const { id, type: kind } = event.item
    assert(String(id).startsWith(PREFIXES[String(kind)] ?? '?'), `${id} is the id of a ${kind}`)
    assert(event.item.status === 'in_progress', 'a new item is in progress')
    assert(
      items.every((item) => item.id !== id),
      'ids are unique',
    )
    items.push({ id, type: kind, deltas: '', isSaid: false })
    return
  }
  const item = items[index]
  assert(item && !item.done, `${type} belongs to an open item`)
  if (type === 'response.output_item.done') {
    assert(
      isJsonObject(event.item) && event.item.id === item.id && event.item.type === item.type,
      'the same item is done',
    )
    assert(item.openPart === undefined, 'its part is done before')
    assert(event.item.status !== 'in_progress', 'a done item is not in progress')
    item.done = event.item
    return
  }
  assert(event.item_id === item.id, `${type} names its item`)
  judgePiece(type, event, item)
}

function judgePiece(type: string, event: JsonObject, item: Item): void {
  const at = type.lastIndexOf('.')
  const [piece, verb] = [type.slice(0, at), type.slice(at + 1)]
  const isPart = piece.endsWith('_part')
  if (isPart) {
    assert((event.content_index ?? event.summary_index) === 0, 'items have one part')
    assert((verb === 'added') === (item.openPart === undefined), `${type} in its turn`)
    if (verb === 'done') assert(item.isSaid, 'the piece is whole before its part')
    item.openPart = verb === 'added' ? piece : undefined
    return
  }
  const field = WHOLE[piece]
  assert(field, `${type} is an event that clients know`)
  const isCall = item.type === 'function_call' || item.type === 'custom_tool_call'
  if (!isCall) assert(item.openPart !== undefined, `${type} stands in a part`)
  assert(!item.isSaid, `${type} comes before the piece is whole`)
  if (verb === 'delta') item.deltas += event.delta
  else {
    assert(event[field] === item.deltas, `${type} repeats its deltas`)
    item.isSaid = true
  }
}
