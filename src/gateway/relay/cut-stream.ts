/**
 * Ends a stream that we stop in the middle: closes open blocks and finishes with reason "length", in the client's format. If the provider's
 * own events were passed through, an encoder first gets the same events, and its output is dropped. It needs the real texts if the
 * format's final events repeat them.
 */
import type { ChatEvent } from '@/chat/event'
import type { Usage } from '@/chat/usage'
import type { AnswerContext, Format, StreamEncoder } from '@/formats/format'
import type { Frame } from '@/lib/streams/sse'

type BlockStart = Extract<ChatEvent, { type: 'text-start' | 'refusal-start' | 'reasoning-start' | 'tool-call-start' }>

const CUT = { kind: 'length' } as const

export class Outline {
  private start: Extract<ChatEvent, { type: 'start' }> | undefined
  private readonly blocks: { start: BlockStart; isOpen: boolean }[] = []

  observe(event: ChatEvent): void {
    switch (event.type) {
      case 'start':
        this.start = event
        return
      case 'text-start':
      case 'refusal-start':
      case 'reasoning-start':
      case 'tool-call-start':
        this.blocks[event.block] = { start: event, isOpen: true }
        return
      case 'text-end':
      case 'refusal-end':
      case 'reasoning-end':
      case 'tool-call-end': {
        const ended = this.blocks[event.block]
        if (ended) ended.isOpen = false
        return
      }
      default:
        return
    }
  }

  /** Frames that end the stream for a client whose whole stream came from `encoder`. */
  endTold(encoder: StreamEncoder, usage: Usage): Frame[] {
    return [...this.closing(usage).flatMap((event) => encoder.push(event)), ...encoder.end()]
  }

  /** Frames that end the stream for a client that got the provider's own events. */
  endPassed(format: Format, context: AnswerContext, usage: Usage, textOf: (block: number) => string): Frame[] {
    const { start } = this
    const id = format.passThrough.namesAnswer ? context.id : start?.id || context.id
    const created = start?.created || context.created
    // Includes reasoning that the client did not want, because it was passed through.
    const encoder = format.createStreamEncoder({ ...context, id, created, wantsReasoning: true })
    if (start) encoder.push(start)
    const said = format.passThrough.namesAnswer ? textOf : () => ''
    for (const block of this.blocks) for (const event of retold(block, said(block.start.block))) encoder.push(event)
    return this.endTold(encoder, usage)
  }

  private closing(usage: Usage): ChatEvent[] {
    const ends = this.blocks.flatMap(({ start, isOpen }) => (isOpen && !isRedacted(start) ? [endOf(start)] : []))
    const choices = new Set([0, ...this.blocks.flatMap(({ start }) => [start.choice])])
    const finishes = [...choices].map((choice): ChatEvent => ({ type: 'finish', choice, finish: CUT }))
    return [...ends, ...finishes, { type: 'usage', usage }]
  }
}

/** A block's events for an encoder, with its text or a placeholder; the output is dropped. */
function retold({ start, isOpen }: { start: BlockStart; isOpen: boolean }, said: string): ChatEvent[] {
  if (isRedacted(start)) return [start]
  const something = deltaOf(start, said)
  const ends = isOpen ? [] : [endOf(start)]
  return said === '' ? [start, something, something, ...ends] : [start, something, ...ends]
}

function deltaOf({ type, choice, block }: BlockStart, said: string): ChatEvent {
  switch (type) {
    case 'text-start':
      return { type: 'text-delta', choice, block, text: said || '.' }
    case 'refusal-start':
      return { type: 'refusal-delta', choice, block, text: said || '.' }
    case 'reasoning-start':
      return { type: 'reasoning-delta', choice, block, text: said || '.' }
    case 'tool-call-start':
      return { type: 'tool-call-delta', choice, block, argumentsText: said || ' ' }
  }
}

function endOf({ type, choice, block }: BlockStart): ChatEvent {
  switch (type) {
    case 'text-start':
      return { type: 'text-end', choice, block }
    case 'refusal-start':
      return { type: 'refusal-end', choice, block }
    case 'reasoning-start':
      return { type: 'reasoning-end', choice, block }
    case 'tool-call-start':
      return { type: 'tool-call-end', choice, block }
  }
}

function isRedacted(start: BlockStart): boolean {
  return start.type === 'reasoning-start' && start.redacted !== undefined
}
