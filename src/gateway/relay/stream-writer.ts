/** Writes one client's stream: the provider's own events if both have the same format, else encoded hub events. */
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
import { isJsonObject, parseJson } from '@/lib/json'
import type { Frame } from '@/lib/streams/sse'
import { formatSse } from '@/lib/streams/sse'
import type { UpstreamFailure } from '@/upstream/failure'
import { Outline } from './cut-stream'
import type { RelayedAnswer } from './relayed'
import { withCost } from './stated-cost'

type Items = Extract<StreamBatch, { kind: 'items' }>

/**
 * Text to send, and the state of the stream. `open`: more may come. `complete`: it contains the provider's terminator. `failed`: the
 * provider failed. `uncounted`: the answer must be counted before the `rest` is written.
 */
export type Written =
  | { text: string; state: 'open' | 'complete' }
  | { text: string; state: 'failed'; failure: UpstreamFailure }
  | { text: string; state: 'uncounted'; rest: Items }

export class StreamWriter {
  private readonly passing: PassingStream | undefined
  private readonly outline = new Outline()
  /** Created when first needed. A stream of the provider's own events needs an encoder only if it breaks. */
  private encoder: StreamEncoder | undefined
  private frameCount = 0
  /** An item that the meter has already got. It is written once the tokens are counted. */
  private observed: StreamItem | undefined
  /** The last text delta that was written in full, and the template of its encoding. */
  private latest: { like: Repeats['like']; word: string; template: TextTemplate } | undefined
  private known: { like: Repeats['like']; template: TextTemplate } | undefined
  /** Whether an encoded piece contains its text before its sequence number, if it has a number. */
  private isTextFirst = true

  /** `isRaw`: whether the items are the provider's own events. */
  constructor(
    private readonly answer: RelayedAnswer,
    isRaw: boolean,
  ) {
    const { client, context, providerFormat } = answer
    if (isRaw && providerFormat === client.format)
      this.passing = client.format.passThrough.createStream(context, answer)
  }

  writeBatch(batch: Exclude<StreamBatch, { kind: 'failed' }>): Written {
    if (batch.kind === 'done') return this.finish(batch.events)
    const { items, repeats } = batch
    if (!repeats) return this.write(items)
    const first = this.writeRepeats(repeats)
    if (first.state === 'uncounted') return { ...first, rest: { ...first.rest, items } }
    if (items.length === 0) return first
    const more = this.write(items)
    return { ...more, text: first.text + more.text }
  }

  write(items: StreamItem[]): Written {
    const { passing, answer } = this
    const { charge } = answer
    let text = ''
    for (const [index, item] of items.entries()) {
      const isLast = item.events.some((event) => event.type === 'end')
      // If the last item contains the usage, it is read before deciding whether to count.
      const saysItsUsage = isLast && item.events.some((event) => event.type === 'usage')
      if (isLast && !saysItsUsage && lacksCount(charge))
        return { text, state: 'uncounted', rest: { kind: 'items', items: items.slice(index) } }
      const fault = item === this.observed ? undefined : this.observe(item.events)
      if (fault) return { text, state: 'failed', failure: fault }
      const showsUsage = saysItsUsage || passing?.closesWithUsage?.(item.json) === true || this.saysCost(item)
      if (item !== this.observed && showsUsage && lacksCount(charge)) {
        this.observed = item
        return { text, state: 'uncounted', rest: { kind: 'items', items: items.slice(index) } }
      }
      if (passing && isLast) text += this.frames(passing.ending(true))
      text += passing ? this.relayed(item, passing) : this.encoded(item.events)
      if (isLast) return { text: wholeLine(text) + this.closing(), state: 'complete' }
      if (charge.meter.isSuspect())
        return { text, state: 'uncounted', rest: { kind: 'items', items: items.slice(index + 1) } }
    }
    return { text, state: 'open' }
  }

  /** Whether the cost is added to the item's usage. */
  private saysCost({ json }: StreamItem): boolean {
    const { context, client } = this.answer
    if (!context.wantsCost || !this.passing || !isJsonObject(json)) return false
    return client.format.costPlace.usagePath(json) !== undefined
  }

  /** Writes repeated pieces, with the same result as {@link write}. */
  writeRepeats({ like, pieces }: Repeats): Written {
    const { passing } = this
    let text = ''
    for (let index = 0; index < pieces.length; index++) {
      const piece = pieces[index] as RepeatedPiece
      // The meter gets a chunk before it is written, like any other item.
      this.show(eventOf(like, piece.text))
      for (const event of piece.usage) this.show(event)
      if (this.known?.like !== like) text += this.writeWhole(like, piece)
      else {
        text += fill(this.known.template, passing ? piece.values : this.encodedValues(like, piece.text))
        this.frameCount++
      }
      if (!passing && piece.usage.length > 0) text += this.encoded(piece.usage)
      if (this.answer.charge.meter.isSuspect()) {
        const repeats = { like, pieces: pieces.slice(index + 1) }
        return { text, state: 'uncounted', rest: { kind: 'items', items: [], repeats } }
      }
    }
    return { text, state: 'open' }
  }

  /** Called when the upstream closed; `events` close open blocks. */
  finish(events: ChatEvent[]): Written {
    const { passing } = this
    const failure = this.observe(events)
    const text = passing ? this.supplied(events, passing) : this.encoded(events)
    if (failure) return { text, state: 'failed', failure }
    if (this.answer.charge.meter.hasEnded()) return { text: text + this.closing(), state: 'complete' }
    return { text, state: 'failed', failure: { kind: 'broken', detail: 'stream ended without its terminator' } }
  }

  cut(usage: Usage): string {
    const { passing, outline, answer } = this
    if (!passing) return this.frames(outline.endTold(this.encoderOf(), usage)) + this.closing()
    const { client, context, charge } = answer
    const last = outline.endPassed(client.format, context, usage, (block) => charge.meter.textOf(block))
    return this.frames(this.inPassing(last, passing)) + this.closing()
  }

  fail(error: GatewayError): string {
    const { requestId, framing } = this.answer.client
    return this.frames(this.encoderOf().fail(error, requestId, this.frameCount)) + framing.close
  }

  private encoderOf(): StreamEncoder {
    const { client, context } = this.answer
    this.encoder ??= client.format.createStreamEncoder(context)
    return this.encoder
  }

  private frames(list: Frame[]): string {
    const { framing } = this.answer.client
    let text = ''
    for (const frame of list)
      text += (this.frameCount === 0 ? framing.open : '') + framing.format(this.costedFrame(frame), this.frameCount++)
    return text
  }

  /** Adds the cost to the last usage, if the client asked for it. */
  private costed(data: string): string {
    const { context, client, charge } = this.answer
    return context.wantsCost ? withCost(data, client.format, charge) : data
  }

  private costedFrame(frame: Frame): Frame {
    return this.answer.context.wantsCost ? { ...frame, data: this.costed(frame.data) } : frame
  }

  private relayed(item: StreamItem, passing: PassingStream): string {
    const { sse } = item
    const { framing, format } = this.answer.client
    const isNativeFraming = framing === format.framing
    const isReadable = isNativeFraming && (framing.isReadable?.(sse.raw) ?? true)
    // The second half of a CRLF that ended the previous block is always sent.
    let before = isNativeFraming && sse.raw.startsWith('\n') ? '\n' : ''
    if (sse.data === undefined) return isReadable ? sse.raw : before
    const missing = passing.before?.(item.json)
    if (missing && missing.length > 0) before += this.frames(missing)
    const passed = passing.event(sse.data, item.json)
    if (passed === undefined) return before
    if (!isReadable) return before + this.frames([{ data: passed }])
    const data = this.costed(passed)
    this.frameCount++
    const event = passing.nameOf?.(item.json)
    if (event !== undefined && event !== sse.event) {
      this.answer.repaired('event')
      return before + formatSse({ event, data })
    }
    if (data === sse.data) return sse.raw
    const at = sse.raw.indexOf(sse.data)
    if (at !== -1) return sse.raw.slice(0, at) + data + sse.raw.slice(at + sse.data.length)
    return formatSse(sse.event === undefined ? { data } : { event: sse.event, data })
  }

  private encoded(events: readonly ChatEvent[]): string {
    let text = ''
    for (const event of events) {
      if (event.type !== 'end') text += this.frames(this.encoderOf().push(event))
      else {
        text += this.frames(this.encoderOf().push({ type: 'usage', usage: this.answer.charged() }))
        text += this.frames(this.encoderOf().end())
      }
    }
    return text
  }

  /** The final frames, if the provider omitted them although its answer had finished. */
  private supplied(events: readonly ChatEvent[], passing: PassingStream): string {
    return events.some((event) => event.type === 'end') ? this.frames(passing.ending(false)) : ''
  }

  /** Encodes an item's events except for its usage, to learn how the following repeats are encoded. */
  private writeWhole(like: Repeats['like'], piece: RepeatedPiece): string {
    const { passing, latest } = this
    const word = piece.text
    const text = passing ? this.relayed(itemOf(like, piece), passing) : this.encoded([eventOf(like, word)])
    const template = templateAround(text, passing ? slotsOf(like, piece) : this.encodedSlots(text, word))
    const before = latest?.like === like && latest.word !== word ? latest.template : undefined
    this.known = template && before && isSameTemplate(before, template) ? { like, template } : undefined
    this.latest = template && { like, word, template }
    return text
  }

  private encodedSlots(text: string, word: string): TemplateSlot[] {
    const slot = { isCount: false, value: word }
    const { numbering } = this.encoderOf()
    if (!numbering) return [slot]
    const slots = inOrder(text, [slot, { name: numbering.name, isCount: true, value: String(numbering.last()) }])
    this.isTextFirst = slots[0] === slot
    return slots
  }

  private encodedValues(like: Repeats['like'], word: string): string[] {
    const { numbering } = this.encoderOf()
    if (!numbering) return [word]
    const number = String(numbering.repeat(eventOf(like, word)))
    return this.isTextFirst ? [word, number] : [number, word]
  }

  private show(event: ChatEvent): void {
    const { charge, signatures } = this.answer
    charge.meter.observe(event)
    signatures?.observe(event)
  }

  private observe(events: ChatEvent[]): UpstreamFailure | undefined {
    for (const event of events) {
      this.show(event)
      this.outline.observe(event)
      if (event.type === 'error') return { kind: 'refused', error: event.error }
    }
    return undefined
  }

  /** Changes our final frames of an answer that the provider began, so that they have the provider's ids. */
  private inPassing(last: Frame[], passing: PassingStream): Frame[] {
    if (!this.answer.client.format.passThrough.namesAnswer) return last
    return last.flatMap((frame) => {
      const data = passing.event(frame.data, parseJson(frame.data))
      return data === undefined ? [] : [{ ...frame, data }]
    })
  }

  /** In a framing with an opening and a closing text, even an answer without frames must be a complete document. */
  private closing(): string {
    const { framing } = this.answer.client
    return (this.frameCount === 0 ? framing.open : '') + framing.close
  }
}

/** Adds an LF after a final CR, which may be the first half of a CRLF whose LF is not relayed any more. */
function wholeLine(text: string): string {
  return text.endsWith('\r') ? `${text}\n` : text
}
