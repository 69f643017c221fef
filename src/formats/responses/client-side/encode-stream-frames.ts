/** Events of a responses stream for the pieces and ends of items. */
import type { ToolOrigin } from '@/chat/request'
import type { Source } from '@/chat/sources'
import type { CustomInput } from '@/formats/custom-tools'
import type { JsonObject } from '@/lib/json'
import type { Frame } from '@/lib/streams/sse'
import { encodeSource, refusalPart, summaryPart, textPart } from './encode-content'

/** A started block and the output item made from it. `index` is -1 until its item is opened. */
export type Lane = {
  kind: 'text' | 'refusal' | 'reasoning' | 'call'
  id: string
  index: number
  parts: string[]
  sources?: readonly Source[]
  callId: string
  name: string
  origin: ToolOrigin | undefined
  /** Extracts a custom tool's text from its arguments. */
  custom: CustomInput | undefined
}

/** Creates the stream's next numbered event. */
export type Emit = (type: string, fields: JsonObject) => Frame

/** The position of a piece: our items have one part each. */
export function partFields({ kind, id, index }: Lane): JsonObject {
  const part = kind === 'reasoning' ? 'summary_index' : 'content_index'
  return { item_id: id, output_index: index, [part]: 0 }
}

/** The events that close a message's part. */
export function messageDone(lane: Lane, emit: Emit): Frame[] {
  const fields = partFields(lane)
  const text = lane.parts.join('')
  if (lane.kind === 'refusal') {
    return [
      emit('response.refusal.done', { ...fields, refusal: text }),
      emit('response.content_part.done', { ...fields, part: refusalPart(text) }),
    ]
  }
  const { sources = [] } = lane
  return [
    ...sources.map((source, index) =>
      emit('response.output_text.annotation.added', {
        ...{ ...fields, annotation_index: index },
        annotation: encodeSource(source),
      }),
    ),
    emit('response.output_text.done', { ...fields, text, logprobs: [] }),
    emit('response.content_part.done', { ...fields, part: textPart(text, [], sources) }),
  ]
}

/** The events that close a reasoning summary. */
export function thoughtDone(lane: Lane, emit: Emit): Frame[] {
  const fields = partFields(lane)
  const text = lane.parts.join('')
  return [
    emit('response.reasoning_summary_text.done', { ...fields, text }),
    emit('response.reasoning_summary_part.done', { ...fields, part: summaryPart(text) }),
  ]
}

/** The event for a piece of a call's arguments, or of a custom tool's text. */
export function callDelta({ id, index, custom }: Lane, delta: string, emit: Emit): Frame {
  const type = custom ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta'
  return emit(type, { item_id: id, output_index: index, delta })
}

/** The events that close a call. */
export function callDone({ id, index, name, origin, custom, parts }: Lane, emit: Emit): Frame[] {
  const fields = { item_id: id, output_index: index }
  const text = parts.join('')
  if (custom) return [emit('response.custom_tool_call_input.done', { ...fields, input: text })]
  return [emit('response.function_call_arguments.done', { ...fields, name: origin?.name ?? name, arguments: text })]
}
