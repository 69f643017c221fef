/**
 * Reads the items of a responses stream as blocks. Items are identified by their index in the output, never by id, which some services
 * change between events. A message has one block per part; any other item is one block. The final text of a finished part or item is only
 * used if no pieces came before, so the pieces are not stored. Blocks are numbered by order, not by the provider's index.
 */
import type { ChatEvent } from '@/chat/event'
import { type Source, withoutPlaces } from '@/chat/sources'
import { decodeAnnotations } from '@/formats/url-citations'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { readImage, readPart, readProof, reasoningText } from './decode-content'
import { createCall, type OpenCall, type Place } from './decode-stream-calls'

type TextKind = 'text' | 'refusal'
type Part = { kind: TextKind; at: Place; hasText: boolean; isOpen: boolean; sources?: readonly Source[] }
type Message = { type: 'message'; parts: Map<JsonValue, Part> }
/** `source`: the field whose text is read, summary or content: the first to arrive. `section`: index of the part being read. */
type Thought = { type: 'reasoning'; at: Place; source: string | undefined; section: JsonValue; hasText: boolean }
type Call = { type: 'call'; call: OpenCall }
type Item = Message | Thought | Call | { type: 'skipped' }
type Slot = { item: Item; isOpen: boolean; id: string | undefined }

export class BlockReader {
  private readonly slots = new Map<JsonValue | undefined, Slot>()
  private count = 0
  private firstText: number | undefined
  /** Number of items that the events contained, by kind. */
  private readonly told = new Map<string, number>()
  private readonly saw = { call: false, refusal: false, nameless: false }

  private takePlace(): Place {
    return { choice: 0, block: this.count++ }
  }

  private open(key: JsonValue | undefined, item: JsonObject): ChatEvent[] {
    const before = this.slots.get(key)
    const slot: Slot = { item: { type: 'skipped' }, isOpen: true, id: textOf(item.call_id) ?? textOf(item.id) }
    this.slots.set(key, slot)
    const kind = typeOf(textOf(item.type))
    this.told.set(kind, (this.told.get(kind) ?? 0) + 1)
    const ends = before?.isOpen ? this.close(before, undefined) : []
    switch (item.type) {
      case 'message':
        slot.item = { type: 'message', parts: new Map() }
        return ends
      case 'reasoning': {
        const at = this.takePlace()
        slot.item = { type: 'reasoning', at, source: undefined, section: null, hasText: false }
        return [...ends, { type: 'reasoning-start', ...at }]
      }
      case 'function_call':
      case 'custom_tool_call': {
        const call = createCall(() => this.takePlace(), item)
        slot.item = { type: 'call', call }
        return [...ends, ...call.start(item)]
      }
      default:
        return ends
    }
  }

  /** The item at an index. If there is none, or an item of another type has ended there, an item of `type` begins. */
  private itemAt(event: JsonObject, type: string): { item: Item; starts: ChatEvent[] } {
    const key = keyOf(event)
    const known = this.slots.get(key)
    if (known && (known.isOpen || typeOf(known.item) === typeOf(type))) return { item: known.item, starts: [] }
    const starts = this.open(key, { type })
    return { item: this.slots.get(key)?.item ?? { type: 'skipped' }, starts }
  }

  private partOf(message: Message, key: JsonValue, kind: TextKind): { part: Part; starts: ChatEvent[] } {
    const known = message.parts.get(key)
    if (known?.kind === kind) return { part: known, starts: [] }
    const part: Part = { kind, at: this.takePlace(), hasText: false, isOpen: true }
    message.parts.set(key, part)
    if (kind === 'text') this.firstText ??= part.at.block
    this.saw.refusal ||= kind === 'refusal'
    const starts: ChatEvent[] = known ? endPart(known) : []
    return { part, starts: [...starts, { type: `${kind}-start`, ...part.at }] }
  }

  private pushText(event: JsonObject, kind: TextKind, text: string, isWhole: boolean): ChatEvent[] {
    const { item, starts } = this.itemAt(event, 'message')
    if (item.type !== 'message' || text === '') return starts
    const { part, starts: opened } = this.partOf(item, event.content_index ?? 0, kind)
    if (!part.isOpen || (isWhole && part.hasText)) return [...starts, ...opened]
    part.hasText = true
    const delta: ChatEvent = { type: `${kind}-delta`, ...part.at, text }
    return starts.length + opened.length === 0 ? [delta] : [...starts, ...opened, delta]
  }

  /** Later events contain all sources. Positions are only known for the first text. */
  private cite(part: Part, sources: readonly Source[]): void {
    if (sources.length > 0) part.sources = part.at.block === this.firstText ? sources : withoutPlaces(sources)
  }

  private pushAnnotation(event: JsonObject): ChatEvent[] {
    const { item, starts } = this.itemAt(event, 'message')
    const sources = decodeAnnotations([event.annotation ?? null])
    if (item.type !== 'message' || sources.length === 0) return starts
    const { part, starts: opened } = this.partOf(item, event.content_index ?? 0, 'text')
    this.cite(part, [...(part.sources ?? []), ...sources])
    return [...starts, ...opened]
  }

  private pushThought(event: JsonObject, source: string, text: string, isWhole: boolean): ChatEvent[] {
    const { item, starts } = this.itemAt(event, 'reasoning')
    if (item.type !== 'reasoning' || text === '') return starts
    item.source ??= source
    if (item.source !== source) return starts
    const section = event.summary_index ?? event.content_index ?? 0
    const isNew = item.section !== section
    if (isWhole && !isNew) return starts
    const delta = (piece: string): ChatEvent => ({ type: 'reasoning-delta', ...item.at, text: piece })
    const gap = isNew && item.hasText ? [delta('\n\n')] : []
    item.section = section
    item.hasText = true
    return [...starts, ...gap, delta(text)]
  }

  private pushCall(event: JsonObject, type: string, text: JsonValue | undefined, isWhole: boolean): ChatEvent[] {
    const { item, starts } = this.itemAt(event, type)
    if (item.type !== 'call') return starts
    return [...starts, ...(isWhole ? item.call.complete(text) : item.call.append(textOf(text) ?? ''))]
  }

  /** Ends an item; `whole` is its final form, if it was sent. */
  private close(slot: Slot, whole: JsonObject | undefined): ChatEvent[] {
    slot.isOpen = false
    const { item } = slot
    switch (item.type) {
      case 'message':
        return [...this.fillMessage(item, whole), ...[...item.parts.values()].flatMap(endPart)]
      case 'reasoning':
        return this.closeThought(item, whole)
      case 'call': {
        const events = item.call.end(whole)
        this.saw.call ||= item.call.isNamed()
        this.saw.nameless ||= !item.call.isNamed() && item.call.hasText()
        return events
      }
      case 'skipped':
        return this.closeSkipped(whole)
    }
  }

  private fillMessage(message: Message, whole: JsonObject | undefined): ChatEvent[] {
    const content = whole && Array.isArray(whole.content) ? whole.content : []
    return content.flatMap((wirePart, index) => {
      const read = readPart(wirePart)
      if (!read || read.text === '') return []
      const { part, starts } = this.partOf(message, index, read.kind)
      if (isJsonObject(wirePart)) this.cite(part, decodeAnnotations(wirePart.annotations))
      if (part.hasText) return starts
      part.hasText = true
      return [...starts, { type: `${read.kind}-delta`, ...part.at, text: read.text }]
    })
  }

  private closeThought({ at, hasText }: Thought, whole: JsonObject | undefined): ChatEvent[] {
    const text = whole && !hasText ? reasoningText(whole) : ''
    const { signature } = whole ? readProof(whole) : {}
    return [
      ...(text === '' ? [] : [{ type: 'reasoning-delta' as const, ...at, text }]),
      { type: 'reasoning-end', ...at, ...(signature && { signature }) },
    ]
  }

  /** Ends an item of a provider-run tool. Only an image in its result is passed on: all formats have images. */
  private closeSkipped(whole: JsonObject | undefined): ChatEvent[] {
    const image = whole?.type === 'image_generation_call' ? readImage(whole) : undefined
    return image ? [{ type: 'image', ...this.takePlace(), ...image }] : []
  }

  /** Handles a finished item; some providers repeat the event. */
  private done(event: JsonObject, item: JsonObject): ChatEvent[] {
    const key = keyOf(event)
    const known = this.slots.get(key)
    const id = textOf(item.call_id) ?? textOf(item.id)
    const isKnown = known !== undefined && (known.isOpen || known.id === undefined || known.id === id)
    const isSame = isKnown && (typeOf(known.item) === typeOf(textOf(item.type)) || known.item.type === 'skipped')
    if (isSame && !known.isOpen) return []
    const starts = isSame ? [] : this.open(key, item)
    const slot = this.slots.get(key)
    return slot ? [...starts, ...this.close(slot, item)] : starts
  }

  /** Handles an event about an item or its part; other events give nothing. */
  push(type: string, event: JsonObject): ChatEvent[] {
    switch (type) {
      case 'response.output_text.delta':
        return this.pushText(event, 'text', textOf(event.delta) ?? '', false)
      case 'response.refusal.delta':
        return this.pushText(event, 'refusal', textOf(event.delta) ?? '', false)
      case 'response.reasoning_summary_text.delta':
        return this.pushThought(event, 'summary', textOf(event.delta) ?? '', false)
      case 'response.reasoning_text.delta':
        return this.pushThought(event, 'content', textOf(event.delta) ?? '', false)
      case 'response.function_call_arguments.delta':
        return this.pushCall(event, 'function_call', event.delta, false)
      case 'response.custom_tool_call_input.delta':
        return this.pushCall(event, 'custom_tool_call', event.delta, false)
      case 'response.output_item.added':
        return isJsonObject(event.item) ? this.open(keyOf(event), event.item) : []
      case 'response.output_item.done':
        return isJsonObject(event.item) ? this.done(event, event.item) : []
      default:
        return this.pushDone(type, event)
    }
  }

  private pushDone(type: string, event: JsonObject): ChatEvent[] {
    switch (type) {
      case 'response.output_text.done':
        return this.pushText(event, 'text', textOf(event.text) ?? '', true)
      case 'response.output_text.annotation.added':
        return this.pushAnnotation(event)
      case 'response.refusal.done':
        return this.pushText(event, 'refusal', textOf(event.refusal) ?? '', true)
      case 'response.reasoning_summary_text.done':
        return this.pushThought(event, 'summary', textOf(event.text) ?? '', true)
      case 'response.reasoning_text.done':
        return this.pushThought(event, 'content', textOf(event.text) ?? '', true)
      case 'response.function_call_arguments.done':
        return this.pushCall(event, 'function_call', event.arguments, true)
      case 'response.custom_tool_call_input.done':
        return this.pushCall(event, 'custom_tool_call', event.input, true)
      default:
        return []
    }
  }

  closeAll(output: readonly JsonValue[] = []): ChatEvent[] {
    const items = output.filter(isJsonObject)
    // If events were missing, the list has other indexes than the events. Items are then found by id.
    if (this.slots.size === 0) return items.flatMap((item, index) => this.done({ output_index: index }, item))
    const closed = [...this.slots.values()].flatMap((slot) => {
      if (!slot.isOpen) return []
      const isOne = ({ call_id: call, id }: JsonObject) => slot.id !== undefined && (call === slot.id || id === slot.id)
      return this.close(slot, items.find(isOne))
    })
    return [...closed, ...this.untold(items)]
  }

  /** Decodes messages and calls that only the final output contains: those beyond the number in the events. */
  private untold(items: readonly JsonObject[]): ChatEvent[] {
    const left = new Map(this.told)
    return items.flatMap((item, index) => {
      const kind = typeOf(textOf(item.type))
      const count = left.get(kind) ?? 0
      left.set(kind, count - 1)
      if (count > 0 || (kind !== 'message' && kind !== 'call')) return []
      return this.done({ item_id: `untold ${index}` }, item)
    })
  }

  hasToolCalls(): boolean {
    return this.saw.call
  }

  hasRefusal(): boolean {
    return this.saw.refusal
  }

  hasNamelessCall(): boolean {
    return this.saw.nameless
  }
}

/** The key of an item: its index in the output, or else its id. */
function keyOf({ output_index: index, item_id: id }: JsonObject): JsonValue | undefined {
  return typeof index === 'number' ? index : id
}

/** The kind of block for an item, given by its wire type or its state. */
function typeOf(of: Item | string | undefined): string {
  if (typeof of === 'object') return of.type
  if (of === 'function_call' || of === 'custom_tool_call') return 'call'
  return of === 'message' || of === 'reasoning' ? of : 'skipped'
}

function endPart(part: Part): ChatEvent[] {
  if (!part.isOpen) return []
  part.isOpen = false
  if (part.kind === 'text' && part.sources) return [{ type: 'text-end', ...part.at, sources: part.sources }]
  return [{ type: `${part.kind}-end`, ...part.at }]
}
