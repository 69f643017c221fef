import { GatewayError, invalidRequest } from '@/chat/error'
import type { ModelBlock, Signature, TextBlock, ToolResultBlock, Turn, UserTurn } from '@/chat/request'
import { type ArgumentsRead, checkArguments } from '@/formats/arguments-text'
import { customArguments } from '@/formats/custom-tools'
import { resultOf } from '@/formats/openai'
import { LIMITS } from '@/formats/responses/limits'
import { decodeSignature } from '@/formats/responses/signature'
import { decodeArguments } from '@/formats/responses/tool-calls'
import type { JsonObject } from '@/lib/json'
import { decodeContent, decodeTexts } from './decode-content'
import { flatName } from './tool-names'
import {
  checkItem,
  isKnownType,
  typeOfItem,
  type WireAnyItem,
  type WireItem,
  type WireItemType,
  type WireRequest,
} from './wire'

type PlacedItem = { item: WireAnyItem; path: string }

const CALLS: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call'])
const OUTPUTS: ReadonlySet<unknown> = new Set(['function_call_output', 'custom_tool_call_output'])

export type DecodedTurns = {
  system: TextBlock[]
  turns: Turn[]
  effort?: string | null
  format?: JsonObject | null
  unread: JsonObject[]
}

type Reading = DecodedTurns & {
  /** Provider-side tool names by call id. */
  names: Map<string, string>
  unanswered: Set<string>
  argumentsRead: ArgumentsRead
  callSignature: Signature | undefined
  results: UserTurn | undefined
}

/**
 * Instructions, and system and developer messages before any other item, form the system prompt; later ones are turns. Neighbouring items
 * of the model form one turn, and so do neighbouring outputs. Throws a GatewayError that names the faulty item.
 */
export function decodeTurns({ instructions, input }: Pick<WireRequest, 'instructions' | 'input'>): DecodedTurns {
  const system: TextBlock[] = instructions ? [{ type: 'text', text: instructions }] : []
  const reading: Reading = {
    system,
    turns: [],
    unread: [],
    names: new Map(),
    unanswered: new Set(),
    argumentsRead: { chars: 0, values: 0 },
    callSignature: undefined,
    results: undefined,
  }
  if (typeof input === 'string') {
    reading.turns.push({ role: 'user', content: input === '' ? [] : [{ type: 'text', text: input }] })
  } else for (const placed of orderItems(input ?? [])) readItem(placed, reading)
  return reading
}

function readItem({ item, path }: PlacedItem, reading: Reading): void {
  const type = typeOfItem(item)
  if (type === '') throw invalidRequest(`${path}.type is required`, `${path}.type`)
  if (type === 'compaction_trigger') {
    throw invalidRequest(`${path}: conversations cannot be compacted here; send the whole conversation`, `${path}.type`)
  }
  if (!isKnownType(type)) {
    reading.unread.push(item as JsonObject)
    return
  }
  const isResult = type === 'function_call_output' || type === 'custom_tool_call_output'
  if (!isResult) reading.results = undefined
  READERS[type](checkItem(type, item, path) as never, reading, path)
  if (type !== 'reasoning') reading.callSignature = undefined
}

type Reader<T extends WireItemType> = (item: WireItem<T>, reading: Reading, path: string) => void

const READERS: { [T in WireItemType]: Reader<T> } = {
  message: readMessage,
  function_call: (item, reading, path) => readCall(item, argumentsOf(item.arguments, path, reading), reading),
  custom_tool_call: (item, reading) => readCall(item, customArguments(item.input ?? ''), reading),
  function_call_output: readOutput,
  custom_tool_call_output: readOutput,
  reasoning: readReasoning,
  image_generation_call: readImage,
  agent_message: readAgentMessage,
  // Ignored here, since these tools are decoded with the request's other tools.
  additional_tools: () => undefined,
  configuration_update: (item, reading) => {
    if (item.reasoning?.effort) reading.effort = item.reasoning.effort
    if (item.text?.format) reading.format = item.text.format
  },
  item_reference: ({ id }, _reading, path) => refuseReference(id, path),
}

function readMessage({ role, content }: WireItem<'message'>, reading: Reading, path: string): void {
  const param = `${path}.content`
  if (role === 'assistant') pushAssistant(reading, decodeContent(content, param))
  else if (role === 'user') reading.turns.push({ role, content: decodeContent(content, param) })
  else {
    const texts = decodeTexts(content, param)
    if (reading.turns.length === 0) reading.system.push(...texts)
    else reading.turns.push({ role: 'system', content: texts })
  }
}

/** Text of another agent is treated as the user's. */
function readAgentMessage(item: WireItem<'agent_message'>, reading: Reading, path: string): void {
  const content = decodeContent(item.content ?? item.message ?? item.text, `${path}.content`)
  if (content.length > 0) reading.turns.push({ role: 'user', content })
}

function readCall(
  item: Pick<WireItem<'function_call'>, 'call_id' | 'name' | 'namespace'>,
  argumentsText: string,
  reading: Reading,
): void {
  const id = item.call_id
  const name = flatName(item.name, item.namespace)
  const signature = reading.callSignature
  reading.names.set(id, name)
  reading.unanswered.add(id)
  pushAssistant(reading, [{ type: 'tool-call', id, name, argumentsText, ...(signature && { signature }) }])
}

function argumentsOf(given: WireItem<'function_call'>['arguments'], path: string, { argumentsRead }: Reading): string {
  return checkArguments(decodeArguments(given ?? ''), `${path}.arguments`, argumentsRead, LIMITS.argumentsChars)
}

function readOutput(item: WireItem<'function_call_output'>, reading: Reading, path: string): void {
  // An output without a call id answers the first unanswered call.
  const callId = item.call_id || reading.unanswered.values().next().value
  if (callId === undefined) throw invalidRequest(`${path}.call_id is required`, `${path}.call_id`)
  reading.unanswered.delete(callId)
  const name = reading.names.get(callId)
  const result: ToolResultBlock = {
    type: 'tool-result',
    callId,
    ...(name && { name }),
    ...resultOf(decodeContent(item.output, `${path}.output`)),
    isError: false,
  }
  if (reading.results) reading.results.content.push(result)
  else {
    reading.results = { role: 'user', content: [result] }
    reading.turns.push(reading.results)
  }
}

/** A reasoning item may contain only the proof of the call after it. */
function readReasoning(item: WireItem<'reasoning'>, reading: Reading): void {
  const { signature, redacted, call } = decodeSignature(item.id ?? undefined, item.encrypted_content)
  if (call) reading.callSignature = call
  const parts = item.content?.length ? item.content : (item.summary ?? [])
  const text = parts.map((part) => part.text ?? '').join('\n\n')
  if (redacted) pushAssistant(reading, [{ type: 'reasoning', text: '', redacted }])
  else if (text !== '' || signature) {
    pushAssistant(reading, [{ type: 'reasoning', text, ...(signature && { signature }) }])
  }
}

/** An image made by the model, whose bytes its provider may not have sent. */
function readImage(item: WireItem<'image_generation_call'>, reading: Reading): void {
  const { result, output_format: format } = item
  if (!result) return
  const source = { type: 'base64', mediaType: `image/${format || 'png'}`, data: result } as const
  pushAssistant(reading, [{ type: 'image', source }])
}

/** Refuses a reference to an item that isn't stored. Missing reasoning is only ignored, as in other formats. */
function refuseReference(id: string, path: string): void {
  if (id.startsWith('rs_')) return
  throw new GatewayError('not_found', `Item with id '${id.slice(0, 128)}' not found.`, { param: `${path}.id` })
}

function pushAssistant(reading: Reading, content: ModelBlock[]): void {
  const last = reading.turns.at(-1)
  if (last?.role === 'assistant') last.content.push(...content)
  else if (content.length > 0) reading.turns.push({ role: 'assistant', content })
}

function orderItems(items: readonly WireAnyItem[]): PlacedItem[] {
  const lastOutput = new Map<unknown, number>()
  items.forEach((item, index) => {
    if (OUTPUTS.has(item.type)) lastOutput.set(item.call_id, index)
  })
  const open = new Set<unknown>()
  const ordered: PlacedItem[] = []
  let waiting: PlacedItem[] = []
  items.forEach((item, index) => {
    const placed = { item, path: `input[${index}]` }
    if (open.size > 0 && typeOfItem(item) === 'message') {
      waiting.push(placed)
      return
    }
    ordered.push(placed)
    if (CALLS.has(item.type) && (lastOutput.get(item.call_id) ?? -1) > index) open.add(item.call_id)
    if (OUTPUTS.has(item.type)) open.delete(item.call_id)
    if (open.size > 0 || waiting.length === 0) return
    for (const late of waiting) ordered.push(late)
    waiting = []
  })
  return [...ordered, ...waiting]
}
