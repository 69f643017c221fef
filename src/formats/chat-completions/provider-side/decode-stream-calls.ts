/**
 * Tool calls of one choice of a streamed chat-completions answer, put together from fragments.
 *
 * OpenAI numbers the calls of an answer by `index` and sends id and name once. Others leave the index out, start at 1, repeat
 * the id, send calls whole, or give every parallel call the index 0. So a fragment belongs to the call of its index, or of
 * its id, or to the last one. It opens another call where it brings a name together with another id, where the name itself
 * is another, or where its arguments begin anew (`}` then `{` never meet inside one JSON text, except in a string).
 */
import type { ChatEvent } from '@/chat/event'
import type { Signature } from '@/chat/request'
import { decodeSignature } from '@/formats/chat-completions/signature'
import { decodeArguments } from '@/formats/chat-completions/tool-arguments'
import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'

interface CallReader {
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

type Call = {
  /** The id on the wire; empty until one came. */
  wireId: string
  name: string
  /** The number of the block once the call was started. */
  block: number | undefined
  /** Arguments that came before the name. */
  pending: string
  lastCharacter: string
  signature: Signature | undefined
}

type Fragment = { key: string; id: string; name: string; argumentsText: string; signature: Signature | undefined }

const LEGACY_KEY = 'function_call'
const LAST_KEY = 'last'

/** `takeBlock` gives the number of the next block of the stream. */
export function createCallReader(choice: number, takeBlock: () => number): CallReader {
  const calls: Call[] = []
  const callOfKey = new Map<string, Call>()
  let last: Call | undefined
  let isEnded = false

  function callFor(fragment: Fragment): Call {
    const continuesLast = fragment.key === LAST_KEY && fragment.name === ''
    const known = continuesLast ? last : callOfKey.get(fragment.key)
    if (known && !opensAnotherCall(known, fragment)) return known
    const fresh: Call = { wireId: '', name: '', block: undefined, pending: '', lastCharacter: '', signature: undefined }
    calls.push(fresh)
    if (fragment.key !== LAST_KEY) callOfKey.set(fragment.key, fresh)
    return fresh
  }

  function take(fragment: Fragment): ChatEvent[] {
    const call = callFor(fragment)
    last = call
    if (call.wireId === '') call.wireId = fragment.id
    call.signature ??= fragment.signature
    call.lastCharacter = fragment.argumentsText.trimEnd().at(-1) ?? call.lastCharacter
    const events: ChatEvent[] = []
    let argumentsText = fragment.argumentsText
    if (call.block === undefined) {
      argumentsText = call.pending + argumentsText
      call.pending = argumentsText
      if (fragment.name === '') return []
      call.block = takeBlock()
      call.name = fragment.name
      call.pending = ''
      const id = call.wireId || randomId('call')
      events.push({ type: 'tool-call-start', choice, block: call.block, id, name: fragment.name })
    }
    if (argumentsText !== '') events.push({ type: 'tool-call-delta', choice, block: call.block, argumentsText })
    return events
  }

  return {
    push: (fragment) => (isJsonObject(fragment) ? take(readFragment(fragment)) : []),
    pushLegacy: (call) => take({ ...readFunction(call), key: LEGACY_KEY, id: '', signature: undefined }),
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

function opensAnotherCall(call: Call, fragment: Fragment): boolean {
  if (fragment.name === '' || call.block === undefined) return false
  if (fragment.id !== '' && call.wireId !== '') return fragment.id !== call.wireId
  if (fragment.name !== call.name) return true
  return call.lastCharacter === '}' && fragment.argumentsText.trimStart().startsWith('{')
}

function readFragment(fragment: JsonObject): Fragment {
  const { index } = fragment
  const id = textOf(fragment.id) ?? ''
  const hasIndex = typeof index === 'number' && Number.isSafeInteger(index)
  const target = isJsonObject(fragment.custom) ? fragment.custom : fragment.function
  return {
    ...readFunction(isJsonObject(target) ? target : {}),
    key: hasIndex ? `index ${index}` : id === '' ? LAST_KEY : `id ${id}`,
    id,
    signature: decodeSignature(fragment.extra_content),
  }
}

function readFunction(target: JsonObject): { name: string; argumentsText: string } {
  return {
    name: textOf(target.name) ?? '',
    argumentsText: decodeArguments(target.arguments ?? target.input),
  }
}
