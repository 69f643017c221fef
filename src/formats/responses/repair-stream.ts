/**
 * Repairs a provider's responses stream that deviates from the published shape; in other streams only the answer's id changes. Client
 * libraries build the answer from the events. They fail at an event for an item that was not started, or that has another id. So missing
 * events are added, and an item keeps its first id.
 */
import type { AnswerContext, PassHooks } from '@/formats/format'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import type { JsonEdit } from '@/lib/json-splice'
import type { Frame } from '@/lib/streams/sse'
import { createNumbering, isKnownEvent, LAST_EVENTS, LIFECYCLE } from './events'
import {
  identityOf,
  isKnownAnnotation,
  newItemId,
  type Put,
  repairAnnotation,
  repairArguments,
  repairedItem,
  repairHead,
  repairItem,
  repairPart,
  repairUsage,
} from './repair'

/** The state of an item, as sent to the client so far. Its content and summary parts are identified by index. */
type Item = {
  id: string
  type: JsonValue | undefined
  callId: JsonValue | undefined
  parts: Set<JsonValue>
  summaries: Set<JsonValue>
  done: JsonObject | undefined
}

/** Events that imply the start of an item and part; a call can't be started without its name. */
const START_OF: ReadonlyMap<string, { item: JsonObject; part: JsonObject }> = new Map(
  [
    {
      types: ['response.output_text.delta', 'response.output_text.done'],
      item: { type: 'message', status: 'in_progress', role: 'assistant', content: [] },
      part: { type: 'output_text', text: '', annotations: [], logprobs: [] },
    },
    {
      types: ['response.refusal.delta', 'response.refusal.done'],
      item: { type: 'message', status: 'in_progress', role: 'assistant', content: [] },
      part: { type: 'refusal', refusal: '' },
    },
    {
      types: ['response.reasoning_text.delta', 'response.reasoning_text.done'],
      item: { type: 'reasoning', summary: [] },
      part: { type: 'reasoning_text', text: '' },
    },
    {
      types: ['response.reasoning_summary_text.delta', 'response.reasoning_summary_text.done'],
      item: { type: 'reasoning', summary: [] },
      part: { type: 'summary_text', text: '' },
    },
  ].flatMap(({ types, item, part }) =>
    types.map((type): [string, { item: JsonObject; part: JsonObject }] => [type, { item, part }]),
  ),
)
/** Events that need no event before them: `created` is the first event, and `failed` is not passed on. */
const NEEDS_NOTHING: ReadonlySet<string> = new Set(['response.created', 'response.failed'])
const NONE: JsonObject[] = []
const NO_FRAMES: Frame[] = []
const ANNOTATION = 'response.output_text.annotation.added'

export class StreamRepair {
  private readonly whose: { id: string; created: number; own: [name: string, value: JsonValue, text: string][] }
  private readonly items = new Map<JsonValue | undefined, Item>()
  private readonly numbers = createNumbering()
  private readonly edits: JsonEdit[] = []
  /** Records an edit of the event. A field instead of a method, because it is passed to functions. */
  private readonly put: Put = (path, value, repair) => {
    this.edits.push({ path, value })
    this.hooks.repaired(repair)
  }
  private isCreated = false

  constructor(
    context: AnswerContext,
    private readonly hooks: PassHooks,
  ) {
    this.whose = identityOf(context)
  }

  private itemOf(key: JsonValue | undefined, { id, type, call_id: callId }: JsonObject): Item {
    const none = { parts: new Set<JsonValue>(), summaries: new Set<JsonValue>(), done: undefined }
    const item: Item = { id: textOf(id) || newItemId(type), type, callId, ...none }
    this.items.set(key, item)
    return item
  }

  private inOrder(): Item[] {
    const sorted = [...this.items].sort(([one], [other]) => Number(one) - Number(other))
    return sorted.map(([, item]) => item)
  }

  private created(): JsonObject[] {
    if (this.isCreated) return NONE
    this.isCreated = true
    this.hooks.repaired('item')
    const response = {
      ...Object.fromEntries(this.whose.own),
      object: 'response',
      created_at: this.whose.created,
      output: [],
    }
    const said = { error: null, incomplete_details: null, usage: null, status: 'in_progress', ...response }
    return [{ type: 'response.created', response: said }]
  }

  /** The missing start of an item or part before `event`. */
  private begun(event: JsonObject, type: string): JsonObject[] {
    const { output_index: key } = event
    const start = START_OF.get(type)
    const known = this.items.get(key)
    const fresh = known ? undefined : (start?.item ?? startOfDone(event, type))
    if (!known && !fresh) return NONE
    const events: JsonObject[] = []
    const item = known ?? this.itemOf(key, { ...fresh, id: textOf(event.item_id) || fresh?.id })
    const { id } = item
    if (fresh) events.push({ type: 'response.output_item.added', output_index: key, item: { ...fresh, id } })
    if (start && !partsOf(item, type).has(placeOf(event))) {
      const place = placeOf(event)
      partsOf(item, type).add(place)
      const [kind, name] = isOfSummary(type)
        ? ['response.reasoning_summary_part.added', 'summary_index']
        : ['response.content_part.added', 'content_index']
      events.push({ type: kind, item_id: id, output_index: key, [name]: place, part: start.part })
    }
    if (events.length > 0) this.hooks.repaired('item')
    return events
  }

  private noteBeginnings(event: JsonObject, type: string): void {
    const { output_index: key, item } = event
    if (type === 'response.output_item.added' && isJsonObject(item)) this.itemOf(key, item)
    const known = type.endsWith('_part.added') ? this.items.get(key) : undefined
    if (known) partsOf(known, type).add(placeOf(event))
  }

  private repairLifecycle(response: JsonObject, isLast: boolean): void {
    repairHead(this.put, this.edits, ['response'], response, this.whose)
    if (!isLast) return
    const { output } = response
    if (!Array.isArray(output) || output.length === 0) this.supplyOutput(output)
    else for (const [index, item] of output.entries()) this.repairFinal(item, index, output.length)
    repairUsage(this.put, ['response', 'usage'], response.usage, this.hooks)
  }

  private supplyOutput(stated: JsonValue | undefined): void {
    const done = this.inOrder().flatMap(({ id, done: item }) => (item ? [{ ...item, id }] : []))
    if (done.length > 0 || !Array.isArray(stated)) this.put(['response', 'output'], done.map(repairedItem), 'output')
  }

  /** Gives an item of the final response the id under which it was sent; matched by call id or index. */
  private repairFinal(item: JsonValue, index: number, count: number): void {
    if (!isJsonObject(item)) return
    const told = this.inOrder()
    const place = count === told.length ? told[index] : undefined
    const known = told.find(({ callId }) => callId !== undefined && callId === item.call_id) ?? place
    const id = known && known.type === item.type ? known.id : textOf(item.id) || newItemId(item.type)
    if (item.id !== id) this.put(['response', 'output', index, 'id'], id, 'id')
    repairItem(this.put, ['response', 'output', index], item, true)
  }

  private repairOfItem(event: JsonObject, type: string): void {
    const known = this.items.get(event.output_index)
    if (isJsonObject(event.item)) {
      const isDone = type === 'response.output_item.done'
      if (known && event.item.id !== known.id) this.put(['item', 'id'], known.id, 'id')
      repairItem(this.put, ['item'], event.item, isDone)
      if (known && isDone) known.done = event.item
    } else if (known && event.item_id !== known.id) {
      this.put(['item_id'], known.id, 'id')
    }
    if (type === 'response.function_call_arguments.done') repairArguments(this.put, ['arguments'], event.arguments)
    if (event.part !== undefined) repairPart(this.put, ['part'], event.part)
    if (type === ANNOTATION) repairAnnotation(this.put, ['annotation'], event.annotation)
  }

  /** Events that clients need before this one and that the provider omitted. */
  missing(event: JsonObject): Frame[] {
    const type = textOf(event.type) ?? ''
    if (!type.startsWith('response.') || !isKnownEvent(type) || NEEDS_NOTHING.has(type)) return NO_FRAMES
    if (LIFECYCLE.has(type)) return this.numbers.insert(this.created(), event)
    const first = this.created()
    const begins = this.begun(event, type)
    this.noteBeginnings(event, type)
    return this.numbers.insert(first.length > 0 ? [...first, ...begins] : begins, event)
  }

  /** Whether clients cannot handle an event. */
  isHidden(event: JsonObject): boolean {
    const type = textOf(event.type) ?? ''
    // The gateway encodes errors itself.
    if (type === 'error' || type === 'response.failed') return true
    const isRepeated = type === 'response.created' && this.isCreated
    const isOrphan = type.startsWith('response.') && !LIFECYCLE.has(type) && !this.items.has(event.output_index)
    const isForeign = type === ANNOTATION && !isKnownAnnotation(event.annotation)
    if (isKnownEvent(type) && !isRepeated && !isOrphan && !isForeign) return false
    this.hooks.repaired('type')
    return true
  }

  repair(event: JsonObject): readonly JsonEdit[] {
    this.edits.length = 0
    const type = textOf(event.type) ?? ''
    this.numbers.repair(this.edits, event)
    if (!LIFECYCLE.has(type)) this.repairOfItem(event, type)
    else {
      this.isCreated ||= type === 'response.created'
      if (isJsonObject(event.response)) this.repairLifecycle(event.response, LAST_EVENTS.has(type))
    }
    return this.edits
  }
}

function isOfSummary(type: string): boolean {
  return type.startsWith('response.reasoning_summary')
}

function partsOf(item: Item, type: string): Set<JsonValue> {
  return isOfSummary(type) ? item.summaries : item.parts
}

function placeOf({ summary_index: summary, content_index: content }: JsonObject): JsonValue {
  return summary ?? content ?? 0
}

/** The start of an item that is only known from its end. */
function startOfDone({ item }: JsonObject, type: string): JsonObject | undefined {
  if (type !== 'response.output_item.done' || !isJsonObject(item)) return undefined
  switch (item.type) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] }
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' }
    case 'custom_tool_call':
      return { ...item, status: 'in_progress', input: '' }
    default:
      return item
  }
}
