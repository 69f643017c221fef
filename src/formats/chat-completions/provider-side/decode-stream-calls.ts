import type { ChatEvent } from '@/chat/event'
import type { Signature } from '@/chat/request'
import {
  type CallFragment,
  CallSorter,
  type KnownCall,
  readFragment,
  readLegacyFragment,
} from '@/formats/chat-completions/call-fragments'
import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

type Call = KnownCall & {
  block: number | undefined
  /** Arguments that arrived before the name. */
  pending: string
  signature: Signature | undefined
}

/** Assembles the tool calls of one choice of a stream from fragments. `takeBlock` returns the number of the stream's next block. */
export class CallReader {
  private readonly sorter = new CallSorter(openCall)
  private isEnded = false

  constructor(
    private readonly choice: number,
    private readonly takeBlock: () => number,
  ) {}

  push(fragment: JsonValue | undefined): ChatEvent[] {
    return isJsonObject(fragment) ? this.take(readFragment(fragment)) : []
  }

  /** A delta's `function_call`, the deprecated single call. */
  pushLegacy(call: JsonObject): ChatEvent[] {
    return this.take(readLegacyFragment(call))
  }

  end(): ChatEvent[] {
    if (this.isEnded) return []
    this.isEnded = true
    return this.sorter.calls.flatMap(({ block, signature }): ChatEvent[] => {
      if (block === undefined) return []
      return [{ type: 'tool-call-end', choice: this.choice, block, ...(signature && { signature }) }]
    })
  }

  hasCalls(): boolean {
    return this.sorter.calls.some((call) => call.block !== undefined)
  }

  /** Whether arguments arrived for a call that never got a name. */
  hasNamelessCall(): boolean {
    return this.sorter.calls.some((call) => call.pending !== '')
  }

  private take(fragment: CallFragment): ChatEvent[] {
    const { choice } = this
    const call = this.sorter.sort(fragment)
    call.signature ??= fragment.signature
    const events: ChatEvent[] = []
    let { argumentsText } = fragment
    if (call.block === undefined) {
      argumentsText = call.pending + argumentsText
      call.pending = argumentsText
      if (call.name === '') return []
      call.block = this.takeBlock()
      call.pending = ''
      events.push({
        type: 'tool-call-start',
        choice,
        block: call.block,
        id: call.wireId || randomId('call'),
        name: call.name,
      })
    }
    if (argumentsText !== '') events.push({ type: 'tool-call-delta', choice, block: call.block, argumentsText })
    return events
  }
}

function openCall(): Call {
  return { wireId: '', name: '', lastCharacter: '', block: undefined, pending: '', signature: undefined }
}
