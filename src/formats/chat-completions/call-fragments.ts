/**
 * Assigns the fragments of a stream to their tool calls. OpenAI numbers the calls by `index` and sends id and name once. Others omit the
 * index, start at 1, repeat the id, send calls whole, or give all parallel calls the index 0. So a fragment belongs to the call with its
 * index or id, else to the last call. A fragment with a name starts another call if its id or name differs, or if new arguments begin: `}`
 * and then `{`, which never meet inside one JSON text, except in a string.
 */
import type { Signature } from '@/chat/request'
import { isJsonObject, type JsonObject, textOf } from '@/lib/json'
import { decodeSignature } from './signature'
import { decodeArguments } from './tool-calls'

export type CallFragment = {
  key: string
  id: string
  name: string
  argumentsText: string
  signature: Signature | undefined
}

export type KnownCall = {
  /** The id on the wire; empty until it arrives. */
  wireId: string
  name: string
  /** The last character of its arguments so far. */
  lastCharacter: string
}

const LEGACY_KEY = 'function_call'
const LAST_KEY = 'last'

export class CallSorter<Call extends KnownCall> {
  /** In order of their first fragments. */
  readonly calls: Call[] = []
  private readonly callOfKey = new Map<string, Call>()
  private last: Call | undefined

  constructor(private readonly open: () => Call) {}

  /** The call that the fragment belongs to, updated with the fragment. */
  sort(fragment: CallFragment): Call {
    const call = this.callFor(fragment)
    this.last = call
    if (call.wireId === '') call.wireId = fragment.id
    if (call.name === '') call.name = fragment.name
    call.lastCharacter = fragment.argumentsText.trimEnd().at(-1) ?? call.lastCharacter
    return call
  }

  private callFor(fragment: CallFragment): Call {
    const continuesLast = fragment.key === LAST_KEY && fragment.name === ''
    const known = continuesLast ? this.last : this.callOfKey.get(fragment.key)
    if (known && !opensAnotherCall(known, fragment)) return known
    const fresh = this.open()
    this.calls.push(fresh)
    if (fragment.key !== LAST_KEY) this.callOfKey.set(fragment.key, fresh)
    return fresh
  }
}

/** A fragment of `tool_calls`. */
export function readFragment(fragment: JsonObject): CallFragment {
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

/** A fragment of `function_call`, the deprecated single call. */
export function readLegacyFragment(call: JsonObject): CallFragment {
  return { ...readFunction(call), key: LEGACY_KEY, id: '', signature: undefined }
}

function opensAnotherCall(call: KnownCall, fragment: CallFragment): boolean {
  if (fragment.name === '' || call.name === '') return false
  if (fragment.id !== '' && call.wireId !== '') return fragment.id !== call.wireId
  if (fragment.name !== call.name) return true
  return call.lastCharacter === '}' && fragment.argumentsText.trimStart().startsWith('{')
}

function readFunction(target: JsonObject): { name: string; argumentsText: string } {
  return {
    name: textOf(target.name) ?? '',
    argumentsText: decodeArguments(target.arguments ?? target.input),
  }
}
