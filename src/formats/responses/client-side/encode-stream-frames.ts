/** The events of a responses stream by which the pieces of an item are named and closed. */
import type { ToolOrigin } from '@/chat/request'
import { customInput } from '@/formats/custom-tools'
import type { JsonObject } from '@/lib/json'
import type { Frame } from '@/lib/streams/sse'
import { refusalPart, summaryPart, textPart } from './encode-content'

/** One block that has begun. `index` is -1 until its item is opened. */
export type Lane = {
  kind: 'text' | 'refusal' | 'reasoning' | 'call'
  id: string
  index: number
  parts: string[]
  callId: string
  name: string
  origin: ToolOrigin | undefined
}

/** Makes the next event of the stream, which numbers them. */
export type Emit = (type: string, fields: JsonObject) => Frame

/** Where a piece of a message or a thought belongs: our items have one part each. */
export function partFields({ kind, id, index }: Lane): JsonObject {
  const part = kind === 'reasoning' ? 'summary_index' : 'content_index'
  return { item_id: id, output_index: index, [part]: 0 }
}

/** The events that close the part of a message. */
export function messageDone(lane: Lane, emit: Emit): Frame[] {
  const fields = partFields(lane)
  const text = lane.parts.join('')
  if (lane.kind === 'refusal') {
    return [
      emit('response.refusal.done', { ...fields, refusal: text }),
      emit('response.content_part.done', { ...fields, part: refusalPart(text) }),
    ]
  }
  return [
    emit('response.output_text.done', { ...fields, text, logprobs: [] }),
    emit('response.content_part.done', { ...fields, part: textPart(text) }),
  ]
}

/** The events that close the summary of a thought. */
export function thoughtDone(lane: Lane, emit: Emit): Frame[] {
  const fields = partFields(lane)
  const text = lane.parts.join('')
  return [
    emit('response.reasoning_summary_text.done', { ...fields, text }),
    emit('response.reasoning_summary_part.done', { ...fields, part: summaryPart(text) }),
  ]
}

/** The events that close a call. The text of a custom tool comes in one piece: it is only known once the call is whole. */
export function callDone({ id, index, name, origin, parts }: Lane, emit: Emit): Frame[] {
  const fields = { item_id: id, output_index: index }
  const text = parts.join('')
  if (origin?.kind === 'custom') {
    const input = customInput(text)
    const delta = input === '' ? [] : [emit('response.custom_tool_call_input.delta', { ...fields, delta: input })]
    return [...delta, emit('response.custom_tool_call_input.done', { ...fields, input })]
  }
  return [emit('response.function_call_arguments.done', { ...fields, name: origin?.name ?? name, arguments: text })]
}
