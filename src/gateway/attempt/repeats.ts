/**
 * Most events of a stream differ from the one before in nothing but the text they bring. Where two in a row were decoded and did,
 * those that follow are known by the text around theirs, without being parsed: what they mean is what these two meant. Whatever
 * else comes, by a single character, is decoded as ever, and the next two are looked at anew.
 */
import type { ChatEvent } from '@/chat/event'
import type { JsonValue } from '@/lib/json'
import { parseJson } from '@/lib/json'
import type { SseEvent } from '@/lib/sse'
import { isSameTemplate, type TextTemplate, templateAround, wordsIn } from './text-template'

/** One wire event and what it means. */
export type StreamItem = { sse: SseEvent; json: JsonValue | undefined; events: ChatEvent[] }

/** Events that are like one before them but for their texts. */
export type Repeats = { like: RepeatedItem; texts: string[] }

type TextEvent = Extract<ChatEvent, { type: 'text-delta' | 'reasoning-delta' }>

/** What is repeated: the latest that was decoded, and what stands around its text. */
type RepeatedItem = { item: StreamItem; event: TextEvent; raw: TextTemplate; data: TextTemplate }

interface RepeatPattern {
  /** Takes note of each decoded event, in order. */
  learn(item: StreamItem): void
  /** The repeats that `text`, which begins with an event, begins with, and where they end. */
  find(text: string): { repeats: Repeats; end: number } | undefined
}

/** Creates the pattern of one stream. */
export function createRepeatPattern(): RepeatPattern {
  let latest: RepeatedItem | undefined
  let isKnown = false
  return {
    learn(item) {
      const fresh = repeatedItem(item)
      isKnown = fresh !== undefined && latest !== undefined && isRepeat(latest, fresh)
      latest = fresh
    },
    find(text) {
      if (!isKnown || !latest) return undefined
      const { words, end } = wordsIn(text, latest.raw)
      return words.length === 0 ? undefined : { repeats: { like: latest, texts: words }, end }
    },
  }
}

/** The hub's event for one of the texts. */
export function eventOf({ event }: RepeatedItem, text: string): ChatEvent {
  const { type, choice, block } = event
  return { type, choice, block, text }
}

/** One of the repeats as if it had been decoded. */
export function itemOf(like: RepeatedItem, text: string): StreamItem {
  const data = like.data.before + text + like.data.after
  const raw = like.raw.before + text + like.raw.after
  return { sse: { event: like.item.sse.event, data, raw }, json: parseJson(data), events: [eventOf(like, text)] }
}

/** All of a batch as if each had been decoded. */
export function itemsOf({ items, repeats }: { items: StreamItem[]; repeats?: Repeats | undefined }): StreamItem[] {
  return repeats ? [...repeats.texts.map((text) => itemOf(repeats.like, text)), ...items] : items
}

/** A block that ends in CR may go on, and so is none that another could be told by. */
function repeatedItem(item: StreamItem): RepeatedItem | undefined {
  const [event, another] = item.events
  if (another !== undefined || (event?.type !== 'text-delta' && event?.type !== 'reasoning-delta')) return undefined
  const { data: text = '', raw: whole } = item.sse
  const raw = whole.endsWith('\n') ? templateAround(whole, event.text) : undefined
  const data = raw && templateAround(text, event.text)
  return data && { item, event, raw, data }
}

function isRepeat(latest: RepeatedItem, fresh: RepeatedItem): boolean {
  const [one, other] = [latest.event, fresh.event]
  const isSamePlace = one.type === other.type && one.choice === other.choice && one.block === other.block
  return isSamePlace && one.text !== other.text && isSameTemplate(latest.raw, fresh.raw)
}
