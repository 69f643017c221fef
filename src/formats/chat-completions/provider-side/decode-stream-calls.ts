/** Tool calls of one choice of a streamed chat-completions answer, put together from fragments. */
import type { ChatEvent } from '@/chat/event'
import type { Signature } from '@/chat/request'
import {
  type CallFragment,
  createCallSorter,
  type KnownCall,
  readFragment,
  readLegacyFragment,
} from '@/formats/chat-completions/call-fragments'
import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

export interface CallReader {
  push(fragment: JsonValue | undefined): ChatEvent[]
  /** A delta's `function_call`, the deprecated single call. */
  pushLegacy(call: JsonObject): ChatEvent[]
  /** Ends every open call; nothing may be pushed after it. */
  end(): ChatEvent[]
  /** Whether any call was started. */
  readonly hasCalls: boolean
  /** Whether arguments arrived for a call that never got a name. */
  readonly hasNamelessCall: boolean
}

type Call = KnownCall & {
  /** The number of the block once the call was started. */
  block: number | undefined
  /** Arguments that came before the name. */
  pending: string
  signature: Signature | undefined
}

/** `takeBlock` gives the number of the next block of the stream. */
export function createCallReader(choice: number, takeBlock: () => number): CallReader {
  const sorter = createCallSorter(openCall)
  const { calls } = sorter
  let isEnded = false

  function take(fragment: CallFragment): ChatEvent[] {
    const call = sorter.sort(fragment)
    call.signature ??= fragment.signature
    const events: ChatEvent[] = []
    let { argumentsText } = fragment
    if (call.block === undefined) {
      argumentsText = call.pending + argumentsText
      call.pending = argumentsText
      if (call.name === '') return []
      call.block = takeBlock()
      call.pending = ''
      const id = call.wireId || randomId('call')
      events.push({ type: 'tool-call-start', choice, block: call.block, id, name: call.name })
    }
    if (argumentsText !== '') events.push({ type: 'tool-call-delta', choice, block: call.block, argumentsText })
    return events
  }

  return {
    push: (fragment) => (isJsonObject(fragment) ? take(readFragment(fragment)) : []),
    pushLegacy: (call) => take(readLegacyFragment(call)),
    end() {
      if (isEnded) return []
      isEnded = true
      const started = calls.filter((call): call is Call & { block: number } => call.block !== undefined)
      return started.map(({ block, signature }) => ({
        type: 'tool-call-end',
        choice,
        block,
        ...(signature && { signature }),
      }))
    },
    get hasCalls() {
      return calls.some((call) => call.block !== undefined)
    },
    get hasNamelessCall() {
      return calls.some((call) => call.pending !== '')
    },
  }
}

function openCall(): Call {
  return { wireId: '', name: '', lastCharacter: '', block: undefined, pending: '', signature: undefined }
}
