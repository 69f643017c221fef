/**
 * One candidate of a streamed generate-content answer as events of the hub. At most one text or thought block is open; a part
 * of the other kind, a call, a signature or the finish closes it. A call is whole in one part, unless a provider streams its
 * arguments: then it is open until a part announces no further one.
 */
import type { ChatEvent } from '@/chat/event'
import type { FinishReason } from '@/chat/response'
import type { Source } from '@/chat/sources'
import { textOfCode } from '@/formats/generate-content/code-text'
import { decodeFinishReason } from '@/formats/generate-content/finish-reason'
import { decodeGrounding } from '@/formats/generate-content/grounding'
import { normaliseBase64 } from '@/formats/generate-content/signature'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { createPartialArguments, type PartialArguments } from './decode-partial-arguments'

type Signed = { signature?: { format: 'generate-content'; value: string } }
type OpenText = { kind: 'text' | 'reasoning'; block: number }
type OpenCall = { block: number; args: PartialArguments; signed: Signed }

/** What candidates of one answer share: the numbers of blocks, and ids for calls that have none. */
type BlockSource = { nextBlock(): number; mintCallId(): string }

/** Creates the reader of candidate number `choice`. */
export class BlockReader {
  private open: OpenText | undefined
  private openCall: OpenCall | undefined
  /** Why it ended, of all that was said: some state it with every chunk, and some go on after it. The latest counts. */
  private finish: ((answer: Parameters<typeof decodeFinishReason>[1]) => FinishReason) | undefined
  private hasToolCalls = false
  private hasContent = false
  /** Of all its texts; each chunk that has some has all. */
  private sources: readonly Source[] = []

  constructor(
    private readonly choice: number,
    private readonly source: BlockSource,
  ) {}

  private closeText(signed: Signed = {}): ChatEvent[] {
    if (!this.open) return []
    const { kind, block } = this.open
    this.open = undefined
    const { sources, choice } = this
    if (kind !== 'text' || sources.length === 0) return [{ type: `${kind}-end`, choice, block, ...signed }]
    this.sources = []
    return [{ type: 'text-end', choice, block, ...signed, sources }]
  }

  /** Arguments that the stream broke off are not told at all: as JSON they would look whole. */
  private closeCall(isWhole: boolean): ChatEvent[] {
    if (!this.openCall) return []
    const { block, args, signed } = this.openCall
    this.openCall = undefined
    const end: ChatEvent = { type: 'tool-call-end', choice: this.choice, block, ...signed }
    return isWhole ? [{ type: 'tool-call-delta', choice: this.choice, block, argumentsText: args.text() }, end] : [end]
  }

  /** Sources that came behind their text stand on a text of their own. */
  private lateSources(): ChatEvent[] {
    const { sources } = this
    if (sources.length === 0) return []
    this.sources = []
    const at = { choice: this.choice, block: this.source.nextBlock() }
    return [
      { type: 'text-start', ...at },
      { type: 'text-end', ...at, sources },
    ]
  }

  private close(): ChatEvent[] {
    return [...this.closeText(), ...this.closeCall(true)]
  }

  private pushText(kind: OpenText['kind'], text: string, signed: Signed): ChatEvent[] {
    if (text === '' && !signed.signature) return []
    const events: ChatEvent[] = this.open?.kind === kind ? [] : this.close()
    if (!this.open) {
      this.open = { kind, block: this.source.nextBlock() }
      events.push({ type: `${kind}-start`, choice: this.choice, block: this.open.block })
    }
    if (text !== '') events.push({ type: `${kind}-delta`, choice: this.choice, block: this.open.block, text })
    if (signed.signature) events.push(...this.closeText(signed))
    this.hasContent = true
    return events
  }

  private pushCall(call: JsonObject, signed: Signed): ChatEvent[] {
    const name = textOf(call.name) ?? ''
    const pieces = Array.isArray(call.partialArgs) ? call.partialArgs : undefined
    if (name === '' && this.openCall) return this.continueCall(call, pieces ?? [])
    if (name === '') return []
    const events = this.close()
    const block = this.source.nextBlock()
    const id = typeof call.id === 'string' && call.id !== '' ? call.id : this.source.mintCallId()
    this.hasToolCalls = true
    this.hasContent = true
    events.push({ type: 'tool-call-start', choice: this.choice, block, id, name })
    if (call.willContinue === true || pieces) {
      this.openCall = { block, args: createPartialArguments(), signed }
      return [...events, ...this.continueCall(call, pieces ?? [])]
    }
    const argumentsText = JSON.stringify(asWritten(call.args) ?? {})
    return [
      ...events,
      { type: 'tool-call-delta', choice: this.choice, block, argumentsText },
      { type: 'tool-call-end', choice: this.choice, block, ...signed },
    ]
  }

  private continueCall(call: JsonObject, pieces: readonly JsonValue[]): ChatEvent[] {
    this.openCall?.args.apply(pieces)
    return call.willContinue === true ? [] : this.closeCall(true)
  }

  private pushPart(part: JsonValue): ChatEvent[] {
    if (!isJsonObject(part)) return []
    const signed = readSignature(part.thoughtSignature)
    if (isJsonObject(part.functionCall)) return this.pushCall(part.functionCall, signed)
    if (isJsonObject(part.inlineData)) return this.pushImage(part.inlineData)
    const text = textOf(part.text) ?? textOfCode(part) ?? ''
    return this.pushText(part.thought === true ? 'reasoning' : 'text', text, signed)
  }

  private pushImage({ mimeType, data }: JsonObject): ChatEvent[] {
    if (typeof mimeType !== 'string' || typeof data !== 'string' || !mimeType.startsWith('image/')) return []
    this.hasContent = true
    return [
      ...this.close(),
      { type: 'image', choice: this.choice, block: this.source.nextBlock(), mediaType: mimeType, data },
    ]
  }

  get isFinished(): boolean {
    return this.finish !== undefined
  }

  /** The events of one chunk's share of this candidate, also of one that follows its finish reason. */
  push(candidate: JsonObject): ChatEvent[] {
    const parts = isJsonObject(candidate.content) ? candidate.content.parts : undefined
    if (candidate.groundingMetadata) this.sources = decodeGrounding(candidate.groundingMetadata)
    const events = Array.isArray(parts) ? parts.flatMap((part) => this.pushPart(part)) : []
    const reason = textOf(candidate.finishReason) ?? ''
    if (reason !== '') this.finish = (answer) => decodeFinishReason(reason, answer)
    return events
  }

  /** The whole prompt was refused: its reason where the candidate has none of its own. */
  refuse(reason: FinishReason): void {
    this.finish ??= () => reason
  }

  /** The stream is over: closes what is open, and says why the candidate ended if it did. */
  end(): ChatEvent[] {
    if (!this.finish) return [...this.closeText(), ...this.closeCall(false)]
    return [
      ...this.close(),
      ...this.lateSources(),
      {
        type: 'finish',
        choice: this.choice,
        finish: this.finish({ hasToolCalls: this.hasToolCalls, hasContent: this.hasContent }),
      },
    ]
  }
}

function readSignature(value: JsonValue | undefined): Signed {
  if (typeof value !== 'string' || value === '') return {}
  return { signature: { format: 'generate-content', value: normaliseBase64(value) } }
}
