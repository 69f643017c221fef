/** Corrects the tool calls of one choice of a stream: numbered from 0, each with one id and type, arguments as text. */
import type { PassHooks } from '@/formats/format'
import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import type { JsonEdit } from '@/lib/json-splice'
import { type CallFragment, CallSorter, type KnownCall, readFragment } from './call-fragments'
import type { Put } from './repair'
import { encodeArguments } from './tool-calls'

type Call = KnownCall & {
  /** Its index among the calls sent to the client. */
  index: number | undefined
  /** Arguments that arrived before the name. */
  pending: string
  isCustom: boolean
  hasArguments: boolean
}

export class CallRepair {
  private readonly sorter = new CallSorter(openCall)
  private told = 0

  repair(put: Put, path: JsonEdit['path'], fragments: JsonValue[]): void {
    for (const [index, fragment] of fragments.entries()) {
      if (isJsonObject(fragment)) this.repairFragment(put, [...path, index], fragment)
      else put([...path, index], undefined, 'tool_calls')
    }
  }

  /** A fragment with the arguments `{}` for each call without any: clients can't parse an empty text as JSON. */
  missingArguments(hooks: PassHooks): JsonObject[] {
    const silent = this.sorter.calls.filter((call) => call.index !== undefined && !call.isCustom && !call.hasArguments)
    return silent.map((call) => {
      call.hasArguments = true
      hooks.repaired('arguments')
      return { index: call.index, function: { arguments: encodeArguments('') } }
    })
  }

  hasCalls(): boolean {
    return this.told > 0
  }

  private repairFragment(put: Put, path: JsonEdit['path'], fragment: JsonObject): void {
    const read = readFragment(fragment)
    const call = this.sorter.sort(read)
    if (call.name === '') {
      call.pending += read.argumentsText
      put(path, undefined, 'tool_calls')
      return
    }
    const isFirst = call.index === undefined
    call.index ??= this.told++
    call.isCustom ||= isJsonObject(fragment.custom)
    if (fragment.index !== call.index) put([...path, 'index'], call.index, 'index')
    if (isFirst) repairFirst(put, path, fragment, call)
    else repairLater(put, path, fragment, call)
    repairArguments(put, path, fragment, call, read)
  }
}

function openCall(): Call {
  const told = { index: undefined, pending: '', isCustom: false, hasArguments: false }
  return { wireId: '', name: '', lastCharacter: '', ...told }
}

function repairFirst(put: Put, path: JsonEdit['path'], fragment: JsonObject, call: Call): void {
  if (call.wireId === '') put([...path, 'id'], randomId('call'), 'id')
  const type = call.isCustom ? 'custom' : 'function'
  if (fragment.type !== type) put([...path, 'type'], type, 'type')
}

/** Clients also concatenate repeated ids and names, so repetitions are removed. */
function repairLater(put: Put, path: JsonEdit['path'], fragment: JsonObject, { isCustom }: Call): void {
  const { id, type, function: target } = fragment
  if (id !== undefined && id !== null) put([...path, 'id'], undefined, 'id')
  if (type !== undefined && type !== null && type !== (isCustom ? 'custom' : 'function'))
    put([...path, 'type'], undefined, 'type')
  if (isJsonObject(target) && target.name !== undefined && target.name !== null && target.name !== '')
    put([...path, 'function', 'name'], undefined, 'tool_calls')
}

function repairArguments(
  put: Put,
  path: JsonEdit['path'],
  fragment: JsonObject,
  call: Call,
  { argumentsText }: CallFragment,
): void {
  const text = call.pending + argumentsText
  call.pending = ''
  call.hasArguments ||= text !== ''
  if (call.isCustom) return
  const target = isJsonObject(fragment.function) ? fragment.function : undefined
  if (!target) put([...path, 'function'], { arguments: text }, 'arguments')
  else if ((target.arguments ?? '') !== text) put([...path, 'function', 'arguments'], text, 'arguments')
}
