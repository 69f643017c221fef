/**
 * Reads repeated stream events without parsing. Most events differ from the event before only in text, padding and counts. If
 * this is so for two decoded events in a row, later ones are recognised by the fixed text around these values. Their counts are still read.
 * An event that doesn't match is decoded; the next two are compared again.
 */
import type { ChatEvent } from '@/chat/event'
import type { RunningFields, StreamDecoder, TextPiece } from '@/formats/format'
import type { JsonObject, JsonValue } from '@/lib/json'
import { isJsonObject, parseJson } from '@/lib/json'
import type { SseEvent } from '@/lib/streams/sse'
import {
  fill,
  inOrder,
  isSameTemplate,
  type TemplateSlot,
  type TextTemplate,
  templateAround,
  valuesAt,
} from './text-template'

export type StreamItem = { sse: SseEvent; json: JsonValue | undefined; events: ChatEvent[] }

/** Repeats of the event `like`: they differ from it only in their values. */
export type Repeats = { like: RepeatedItem; pieces: RepeatedPiece[] }

/** One repeat: the values of its slots in order, its text, and the usage events for its counts. */
export type RepeatedPiece = { text: string; values: readonly string[]; usage: readonly ChatEvent[] }

/** The latest decoded event, its variable values (`textAt` is the text's index), and the fixed text around them. */
type RepeatedItem = {
  name: SseEvent['event']
  event: TextPiece
  slots: readonly TemplateSlot[]
  textAt: number
  raw: TextTemplate
  data: TextTemplate
  usage: JsonObject | undefined
}

/** The part of a decoder that reads counts. */
type Teller = Pick<StreamDecoder, 'running' | 'pushUsage'>

/** A copy of the provider's usage object. `holders` has, for each count, the object inside the copy that contains the count. */
type Counter = { usage: JsonObject; holders: (JsonObject | undefined)[] }

const NO_EVENTS: readonly ChatEvent[] = []
const NO_NAMES: readonly string[] = []

export class RepeatPattern {
  private latest: RepeatedItem | undefined
  private isKnown = false
  private counter: Counter | undefined

  constructor(private readonly decoder: Teller) {}

  learn(item: StreamItem): void {
    const { latest } = this
    const fresh = repeatedItem(item, this.decoder.running)
    this.isKnown = fresh !== undefined && latest !== undefined && isRepeat(latest, fresh)
    this.latest = fresh
    this.counter = undefined
  }

  /** The repeated events at the start of `text`, and the position after them. The decoder reads the token counts in them. */
  find(text: string): { repeats: Repeats; end: number } | undefined {
    const { latest } = this
    if (!this.isKnown || !latest) return undefined
    const pieces: RepeatedPiece[] = []
    let end = 0
    for (let found = valuesAt(text, 0, latest.raw); found; found = valuesAt(text, end, latest.raw)) {
      const { values } = found
      const word = values[latest.textAt] ?? ''
      if (word === '') break
      pieces.push({
        text: word,
        values,
        usage: latest.usage ? this.tellUsage(latest, latest.usage, values) : NO_EVENTS,
      })
      end = found.end
      if (end === text.length) break
    }
    return pieces.length === 0 ? undefined : { repeats: { like: latest, pieces }, end }
  }

  /** The decoder's usage events for the counts in a repeat's `values`. */
  private tellUsage({ slots }: RepeatedItem, usage: JsonObject, values: readonly string[]): readonly ChatEvent[] {
    this.counter ??= counterOf(slots, usage)
    for (let index = 0; index < slots.length; index++) {
      const [holder, name] = [this.counter.holders[index], slots[index]?.name]
      if (holder && name) holder[name] = Number(values[index])
    }
    return this.decoder.pushUsage?.(this.counter.usage) ?? NO_EVENTS
  }
}

/** The decoded event of a repeat: a copy of the repeated event with another `text`. */
export function eventOf({ event }: RepeatedItem, text: string): TextPiece {
  const { type, choice, block } = event
  return { type, choice, block, text }
}

/** A repeat in the form of a decoded event. */
export function itemOf(like: RepeatedItem, { text, values, usage }: RepeatedPiece): StreamItem {
  const data = fill(like.data, values)
  const sse = { event: like.name, data, raw: fill(like.raw, values) }
  return { sse, json: parseJson(data), events: [eventOf(like, text), ...usage] }
}

/** The variable values of a repeat. */
export function slotsOf({ slots }: RepeatedItem, { values }: RepeatedPiece): TemplateSlot[] {
  return slots.map((slot, index) => ({ ...slot, value: values[index] ?? '' }))
}

/** All events of a batch in decoded form: its repeats, then its items. */
export function itemsOf({ items, repeats }: { items: StreamItem[]; repeats?: Repeats | undefined }): StreamItem[] {
  return repeats ? [...repeats.pieces.map((piece) => itemOf(repeats.like, piece)), ...items] : items
}

/** The event with slots for the values that change, to recognise its repeats. Undefined if it ends in CR and may be incomplete. */
function repeatedItem(item: StreamItem, running: RunningFields | undefined): RepeatedItem | undefined {
  const [event, more, another] = item.events
  if (another || (event?.type !== 'text-delta' && event?.type !== 'reasoning-delta')) return undefined
  const { data: text = '', raw: whole } = item.sse
  const usage = statedUsage(item.json, running)
  if (!whole.endsWith('\n') || (more && (more.type !== 'usage' || !usage))) return undefined
  const slots = inOrder(text, [{ isCount: false, value: event.text }, ...namedSlots(item.json, usage, running)])
  const raw = templateAround(whole, slots)
  const data = raw && templateAround(text, slots)
  return (
    data && {
      name: item.sse.event,
      event,
      slots,
      textAt: slots.findIndex(({ name }) => name === undefined),
      raw,
      data,
      usage,
    }
  )
}

function statedUsage(json: JsonValue | undefined, running: RunningFields | undefined): JsonObject | undefined {
  const stated = running && isJsonObject(json) ? json[running.usageField] : undefined
  return isJsonObject(stated) ? stated : undefined
}

function namedSlots(
  json: JsonValue | undefined,
  usage: JsonObject | undefined,
  running: RunningFields | undefined,
): TemplateSlot[] {
  if (!running || !isJsonObject(json)) return []
  const slots: TemplateSlot[] = []
  for (const name of running.padding) {
    const value = json[name]
    if (typeof value === 'string') slots.push({ name, isCount: false, value })
  }
  for (const name of running.numbering ?? NO_NAMES) {
    const value = json[name]
    if (typeof value === 'number') slots.push({ name, isCount: true, value: String(value) })
  }
  for (const name of usage ? running.counts : NO_NAMES) {
    const value = usage && holderOf(usage, name)?.[name]
    if (typeof value === 'number') slots.push({ name, isCount: true, value: String(value) })
  }
  return slots
}

/** The object inside `usage` that has a number with this name. */
function holderOf(usage: JsonObject, name: string): JsonObject | undefined {
  if (typeof usage[name] === 'number') return usage
  for (const value of Object.values(usage)) {
    const holder = isJsonObject(value) ? holderOf(value, name) : undefined
    if (holder) return holder
  }
  return undefined
}

function counterOf(slots: readonly TemplateSlot[], stated: JsonObject): Counter {
  const usage = structuredClone(stated)
  return { usage, holders: slots.map(({ name, isCount }) => (isCount && name ? holderOf(usage, name) : undefined)) }
}

function isRepeat(latest: RepeatedItem, fresh: RepeatedItem): boolean {
  const [one, other] = [latest.event, fresh.event]
  const isSamePlace = one.type === other.type && one.choice === other.choice && one.block === other.block
  return isSamePlace && one.text !== other.text && isSameTemplate(latest.raw, fresh.raw)
}
