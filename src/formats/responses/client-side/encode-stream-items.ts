/**
 * The items of a streamed response. Each block of the hub is an item with an index of its own, given when its first content is
 * there, so that blocks may interleave and empty ones leave no trace.
 *
 * Two things wait. A call waits for its second fragment, or for another block: where it comes whole, its proof goes before it. And
 * the last word on an item waits for the next one, or for the end: only then it is known whether a limit broke the item off.
 */
import type { ChatEvent } from '@/chat/event'
import type { Signature } from '@/chat/request'
import { createCustomInput } from '@/formats/custom-tools'
import type { AnswerContext, TextPiece } from '@/formats/format'
import { encodeArguments } from '@/formats/responses/tool-arguments'
import { createToolIds } from '@/formats/responses/tool-ids'
import { randomId } from '@/lib/ids'
import type { JsonObject } from '@/lib/json'
import type { Frame } from '@/lib/streams/sse'
import {
  callItem,
  callProofItem,
  type ItemStatus,
  imageItem,
  messageItem,
  reasoningId,
  reasoningItem,
  refusalPart,
  summaryPart,
  tellThought,
  textPart,
} from './encode-content'
import { callDelta, callDone, type Emit, type Lane, messageDone, partFields, thoughtDone } from './encode-stream-frames'

type BlockEvent = Extract<ChatEvent, { block: number }>

interface ItemWriter {
  push(event: BlockEvent): Frame[]
  /** Takes note of a piece of an open item, of which somebody else makes the event. */
  note(piece: TextPiece): void
  /** Ends every item that is still open; the last one with `status`. */
  end(status: ItemStatus): Frame[]
  /** All items so far, those still open as far as they have come. */
  output(): JsonObject[]
  hasRefusal(): boolean
}

/** Creates the writer of one answer's items. */
export function createItemWriter(context: AnswerContext, emit: Emit): ItemWriter {
  const lanes = new Map<number, Lane>()
  const newCallId = createToolIds()
  const items: JsonObject[] = []
  /** The call that waits for more of it. */
  let held: number | undefined
  /** Where in `items` the item stands whose last word waits. */
  let ended: number | undefined
  let hasRefusal = false

  function push(event: BlockEvent): Frame[] {
    if (held === undefined || held === event.block) return accept(event)
    return [...openHeld(), ...accept(event)]
  }

  function accept(event: BlockEvent): Frame[] {
    switch (event.type) {
      case 'text-start':
        return begin(event.block, 'text')
      case 'refusal-start':
        hasRefusal = true
        return begin(event.block, 'refusal')
      case 'reasoning-start':
        return event.redacted ? writeRedacted(event.redacted) : begin(event.block, 'reasoning')
      case 'tool-call-start':
        held = event.block
        return begin(event.block, 'call', newCallId(event.id), event.name)
      case 'text-delta':
      case 'refusal-delta':
      case 'reasoning-delta':
        return extend(lanes.get(event.block), event.text)
      case 'tool-call-delta':
        return extendCall(lanes.get(event.block), event.argumentsText)
      case 'text-end':
      case 'refusal-end':
        return close(event.block, undefined)
      case 'reasoning-end':
      case 'tool-call-end':
        return close(event.block, event.signature)
      case 'image':
        return writeWhole(imageItem(randomId('ig'), 'completed', event.data), { result: null })
    }
  }

  function begin(block: number, kind: Lane['kind'], callId = '', name = ''): Frame[] {
    const origin = context.toolOrigins?.get(name)
    const custom = origin?.kind === 'custom' ? createCustomInput() : undefined
    lanes.set(block, { kind, id: '', index: -1, parts: [], callId, name, origin, custom })
    return []
  }

  /** Says the last word on the item before, and opens the next. */
  function open(lane: Lane, id: string): Frame[] {
    const before = finish('completed')
    lane.id = id
    lane.index = items.length
    const item = itemOf(lane, 'in_progress')
    items.push(item)
    return [...before, emit('response.output_item.added', { output_index: lane.index, item })]
  }

  function finish(status: ItemStatus): Frame[] {
    if (ended === undefined) return []
    const index = ended
    ended = undefined
    const item = { ...items[index], status }
    items[index] = item
    return [emit('response.output_item.done', { output_index: index, item })]
  }

  function extend(lane: Lane | undefined, text: string): Frame[] {
    if (!lane || text === '') return []
    lane.parts.push(text)
    if (lane.kind === 'reasoning') return context.wantsReasoning ? extendThought(lane, text) : []
    const before = lane.index === -1 ? openMessage(lane) : []
    const fields = partFields(lane)
    const delta =
      lane.kind === 'refusal'
        ? emit('response.refusal.delta', { ...fields, delta: text })
        : emit('response.output_text.delta', { ...fields, delta: text, logprobs: [] })
    return [...before, delta]
  }

  function openMessage(lane: Lane): Frame[] {
    const part = lane.kind === 'refusal' ? refusalPart('') : textPart('')
    const opening = open(lane, randomId('msg'))
    return [...opening, emit('response.content_part.added', { ...partFields(lane), part })]
  }

  function extendThought(lane: Lane, text: string): Frame[] {
    const before = lane.index === -1 ? openThought(lane) : []
    return [...before, emit('response.reasoning_summary_text.delta', { ...partFields(lane), delta: text })]
  }

  function openThought(lane: Lane): Frame[] {
    const opening = open(lane, randomId('rs'))
    return [...opening, emit('response.reasoning_summary_part.added', { ...partFields(lane), part: summaryPart('') })]
  }

  function extendCall(lane: Lane | undefined, text: string): Frame[] {
    if (!lane || text === '') return []
    const piece = lane.custom ? lane.custom.push(text) : text
    lane.parts.push(piece)
    if (lane.index === -1) return lane.parts.length > 1 ? openHeld() : []
    return piece === '' ? [] : [callDelta(lane, piece, emit)]
  }

  function openHeld(): Frame[] {
    const lane = held === undefined ? undefined : lanes.get(held)
    held = undefined
    return lane ? openCall(lane) : []
  }

  function openCall(lane: Lane): Frame[] {
    const opening = open(lane, randomId(lane.custom ? 'ctc' : 'fc'))
    const text = lane.parts.join('')
    return text === '' ? opening : [...opening, callDelta(lane, text, emit)]
  }

  function close(block: number, signature: Signature | undefined): Frame[] {
    const lane = lanes.get(block)
    if (!lane) return []
    lanes.delete(block)
    switch (lane.kind) {
      case 'call':
        return closeCall(lane, block, signature)
      case 'reasoning':
        return closeThought(lane, signature)
      default:
        return lane.index === -1 ? [] : settle(lane, messageDone, itemOf(lane, 'completed'))
    }
  }

  function closeCall(lane: Lane, block: number, signature: Signature | undefined): Frame[] {
    if (held === block) held = undefined
    const rest = restOf(lane)
    if (rest !== '') lane.parts.push(rest)
    if (lane.index !== -1) {
      const more = rest === '' ? [] : [callDelta(lane, rest, emit)]
      return [...more, ...settle(lane, callDone, itemOf(lane, 'completed'))]
    }
    const proof = callProofItem(signature, context).flatMap((item) => writeWhole(item))
    const opening = openCall(lane)
    return [...proof, ...opening, ...settle(lane, callDone, itemOf(lane, 'completed'))]
  }

  function closeThought(lane: Lane, signature: Signature | undefined): Frame[] {
    const isOpen = lane.index !== -1
    const text = lane.parts.join('')
    const id = isOpen ? lane.id : reasoningId(signature)
    const told = tellThought({ text, ...(signature && { signature }) }, id, context)
    if (!told) return []
    const item = reasoningItem(id, 'completed', told.text, told.proof)
    return isOpen ? settle(lane, thoughtDone, item) : writeWhole(item)
  }

  function writeRedacted(redacted: Signature): Frame[] {
    const id = randomId('rs')
    const told = tellThought({ text: '', redacted }, id, context)
    return told ? writeWhole(reasoningItem(id, 'completed', '', told.proof)) : []
  }

  /** An item that is whole when it is first heard of. `begun` is in what it differs where it is added. */
  function writeWhole(item: JsonObject, begun: JsonObject = {}): Frame[] {
    const before = finish('completed')
    ended = items.length
    items.push(item)
    const added = { output_index: ended, item: { ...item, status: 'in_progress', ...begun } }
    return [...before, emit('response.output_item.added', added)]
  }

  /** The last word on the item before comes first where blocks interleave. */
  function settle(lane: Lane, closing: typeof messageDone, item: JsonObject): Frame[] {
    const before = finish('completed')
    items[lane.index] = item
    ended = lane.index
    return [...before, ...closing(lane, emit)]
  }

  return {
    push,
    note: ({ block, text }) => void lanes.get(block)?.parts.push(text),
    end(status) {
      const closing = [...lanes.keys()].flatMap((block) => close(block, undefined))
      return [...closing, ...finish(status)]
    },
    output() {
      for (const lane of lanes.values()) if (lane.index !== -1) items[lane.index] = itemOf(lane, 'incomplete')
      return items
    },
    hasRefusal: () => hasRefusal,
  }
}

/** What a call that is whole has to say after its last piece. */
function restOf({ custom, parts }: Lane): string {
  if (custom) return custom.end()
  return parts.join('').trim() === '' ? encodeArguments('') : ''
}

function itemOf(lane: Lane, status: ItemStatus): JsonObject {
  const { kind, id, callId, name, origin } = lane
  const text = lane.parts.join('')
  const isBegun = status === 'in_progress'
  switch (kind) {
    case 'call':
      return callItem({ id, callId, name, text }, status, origin)
    case 'reasoning':
      return reasoningItem(id, status, isBegun ? '' : text, undefined)
    case 'refusal':
      return messageItem(id, status, isBegun ? undefined : refusalPart(text))
    case 'text':
      return messageItem(id, status, isBegun ? undefined : textPart(text))
  }
}
