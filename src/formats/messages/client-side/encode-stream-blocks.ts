/**
 * Writes the blocks of a messages stream one after another, as the format demands, while the events of several may
 * interleave.
 *
 * Every block that starts becomes a segment in a queue; the first one is current and written as its events come, the others
 * collect theirs. A current text or thinking gives way as soon as another block starts (what comes for it later becomes a
 * new block), so that an answer flows even where the provider ends its text last. A current tool call is written to its end.
 * A tool call is opened one fragment late: if it turns out to be whole, its signature can go before it and broken arguments
 * can be wrapped.
 */
import type { ChatEvent } from '@/chat/event'
import type { Signature } from '@/chat/request'
import type { AnswerContext } from '@/formats/format'
import type { Emitted } from '@/formats/messages/finish-reason'
import { encodeSignature } from '@/formats/messages/signature'
import { legaliseArguments } from '@/formats/messages/tool-arguments'
import { createToolIds } from '@/formats/messages/tool-ids'
import { assertNever } from '@/lib/assert'
import type { Frame } from '@/lib/streams/sse'
import { encodeMarker, encodeThought, omittedMedia } from './encode-content'
import { createFrameWriter } from './encode-stream-frames'

type BlockEvent = Extract<ChatEvent, { block: number }>

interface BlockWriter {
  push(event: BlockEvent): Frame[]
  /** Ends every block that is still open. */
  end(): Frame[]
  /** What was written so far. */
  emitted(): Emitted
}

type Segment = {
  kind: 'text' | 'thinking' | 'tool'
  /** Text not written yet. */
  parts: string[]
  isOpen: boolean
  isEnded: boolean
  signature?: Signature
  id: string
  name: string
}
/** Frames that are ready, waiting for their turn. */
type Whole = { kind: 'whole'; write: () => Frame[] }

/** Creates a writer for the blocks of one answer. */
export function createBlockWriter(context: AnswerContext): BlockWriter {
  const frames = createFrameWriter()
  const newId = createToolIds()
  const queue: (Segment | Whole)[] = []
  /** Where the current segment stands: taking it off the front would cost as much as what waits behind it. */
  let head = 0
  const segments = new Map<number, Segment>()
  const written: Emitted = { hasToolCalls: false, hasRefusal: false }

  function push(event: BlockEvent): Frame[] {
    accept(event)
    return advance()
  }

  function accept(event: BlockEvent): void {
    switch (event.type) {
      case 'refusal-start':
      case 'text-start':
        written.hasRefusal ||= event.type === 'refusal-start'
        open(event.block, 'text')
        break
      case 'reasoning-start':
        startReasoning(event.block, event.redacted)
        break
      case 'tool-call-start':
        open(event.block, 'tool', event.id, event.name)
        break
      case 'text-delta':
      case 'refusal-delta':
        extend(event.block, 'text', event.text)
        break
      case 'reasoning-delta':
        extend(event.block, 'thinking', event.text)
        break
      case 'tool-call-delta':
        extend(event.block, 'tool', event.argumentsText)
        break
      case 'image':
        enqueueWhole(() => frames.whole({ type: 'text', text: omittedMedia('image') }))
        break
      case 'refusal-end':
      case 'text-end':
      case 'reasoning-end':
      case 'tool-call-end':
        close(event.block, event.type === 'refusal-end' ? undefined : event.signature)
        break
      default:
        assertNever(event)
    }
  }

  function startReasoning(block: number, redacted: Signature | undefined): void {
    const { wantsReasoning } = context
    if (redacted) enqueueWhole(() => encodeThought({ text: '', redacted }, wantsReasoning).flatMap(frames.whole))
    else open(block, 'thinking')
  }

  function enqueueWhole(write: () => Frame[]): void {
    queue.push({ kind: 'whole', write })
  }

  function open(block: number, kind: Segment['kind'], id = '', name = ''): void {
    const segment: Segment = { kind, parts: [], isOpen: false, isEnded: false, id, name }
    segments.set(block, segment)
    queue.push(segment)
  }

  function extend(block: number, kind: Segment['kind'], text: string): void {
    if (text === '') return
    const segment = segments.get(block)
    if (!segment) return
    if (!segment.isEnded) segment.parts.push(text)
    else if (kind !== 'tool') {
      open(block, kind)
      segments.get(block)?.parts.push(text)
    }
  }

  function close(block: number, signature: Signature | undefined): void {
    const segment = segments.get(block)
    if (!segment) return
    segments.delete(block)
    const isLate = segment.isEnded
    segment.isEnded = true
    if (!isLate) segment.signature = signature
    else if (signature) enqueueWhole(() => lateSignature(segment, signature))
  }

  /** Its block gave way and was written without it. */
  function lateSignature(segment: Segment, signature: Signature): Frame[] {
    if (segment.kind === 'text') return textMarker(signature)
    return encodeThought({ text: '', signature }, context.wantsReasoning).flatMap(frames.whole)
  }

  function textMarker(signature: Signature | undefined): Frame[] {
    return context.wantsReasoning ? encodeMarker(signature, 'text').flatMap(frames.whole) : []
  }

  /** Writes what can be written: the current segment, and the next one once that has ended. */
  function advance(): Frame[] {
    const out: Frame[] = []
    for (;;) {
      const current = queue[head]
      if (!current) return out
      if (current.kind === 'whole') out.push(...current.write())
      else {
        if (current.kind !== 'tool' && queue.length > head + 1) current.isEnded = true
        out.push(...write(current))
        if (!current.isEnded) return out
      }
      head++
      if (head === queue.length) head = queue.length = 0
    }
  }

  function write(segment: Segment): Frame[] {
    switch (segment.kind) {
      case 'text':
        return writeText(segment)
      case 'thinking':
        return context.wantsReasoning ? writeThinking(segment) : writeUnwantedThinking(segment)
      case 'tool':
        return writeTool(segment)
    }
  }

  function writeText(segment: Segment): Frame[] {
    const text = takeParts(segment)
    return [
      ...(text === '' ? [] : [...openOnce(segment), frames.delta({ type: 'text_delta', text })]),
      ...(segment.isEnded && segment.isOpen ? [frames.stop()] : []),
      ...(segment.isEnded ? textMarker(segment.signature) : []),
    ]
  }

  function openOnce(segment: Segment): Frame[] {
    if (segment.isOpen) return []
    segment.isOpen = true
    if (segment.kind === 'text') return [frames.start({ type: 'text', text: '' })]
    return [frames.start({ type: 'thinking', thinking: '', signature: '' })]
  }

  function writeThinking(segment: Segment): Frame[] {
    const thinking = takeParts(segment)
    const out: Frame[] = []
    if (thinking !== '') out.push(...openOnce(segment), frames.delta({ type: 'thinking_delta', thinking }))
    if (!segment.isEnded || !(segment.isOpen || segment.signature)) return out
    const signature = encodeSignature(segment.signature, 'reasoning')
    return [...out, ...openOnce(segment), frames.delta({ type: 'signature_delta', signature }), frames.stop()]
  }

  /** Only its signature decides whether it is told at all. */
  function writeUnwantedThinking(segment: Segment): Frame[] {
    if (!segment.isEnded) return []
    const block = { text: takeParts(segment), ...(segment.signature && { signature: segment.signature }) }
    return encodeThought(block, false).flatMap(frames.whole)
  }

  function writeTool(segment: Segment): Frame[] {
    const isWhole = segment.isEnded && !segment.isOpen
    if (!segment.isOpen && !isWhole && segment.parts.length < 2) return []
    const marker = isWhole && context.wantsReasoning ? encodeMarker(segment.signature, 'call') : []
    const out: Frame[] = marker.flatMap(frames.whole)
    if (!segment.isOpen) {
      segment.isOpen = true
      written.hasToolCalls = true
      out.push(frames.start({ type: 'tool_use', id: newId(segment.id), name: segment.name, input: {} }))
    }
    const fragments = takeParts(segment)
    const text = isWhole && fragments !== '' ? legaliseArguments(fragments) : fragments
    if (text !== '') out.push(frames.delta({ type: 'input_json_delta', partial_json: text }))
    return segment.isEnded ? [...out, frames.stop()] : out
  }

  function end(): Frame[] {
    for (const segment of queue.slice(head)) if (segment.kind !== 'whole') segment.isEnded = true
    return advance()
  }

  return { push, end, emitted: () => written }
}

function takeParts(segment: Segment): string {
  const text = segment.parts.length === 1 ? (segment.parts[0] ?? '') : segment.parts.join('')
  segment.parts = []
  return text
}
