/** Writes one client's stream: the provider's own events where both speak the same format, encoded hub events elsewhere. */
import type { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { Usage } from '@/chat/usage'
import type { PassingStream, StreamEncoder } from '@/formats/format'
import { eventOf, itemOf, type RepeatedPiece, type Repeats, type StreamItem, slotsOf } from '@/gateway/attempt/repeats'
import type { StreamBatch } from '@/gateway/attempt/stream-source'
import {
  fill,
  inOrder,
  isSameTemplate,
  type TemplateSlot,
  type TextTemplate,
  templateAround,
} from '@/gateway/attempt/text-template'
import { lacksCount } from '@/gateway/charge/open-charge'
import { parseJson } from '@/lib/json'
import type { Frame } from '@/lib/streams/sse'
import { formatSse } from '@/lib/streams/sse'
import type { UpstreamFailure } from '@/upstream/failure'
import { createOutline } from './cut-stream'
import type { RelayedAnswer } from './relayed'

type Items = Extract<StreamBatch, { kind: 'items' }>

/**
 * What to send, and whether it is the last: the provider's terminator was in it, or a fault of the provider follows it. `rest`
 * is left to write after the answer has been counted, which is due before it goes on or ends.
 */
export type Written = { text: string; isComplete: boolean; failure?: UpstreamFailure; rest?: Items }

export interface StreamWriter {
  write(items: StreamItem[]): Written
  /** Writes what came in short, as {@link write} does. */
  writeRepeats(repeats: Repeats): Written
  /** The upstream closed; `events` close what was open. */
  finish(events: ChatEvent[]): Written
  /** The frames that end an answer which is stopped here for its length. */
  cut(usage: Usage): string
  /** The frames that tell the client of a fault, with no terminator after them. */
  fail(error: GatewayError): string
}

/** Creates the writer of one stream. Everything written is shown to the answer's meter. */
export function createStreamWriter(answer: RelayedAnswer, isRaw: boolean): StreamWriter {
  const { client, context, providerFormat, signatures } = answer
  const { framing, format } = client
  const { meter } = answer.charge
  const passing = isRaw && providerFormat === format ? format.passThrough.createStream(context, answer) : undefined
  const isNativeFraming = framing === format.framing
  /** Made when it is first asked for: a stream that passes through has a word of ours only where it breaks. */
  let encoder: StreamEncoder | undefined
  const outline = createOutline()
  let frameCount = 0
  /** How the latest text was written; and what it was written for, once two in a row were written alike. */
  let latest: { like: StreamItem; word: string; template: TextTemplate } | undefined
  /** Where the text stands among what differs in an encoded piece: the other is its number, in formats that number. */
  let isTextFirst = true
  /** What was shown to the meter and waits for a count before it is written. */
  let observed: StreamItem | undefined
  let known: { like: StreamItem; template: TextTemplate } | undefined

  function encoderOf(): StreamEncoder {
    encoder ??= format.createStreamEncoder(context)
    return encoder
  }

  function frames(list: Frame[]): string {
    let text = ''
    for (const frame of list) text += (frameCount === 0 ? framing.open : '') + framing.format(frame, frameCount++)
    return text
  }

  function relayed(item: StreamItem, passing: PassingStream): string {
    const { sse } = item
    const isReadable = isNativeFraming && (framing.isReadable?.(sse.raw) ?? true)
    // The second half of what the block before ended in goes out, whatever becomes of this one.
    let before = isNativeFraming && sse.raw.startsWith('\n') ? '\n' : ''
    if (sse.data === undefined) return isReadable ? sse.raw : before
    const missing = passing.before?.(item.json)
    if (missing && missing.length > 0) before += frames(missing)
    const data = passing.event(sse.data, item.json)
    if (data === undefined) return before
    if (!isReadable) return before + frames([{ data }])
    frameCount++
    const event = passing.nameOf?.(item.json)
    if (event !== undefined && event !== sse.event) {
      answer.repaired('event')
      return before + formatSse({ event, data })
    }
    if (data === sse.data) return sse.raw
    const at = sse.raw.indexOf(sse.data)
    if (at !== -1) return sse.raw.slice(0, at) + data + sse.raw.slice(at + sse.data.length)
    return formatSse(sse.event === undefined ? { data } : { event: sse.event, data })
  }

  /** The usage that the client is told in the end is that of the books, whatever the provider said. */
  function encoded(events: readonly ChatEvent[]): string {
    let text = ''
    for (const event of events) {
      if (event.type !== 'end') text += frames(encoderOf().push(event))
      else {
        text += frames(encoderOf().push({ type: 'usage', usage: answer.charged() }))
        text += frames(encoderOf().end())
      }
    }
    return text
  }

  /** The end that the provider left out although it had finished. */
  function supplied(events: readonly ChatEvent[], passing: PassingStream): string {
    return events.some((event) => event.type === 'end') ? frames(passing.ending(false)) : ''
  }

  function write(items: StreamItem[]): Written {
    let text = ''
    for (const [index, item] of items.entries()) {
      const isLast = item.events.some((event) => event.type === 'end')
      // Its usage may come with the end itself, and then leaves nothing to count, or has to be seen to know what.
      const saysItsUsage = isLast && item.events.some((event) => event.type === 'usage')
      if (isLast && !saysItsUsage && lacksCount(answer.charge))
        return { text, isComplete: false, rest: { kind: 'items', items: items.slice(index) } }
      const fault = item === observed ? undefined : observe(item.events)
      if (fault) return { text, isComplete: false, failure: fault }
      const showsUsage = saysItsUsage || passing?.closesWithUsage?.(item.json) === true
      if (item !== observed && showsUsage && lacksCount(answer.charge)) {
        observed = item
        return { text, isComplete: false, rest: { kind: 'items', items: items.slice(index) } }
      }
      if (passing && isLast) text += frames(passing.ending(true))
      text += passing ? relayed(item, passing) : encoded(item.events)
      if (isLast) return { text: wholeLine(text) + closing(), isComplete: true }
      if (meter.isSuspect()) return { text, isComplete: false, rest: { kind: 'items', items: items.slice(index + 1) } }
    }
    return { text, isComplete: false }
  }

  function writeRepeats({ like, pieces }: Repeats): Written {
    let text = ''
    for (const [index, piece] of pieces.entries()) {
      // All that a piece says is known before it is written, as of any other.
      show(eventOf(like, piece.text))
      for (const event of piece.usage) show(event)
      if (known?.like !== like.item) text += writeWhole(like, piece)
      else {
        text += fill(known.template, passing ? piece.values : encodedValues(like, piece.text))
        frameCount++
      }
      if (!passing && piece.usage.length > 0) text += encoded(piece.usage)
      if (meter.isSuspect()) {
        const repeats = { like, pieces: pieces.slice(index + 1) }
        return { text, isComplete: false, rest: { kind: 'items', items: [], repeats } }
      }
    }
    return { text, isComplete: false }
  }

  /** All but its usage, in full, to learn how the next ones of its like are written. */
  function writeWhole(repeated: Repeats['like'], piece: RepeatedPiece): string {
    const like = repeated.item
    const word = piece.text
    const text = passing ? relayed(itemOf(repeated, piece), passing) : encoded([eventOf(repeated, word)])
    const template = templateAround(text, passing ? slotsOf(repeated, piece) : encodedSlots(text, word))
    const before = latest?.like === like && latest.word !== word ? latest.template : undefined
    known = template && before && isSameTemplate(before, template) ? { like, template } : undefined
    latest = template && { like, word, template }
    return text
  }

  /** What differs in an encoded piece of this text, as it was just written. */
  function encodedSlots(text: string, word: string): TemplateSlot[] {
    const slot = { isCount: false, value: word }
    const { numbering } = encoderOf()
    if (!numbering) return [slot]
    const slots = inOrder(text, [slot, { name: numbering.name, isCount: true, value: String(numbering.last()) }])
    isTextFirst = slots[0] === slot
    return slots
  }

  /** The same of one that need not be encoded. */
  function encodedValues(like: Repeats['like'], word: string): string[] {
    const { numbering } = encoderOf()
    if (!numbering) return [word]
    const number = String(numbering.repeat(eventOf(like, word)))
    return isTextFirst ? [word, number] : [number, word]
  }

  function show(event: ChatEvent): void {
    meter.observe(event)
    signatures?.observe(event)
  }

  function observe(events: ChatEvent[]): UpstreamFailure | undefined {
    for (const event of events) {
      show(event)
      outline.observe(event)
      if (event.type === 'error') return { kind: 'refused', error: event.error }
    }
    return undefined
  }

  /** Our own last words on an answer that the provider began, by the names that it gave its parts. */
  function inPassing(last: Frame[], passing: PassingStream): Frame[] {
    if (!format.passThrough.namesAnswer) return last
    return last.flatMap((frame) => {
      const data = passing.event(frame.data, parseJson(frame.data))
      return data === undefined ? [] : [{ ...frame, data }]
    })
  }

  /** Even an answer without a frame must be a whole document where the framing brackets it. */
  function closing(): string {
    return (frameCount === 0 ? framing.open : '') + framing.close
  }

  return {
    write,
    writeRepeats,
    finish(events) {
      const failure = observe(events)
      const text = passing ? supplied(events, passing) : encoded(events)
      if (failure) return { text, isComplete: false, failure }
      if (meter.hasEnded()) return { text: text + closing(), isComplete: true }
      return { text, isComplete: false, failure: { kind: 'broken', detail: 'stream ended without its terminator' } }
    },
    cut(usage) {
      if (!passing) return frames(outline.endTold(encoderOf(), usage)) + closing()
      return (
        frames(
          inPassing(
            outline.endPassed(format, context, usage, (block) => meter.textOf(block)),
            passing,
          ),
        ) + closing()
      )
    },
    fail: (error) => frames(encoderOf().fail(error, client.requestId, frameCount)) + framing.close,
  }
}

/** Writes what was read at once: one text for the client. */
export function writeBatch(writer: StreamWriter, batch: Exclude<StreamBatch, { kind: 'failed' }>): Written {
  if (batch.kind === 'done') return writer.finish(batch.events)
  const { items, repeats } = batch
  if (!repeats) return writer.write(items)
  const first = writer.writeRepeats(repeats)
  if (first.rest) return { ...first, rest: { ...first.rest, items } }
  if (items.length === 0) return first
  const more = writer.write(items)
  return { ...more, text: first.text + more.text }
}

/** A CR at the very end may be half of a CRLF whose LF is still under way: nothing is relayed after the end. */
function wholeLine(text: string): string {
  return text.endsWith('\r') ? `${text}\n` : text
}
