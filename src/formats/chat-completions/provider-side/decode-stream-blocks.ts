/** One choice of a streamed answer: deltas in, blocks of the hub out. Tool calls stay open beside texts until the end. */
import type { ChatEvent } from '@/chat/event'
import type { FinishReason } from '@/chat/response'
import { type DecodedPart, decodeContent } from '@/formats/chat-completions/answer-content'
import { decodeFinishReason } from '@/formats/chat-completions/finish-reason'
import { isJsonObject, type JsonObject } from '@/lib/json'

import { createCallReader } from './decode-stream-calls'

export interface BlockReader {
  push(choice: JsonObject): ChatEvent[]
  /** Ends every open block. */
  closeBlocks(): ChatEvent[]
  /** Why the choice ended: also where the provider gave no reason, which `isFinished` tells. */
  finish(): FinishReason
  readonly isFinished: boolean
  readonly hasNamelessCall: boolean
}

type TextKind = 'text' | 'refusal' | 'reasoning'

/** `takeBlock` gives the number of the next block of the stream. */
export function createBlockReader(choice: number, takeBlock: () => number): BlockReader {
  const tools = createCallReader(choice, takeBlock)
  let open: { kind: TextKind; block: number } | undefined
  let finishWord: string | undefined
  let hasContent = false
  let hasRefusal = false

  function closeText(): ChatEvent[] {
    if (!open) return []
    const { kind, block } = open
    open = undefined
    return [{ type: `${kind}-end`, choice, block }]
  }

  function pushPart(part: DecodedPart): ChatEvent[] {
    if (part.type === 'image') {
      if (part.source.type !== 'base64') return pushPart({ type: 'text', text: imageAsText(part.source) })
      const { mediaType, data } = part.source
      return [...closeText(), { type: 'image', choice, block: takeBlock(), mediaType, data }]
    }
    const kind = part.type
    const events: ChatEvent[] = []
    if (open?.kind !== kind) {
      events.push(...closeText())
      open = { kind, block: takeBlock() }
      hasRefusal ||= kind === 'refusal'
      events.push({ type: `${kind}-start`, choice, block: open.block })
    }
    events.push({ type: `${kind}-delta`, choice, block: open.block, text: part.text })
    return events
  }

  function pushDelta(delta: JsonObject): ChatEvent[] {
    const events = decodeContent(delta).flatMap(pushPart)
    const calls: ChatEvent[] = []
    if (Array.isArray(delta.tool_calls)) for (const fragment of delta.tool_calls) calls.push(...tools.push(fragment))
    if (isJsonObject(delta.function_call)) calls.push(...tools.pushLegacy(delta.function_call))
    if (calls.length > 0) events.push(...closeText(), ...calls)
    hasContent ||= events.length > 0
    return events
  }

  return {
    push(json) {
      const { finish_reason: word } = json
      if (typeof word === 'string' && word !== '') finishWord = word
      if (isJsonObject(json.delta)) return pushDelta(json.delta)
      // A whole message in place of deltas; beside deltas it only repeats them.
      return isJsonObject(json.message) && !hasContent ? pushDelta(json.message) : []
    },
    closeBlocks: () => [...closeText(), ...tools.end()],
    finish: () => decodeFinishReason(finishWord, { hasToolCalls: tools.hasCalls, hasRefusal }),
    get isFinished() {
      return finishWord !== undefined
    },
    get hasNamelessCall() {
      return tools.hasNamelessCall
    },
  }
}

/** Events carry images as bytes; one that is only an address stays readable as Markdown. */
function imageAsText(source: { type: string; url?: string }): string {
  return `![image](${source.url ?? ''})`
}
