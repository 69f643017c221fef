/**
 * Decodes one candidate of a streamed generate-content answer. At most one text or thought block is open; a part of the other kind, a call,
 * a signature or the finish closes it. A call is complete in one part, unless the provider streams its arguments. It then stays open until
 * a part says that no other part follows.
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

/** Shared by the candidates of an answer: block numbers, and ids for calls without one. */
type BlockSource = { nextBlock(): number; mintCallId(): string }

export class BlockReader {
  private open: OpenText | undefined
  private openCall: OpenCall | undefined
  /** The latest finish reason: some providers repeat it in every chunk, and some send content after it. */
  private finish: ((answer: Parameters<typeof decodeFinishReason>[1]) => FinishReason) | undefined
  private hasToolCalls = false
  private hasContent = false
  /** Sources of all the candidate's texts. Each chunk with sources repeats all earlier ones. */
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

  /** Interrupted arguments are not emitted, because they would look complete as JSON. */
  private closeCall(isWhole: boolean): ChatEvent[] {
    if (!this.openCall) return []
    const { block, args, signed } = this.openCall
    this.openCall = undefined
    const end: ChatEvent = { type: 'tool-call-end', choice: this.choice, block, ...signed }
    return isWhole ? [{ type: 'tool-call-delta', choice: this.choice, block, argumentsText: args.text() }, end] : [end]
  }

  /** Sources that arrive after their text has ended are sent with an additional, empty text block. */
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

  push(candidate: JsonObject): ChatEvent[] {
    const parts = isJsonObject(candidate.content) ? candidate.content.parts : undefined
    if (candidate.groundingMetadata) this.sources = decodeGrounding(candidate.groundingMetadata)
    const events = Array.isArray(parts) ? parts.flatMap((part) => this.pushPart(part)) : []
    const reason = textOf(candidate.finishReason) ?? ''
    if (reason !== '') this.finish = (answer) => decodeFinishReason(reason, answer)
    return events
  }

  /** Records that the whole prompt was refused; the reason applies if the candidate has none of its own. */
  refuse(reason: FinishReason): void {
    this.finish ??= () => reason
  }

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
