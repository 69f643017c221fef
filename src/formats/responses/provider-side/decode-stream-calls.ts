import type { ChatEvent } from '@/chat/event'
import { decodeArguments } from '@/formats/responses/tool-calls'
import { type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { callId } from './decode-content'

export type Place = { choice: 0; block: number }

export interface OpenCall {
  start(item: JsonObject): ChatEvent[]
  append(text: string): ChatEvent[]
  /** Handles the complete arguments; some of them may have arrived before. */
  complete(whole: JsonValue | undefined): ChatEvent[]
  /** Ends the call; `item` is the finished item, if it was sent. */
  end(item: JsonObject | undefined): ChatEvent[]
  isNamed(): boolean
  hasText(): boolean
}

/** Reads a stream's tool call: in pieces, whole, or with the finished item. `takePlace`: the next block's position. `type`: its kind. */
export function createCall(takePlace: () => Place, { type }: JsonObject): OpenCall {
  const isCustom = type === 'custom_tool_call'
  let at: Place | undefined
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

  /** Writes a custom tool's free text piece by piece as the only field of a JSON object. */
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
