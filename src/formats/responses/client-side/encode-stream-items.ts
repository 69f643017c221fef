/**
 * Encodes the items of a streamed response. Each block becomes an item, whose index is assigned at its first content. So blocks may
 * interleave, and empty blocks are not sent. A tool call is delayed until its second fragment, another block or its end arrives. If its end
 * arrives first, the call is whole, and an item with its proof is sent before it. An item's final event is delayed until the next item or
 * the end of the answer: only then is it known whether a limit cut the item off.
 */
import type { ChatEvent } from '@/chat/event'
import type { Signature } from '@/chat/request'
import { type Source, withoutPlaces } from '@/chat/sources'
import { createCustomInput } from '@/formats/custom-tools'
import type { AnswerContext, TextPiece } from '@/formats/format'
import { createToolIds, encodeArguments } from '@/formats/responses/tool-calls'
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

export class ItemWriter {
  private readonly lanes = new Map<number, Lane>()
  private readonly newCallId = createToolIds()
  private readonly items: JsonObject[] = []
  private held: number | undefined
  /** Index in `items` of the item whose final event is delayed. */
  private ended: number | undefined
  private sawRefusal = false
  private firstText: number | undefined

  constructor(
    private readonly context: AnswerContext,
    private readonly emit: Emit,
  ) {}

  push(event: BlockEvent): Frame[] {
    if (this.held === undefined || this.held === event.block) return this.accept(event)
    return [...this.openHeld(), ...this.accept(event)]
  }

  private accept(event: BlockEvent): Frame[] {
    switch (event.type) {
      case 'text-start':
        this.firstText ??= event.block
        return this.begin(event.block, 'text')
      case 'refusal-start':
        this.sawRefusal = true
        return this.begin(event.block, 'refusal')
      case 'reasoning-start':
        return event.redacted ? this.writeRedacted(event.redacted) : this.begin(event.block, 'reasoning')
      case 'tool-call-start':
        this.held = event.block
        return this.begin(event.block, 'call', this.newCallId(event.id), event.name)
      case 'text-delta':
      case 'refusal-delta':
      case 'reasoning-delta':
        return this.extend(this.lanes.get(event.block), event.text)
      case 'tool-call-delta':
        return this.extendCall(this.lanes.get(event.block), event.argumentsText)
      case 'text-end':
        return [...this.cite(event.block, event.sources), ...this.close(event.block, undefined)]
      case 'refusal-end':
        return this.close(event.block, undefined)
      case 'reasoning-end':
      case 'tool-call-end':
        return this.close(event.block, event.signature)
      case 'image':
        return this.writeWhole(imageItem(randomId('ig'), 'completed', event.data), { result: null })
    }
  }

  private begin(block: number, kind: Lane['kind'], callId = '', name = ''): Frame[] {
    const origin = this.context.toolOrigins?.get(name)
    const custom = origin?.kind === 'custom' ? createCustomInput() : undefined
    this.lanes.set(block, { kind, id: '', index: -1, parts: [], callId, name, origin, custom })
    return []
  }

  /** Sends the previous item's delayed final event, and opens the next item. */
  private open(lane: Lane, id: string): Frame[] {
    const before = this.finish('completed')
    lane.id = id
    lane.index = this.items.length
    const item = itemOf(lane, 'in_progress')
    this.items.push(item)
    return [...before, this.emit('response.output_item.added', { output_index: lane.index, item })]
  }

  private finish(status: ItemStatus): Frame[] {
    if (this.ended === undefined) return []
    const index = this.ended
    this.ended = undefined
    const item = { ...this.items[index], status }
    this.items[index] = item
    return [this.emit('response.output_item.done', { output_index: index, item })]
  }

  private extend(lane: Lane | undefined, text: string): Frame[] {
    if (!lane || text === '') return []
    lane.parts.push(text)
    if (lane.kind === 'reasoning') return this.context.wantsReasoning ? this.extendThought(lane, text) : []
    const before = lane.index === -1 ? this.openMessage(lane) : []
    const fields = partFields(lane)
    const delta =
      lane.kind === 'refusal'
        ? this.emit('response.refusal.delta', { ...fields, delta: text })
        : this.emit('response.output_text.delta', { ...fields, delta: text, logprobs: [] })
    return [...before, delta]
  }

  private openMessage(lane: Lane): Frame[] {
    const part = lane.kind === 'refusal' ? refusalPart('') : textPart('')
    const opening = this.open(lane, randomId('msg'))
    return [...opening, this.emit('response.content_part.added', { ...partFields(lane), part })]
  }

  private extendThought(lane: Lane, text: string): Frame[] {
    const before = lane.index === -1 ? this.openThought(lane) : []
    return [...before, this.emit('response.reasoning_summary_text.delta', { ...partFields(lane), delta: text })]
  }

  private openThought(lane: Lane): Frame[] {
    const opening = this.open(lane, randomId('rs'))
    return [
      ...opening,
      this.emit('response.reasoning_summary_part.added', { ...partFields(lane), part: summaryPart('') }),
    ]
  }

  private extendCall(lane: Lane | undefined, text: string): Frame[] {
    if (!lane || text === '') return []
    const piece = lane.custom ? lane.custom.push(text) : text
    lane.parts.push(piece)
    if (lane.index === -1) return lane.parts.length > 1 ? this.openHeld() : []
    return piece === '' ? [] : [callDelta(lane, piece, this.emit)]
  }

  private openHeld(): Frame[] {
    const lane = this.held === undefined ? undefined : this.lanes.get(this.held)
    this.held = undefined
    return lane ? this.openCall(lane) : []
  }

  private openCall(lane: Lane): Frame[] {
    const opening = this.open(lane, randomId(lane.custom ? 'ctc' : 'fc'))
    const text = lane.parts.join('')
    return text === '' ? opening : [...opening, callDelta(lane, text, this.emit)]
  }

  private close(block: number, signature: Signature | undefined): Frame[] {
    const lane = this.lanes.get(block)
    if (!lane) return []
    this.lanes.delete(block)
    switch (lane.kind) {
      case 'call':
        return this.closeCall(lane, block, signature)
      case 'reasoning':
        return this.closeThought(lane, signature)
      default:
        return lane.index === -1 ? [] : this.settle(lane, messageDone, itemOf(lane, 'completed'))
    }
  }

  /** Adds sources to a text. Their positions count from the start of all texts, so only the first text keeps them. */
  private cite(block: number, sources: readonly Source[] = []): Frame[] {
    const lane = this.lanes.get(block)
    if (!lane || sources.length === 0) return []
    const opening = lane.index === -1 ? this.openMessage(lane) : []
    lane.sources = block === this.firstText ? sources : withoutPlaces(sources)
    return opening
  }

  private closeCall(lane: Lane, block: number, signature: Signature | undefined): Frame[] {
    if (this.held === block) this.held = undefined
    const rest = restOf(lane)
    if (rest !== '') lane.parts.push(rest)
    if (lane.index !== -1) {
      const more = rest === '' ? [] : [callDelta(lane, rest, this.emit)]
      return [...more, ...this.settle(lane, callDone, itemOf(lane, 'completed'))]
    }
    const proof = callProofItem(signature, this.context).flatMap((item) => this.writeWhole(item))
    const opening = this.openCall(lane)
    return [...proof, ...opening, ...this.settle(lane, callDone, itemOf(lane, 'completed'))]
  }

  private closeThought(lane: Lane, signature: Signature | undefined): Frame[] {
    const isOpen = lane.index !== -1
    const text = lane.parts.join('')
    const id = isOpen ? lane.id : reasoningId(signature)
    const told = tellThought({ text, ...(signature && { signature }) }, id, this.context)
    if (!told) return []
    const item = reasoningItem(id, 'completed', told.text, told.proof)
    return isOpen ? this.settle(lane, thoughtDone, item) : this.writeWhole(item)
  }

  private writeRedacted(redacted: Signature): Frame[] {
    const id = randomId('rs')
    const told = tellThought({ text: '', redacted }, id, this.context)
    return told ? this.writeWhole(reasoningItem(id, 'completed', '', told.proof)) : []
  }

  /** Writes an item that arrives complete. `begun`: fields whose values differ in the `added` event. */
  private writeWhole(item: JsonObject, begun: JsonObject = {}): Frame[] {
    const before = this.finish('completed')
    this.ended = this.items.length
    this.items.push(item)
    const added = { output_index: this.ended, item: { ...item, status: 'in_progress', ...begun } }
    return [...before, this.emit('response.output_item.added', added)]
  }

  /** Sends an item's final events. If blocks interleave, the previous item's delayed event comes first. */
  private settle(lane: Lane, closing: typeof messageDone, item: JsonObject): Frame[] {
    const before = this.finish('completed')
    this.items[lane.index] = item
    this.ended = lane.index
    return [...before, ...closing(lane, this.emit)]
  }

  note({ block, text }: TextPiece): void {
    this.lanes.get(block)?.parts.push(text)
  }

  /** Ends all open items; the last one gets `status`. */
  end(status: ItemStatus): Frame[] {
    const closing = [...this.lanes.keys()].flatMap((block) => this.close(block, undefined))
    return [...closing, ...this.finish(status)]
  }

  output(): JsonObject[] {
    for (const lane of this.lanes.values()) if (lane.index !== -1) this.items[lane.index] = itemOf(lane, 'incomplete')
    return this.items
  }

  hasRefusal(): boolean {
    return this.sawRefusal
  }
}

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
      return messageItem(id, status, isBegun ? undefined : textPart(text, [], lane.sources))
  }
}
