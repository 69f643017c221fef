/** One tool call of a responses stream, whose arguments come in pieces, in one piece, or with the item that is done. */
import type { ChatEvent } from '@/chat/event'
import { decodeArguments } from '@/formats/responses/tool-calls'
import { type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { callId } from './decode-content'

export type Place = { choice: 0; block: number }

export interface OpenCall {
  /** What an item that was added says of the call. */
  start(item: JsonObject): ChatEvent[]
  append(text: string): ChatEvent[]
  /** The whole arguments, of which some may have come before. */
  complete(whole: JsonValue | undefined): ChatEvent[]
  /** Ends the call; `item` is the whole of it, where that was said. */
  end(item: JsonObject | undefined): ChatEvent[]
  isNamed(): boolean
  hasText(): boolean
}

/** `takePlace` returns the position of the next block. The item's `type` says what kind of call it is. */
export function createCall(takePlace: () => Place, { type }: JsonObject): OpenCall {
  const isCustom = type === 'custom_tool_call'
  /** Set once the call has a name. */
  let at: Place | undefined
  /** All that came so far, as the wire has it. */
  let text = ''

  function start(item: JsonObject): ChatEvent[] {
    const name = textOf(item.name) ?? ''
    if (at || name === '') return []
    at = takePlace()
    const events: ChatEvent[] = [{ type: 'tool-call-start', ...at, id: callId(item), name }]
    const before = text
    text = ''
    return [...events, ...(isCustom ? [delta(at, '{"input":"')] : []), ...append(before)]
  }

  /** A custom tool's free text becomes, piece by piece, the only field of an object. */
  function append(piece: string): ChatEvent[] {
    text += piece
    if (!at || piece === '') return []
    return [delta(at, isCustom ? JSON.stringify(piece).slice(1, -1) : piece)]
  }

  function complete(whole: JsonValue | undefined): ChatEvent[] {
    const full = isCustom ? (textOf(whole) ?? '') : decodeArguments(whole)
    return full.startsWith(text) ? append(full.slice(text.length)) : []
  }

  return {
    start,
    append,
    complete,
    end(item) {
      const events = item ? [...start(item), ...complete(isCustom ? item.input : item.arguments)] : []
      if (!at) return events
      return [...events, ...(isCustom ? [delta(at, '"}')] : []), { type: 'tool-call-end', ...at }]
    },
    isNamed: () => at !== undefined,
    hasText: () => text !== '',
  }
}

function delta(at: Place, argumentsText: string): ChatEvent {
  return { type: 'tool-call-delta', ...at, argumentsText }
}
