/**
 * Writes the blocks of a messages stream one after another, as the format requires, although their events may interleave. Every block
 * becomes a segment in a queue. The current segment is written as its events arrive; others collect theirs. A current text or thinking
 * block ends when another block starts (later text becomes a new block), so that nothing is delayed. A current tool call is written to its
 * end. It is opened one fragment late: if it turns out to be complete, its signature can precede it, and invalid arguments can be wrapped.
 */
import type { ChatEvent } from '@/chat/event'
import type { Signature } from '@/chat/request'
import type { Source } from '@/chat/sources'
import type { AnswerContext } from '@/formats/format'
import { encodeCitation } from '@/formats/messages/citations'
import type { Emitted } from '@/formats/messages/finish-reason'
import { encodeSignature } from '@/formats/messages/signature'
import { createToolIds, legaliseArguments } from '@/formats/messages/tool-calls'
import { assertNever } from '@/lib/assert'
import type { Frame } from '@/lib/streams/sse'
import { encodeMarker, encodeThought, omittedMedia } from './encode-content'
import { createFrameWriter } from './encode-stream-frames'

type BlockEvent = Extract<ChatEvent, { block: number }>

type Segment = {
  kind: 'text' | 'thinking' | 'tool'
  parts: string[]
  isOpen: boolean
  isEnded: boolean
  signature?: Signature
  sources?: readonly Source[]
  id: string
  name: string
}
type Whole = { kind: 'whole'; write: () => Frame[] }

export class BlockWriter {
  private readonly frames = createFrameWriter()
  private readonly newId = createToolIds()
  private readonly queue: (Segment | Whole)[] = []
  /** Index of the current segment. Removing segments from the front would take time proportional to the queue. */
  private head = 0
  private readonly segments = new Map<number, Segment>()
  private readonly written: Emitted = { hasToolCalls: false, hasRefusal: false }

  constructor(private readonly context: AnswerContext) {}

  push(event: BlockEvent): Frame[] {
    this.accept(event)
    return this.advance()
  }

  private accept(event: BlockEvent): void {
    switch (event.type) {
      case 'refusal-start':
      case 'text-start':
        this.written.hasRefusal ||= event.type === 'refusal-start'
        this.open(event.block, 'text')
        break
      case 'reasoning-start':
        this.startReasoning(event.block, event.redacted)
        break
      case 'tool-call-start':
        this.open(event.block, 'tool', event.id, event.name)
        break
      case 'text-delta':
      case 'refusal-delta':
        this.extend(event.block, 'text', event.text)
        break
      case 'reasoning-delta':
        this.extend(event.block, 'thinking', event.text)
        break
      case 'tool-call-delta':
        this.extend(event.block, 'tool', event.argumentsText)
        break
      case 'image':
        this.enqueueWhole(() => this.frames.whole({ type: 'text', text: omittedMedia('image') }))
        break
      case 'text-end':
        this.close(event.block, event.signature, event.sources)
        break
      case 'refusal-end':
      case 'reasoning-end':
      case 'tool-call-end':
        this.close(event.block, event.type === 'refusal-end' ? undefined : event.signature)
        break
      default:
        assertNever(event)
    }
  }

  private startReasoning(block: number, redacted: Signature | undefined): void {
    const { wantsReasoning } = this.context
    if (redacted)
      this.enqueueWhole(() => encodeThought({ text: '', redacted }, wantsReasoning).flatMap(this.frames.whole))
    else this.open(block, 'thinking')
  }

  private enqueueWhole(write: () => Frame[]): void {
    this.queue.push({ kind: 'whole', write })
  }

  private open(block: number, kind: Segment['kind'], id = '', name = ''): void {
    const segment: Segment = { kind, parts: [], isOpen: false, isEnded: false, id, name }
    this.segments.set(block, segment)
    this.queue.push(segment)
  }

  private extend(block: number, kind: Segment['kind'], text: string): void {
    if (text === '') return
    const segment = this.segments.get(block)
    if (!segment) return
    if (!segment.isEnded) segment.parts.push(text)
    else if (kind !== 'tool') {
      this.open(block, kind)
      this.segments.get(block)?.parts.push(text)
    }
  }

  private close(block: number, signature: Signature | undefined, sources?: readonly Source[]): void {
    const segment = this.segments.get(block)
    if (!segment) return
    this.segments.delete(block)
    const isLate = segment.isEnded
    segment.isEnded = true
    if (sources) segment.sources = sources
    if (!isLate) segment.signature = signature
    else if (signature) this.enqueueWhole(() => this.lateSignature(segment, signature))
  }

  /** The signature of a block that was already ended to let another one start. */
  private lateSignature(segment: Segment, signature: Signature): Frame[] {
    if (segment.kind === 'text') return this.textMarker(signature)
    return encodeThought({ text: '', signature }, this.context.wantsReasoning).flatMap(this.frames.whole)
  }

  private textMarker(signature: Signature | undefined): Frame[] {
    return this.context.wantsReasoning ? encodeMarker(signature, 'text').flatMap(this.frames.whole) : []
  }

  /** Writes as much as possible: the current segment, and the next segments after it has ended. */
  private advance(): Frame[] {
    const out: Frame[] = []
    for (;;) {
      const current = this.queue[this.head]
      if (!current) return out
      if (current.kind === 'whole') out.push(...current.write())
      else {
        if (current.kind !== 'tool' && this.queue.length > this.head + 1) current.isEnded = true
        out.push(...this.write(current))
        if (!current.isEnded) return out
      }
      this.head++
      if (this.head === this.queue.length) this.head = this.queue.length = 0
    }
  }

  private write(segment: Segment): Frame[] {
    switch (segment.kind) {
      case 'text':
        return this.writeText(segment)
      case 'thinking':
        return this.context.wantsReasoning ? this.writeThinking(segment) : this.writeUnwantedThinking(segment)
      case 'tool':
        return this.writeTool(segment)
    }
  }

  private writeText(segment: Segment): Frame[] {
    // Sources that arrive after their text get a block with their URLs as text: providers refuse an empty text in the next request.
    const isLate = segment.isEnded && !segment.isOpen && segment.parts.length === 0 && segment.sources !== undefined
    const text = isLate ? urlsOf(segment) : takeParts(segment)
    return [
      ...(text === '' ? [] : [...this.openOnce(segment), this.frames.delta({ type: 'text_delta', text })]),
      ...(segment.isEnded && segment.isOpen ? [...this.cite(segment), this.frames.stop()] : []),
      ...(segment.isEnded ? this.textMarker(segment.signature) : []),
    ]
  }

  private cite({ sources = [] }: Segment): Frame[] {
    return sources.map((source) => this.frames.delta({ type: 'citations_delta', citation: encodeCitation(source) }))
  }

  private openOnce(segment: Segment): Frame[] {
    if (segment.isOpen) return []
    segment.isOpen = true
    if (segment.kind === 'text') return [this.frames.start({ type: 'text', text: '' })]
    return [this.frames.start({ type: 'thinking', thinking: '', signature: '' })]
  }

  private writeThinking(segment: Segment): Frame[] {
    const thinking = takeParts(segment)
    const out: Frame[] = []
    if (thinking !== '') out.push(...this.openOnce(segment), this.frames.delta({ type: 'thinking_delta', thinking }))
    if (!segment.isEnded || !(segment.isOpen || segment.signature)) return out
    const signature = encodeSignature(segment.signature, 'reasoning')
    return [
      ...out,
      ...this.openOnce(segment),
      this.frames.delta({ type: 'signature_delta', signature }),
      this.frames.stop(),
    ]
  }

  /** Writes thinking that the caller didn't request, but only if a provider of this format signed it. */
  private writeUnwantedThinking(segment: Segment): Frame[] {
    if (!segment.isEnded) return []
    const block = { text: takeParts(segment), ...(segment.signature && { signature: segment.signature }) }
    return encodeThought(block, false).flatMap(this.frames.whole)
  }

  private writeTool(segment: Segment): Frame[] {
    const isWhole = segment.isEnded && !segment.isOpen
    if (!segment.isOpen && !isWhole && segment.parts.length < 2) return []
    const marker = isWhole && this.context.wantsReasoning ? encodeMarker(segment.signature, 'call') : []
    const out: Frame[] = marker.flatMap(this.frames.whole)
    if (!segment.isOpen) {
      segment.isOpen = true
      this.written.hasToolCalls = true
      out.push(this.frames.start({ type: 'tool_use', id: this.newId(segment.id), name: segment.name, input: {} }))
    }
    const fragments = takeParts(segment)
    const text = isWhole && fragments !== '' ? legaliseArguments(fragments) : fragments
    if (text !== '') out.push(this.frames.delta({ type: 'input_json_delta', partial_json: text }))
    return segment.isEnded ? [...out, this.frames.stop()] : out
  }

  end(): Frame[] {
    for (const segment of this.queue.slice(this.head)) if (segment.kind !== 'whole') segment.isEnded = true
    return this.advance()
  }

  emitted(): Emitted {
    return this.written
  }
}

function urlsOf({ sources = [] }: Segment): string {
  return sources.map(({ url }) => url).join('\n')
}

function takeParts(segment: Segment): string {
  const text = segment.parts.length === 1 ? (segment.parts[0] ?? '') : segment.parts.join('')
  segment.parts = []
  return text
}
