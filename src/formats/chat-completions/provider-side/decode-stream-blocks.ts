import type { ChatEvent } from '@/chat/event'
import type { FinishReason } from '@/chat/response'
import type { Source } from '@/chat/sources'
import { type DecodedPart, decodeContent } from '@/formats/chat-completions/answer-content'
import { decodeFinishReason } from '@/formats/chat-completions/finish-reason'
import { decodeAnnotations } from '@/formats/url-citations'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { CallReader } from './decode-stream-calls'

type TextKind = 'text' | 'refusal' | 'reasoning'

/** Decodes choice number `choice` into blocks; tool calls stay open until the end. `takeBlock` returns the number of the next block. */
export class BlockReader {
  private tools: CallReader | undefined
  private open: { kind: TextKind; block: number } | undefined
  private finishWord: string | undefined
  private hasContent = false
  private hasRefusal = false
  /** Sources of the current or last text. */
  private sources: Source[] | undefined

  constructor(
    private readonly choice: number,
    private readonly takeBlock: () => number,
  ) {}

  push(json: JsonObject): ChatEvent[] {
    const { finish_reason: word } = json
    if (typeof word === 'string' && word !== '') this.finishWord = word
    if (isJsonObject(json.delta)) return this.pushDelta(json.delta)
    // Some providers send a whole message instead of deltas. After deltas, it only repeats them and is ignored.
    return isJsonObject(json.message) && !this.hasContent ? this.pushDelta(json.message) : []
  }

  closeBlocks(): ChatEvent[] {
    const events = this.closeText()
    if (this.sources) events.push(...this.lateSources(this.sources))
    return this.tools ? [...events, ...this.tools.end()] : events
  }

  /** The choice's finish reason, even if the provider sent none; see {@link isFinished}. */
  finish(): FinishReason {
    return decodeFinishReason(this.finishWord, {
      hasToolCalls: this.tools?.hasCalls() ?? false,
      hasRefusal: this.hasRefusal,
    })
  }

  isFinished(): boolean {
    return this.finishWord !== undefined
  }

  hasNamelessCall(): boolean {
    return this.tools?.hasNamelessCall() ?? false
  }

  private closeText(): ChatEvent[] {
    const { open, choice } = this
    if (!open) return []
    this.open = undefined
    const { sources } = this
    if (open.kind !== 'text' || !sources) return [{ type: `${open.kind}-end`, choice, block: open.block }]
    this.sources = undefined
    return [{ type: 'text-end', choice, block: open.block, sources }]
  }

  /** Sources that arrive after their text has ended are sent with an additional, empty text block. */
  private lateSources(sources: readonly Source[]): ChatEvent[] {
    const at = { choice: this.choice, block: this.takeBlock() }
    this.sources = undefined
    return [
      { type: 'text-start', ...at },
      { type: 'text-end', ...at, sources },
    ]
  }

  private pushPart(part: DecodedPart): ChatEvent[] {
    const { choice } = this
    if (part.type === 'image') {
      if (part.source.type !== 'base64') return this.pushPart({ type: 'text', text: imageAsText(part.source) })
      const { mediaType, data } = part.source
      return [...this.closeText(), { type: 'image', choice, block: this.takeBlock(), mediaType, data }]
    }
    const kind = part.type
    const events: ChatEvent[] = []
    if (this.open?.kind !== kind) {
      events.push(...this.closeText(), { type: `${kind}-start`, choice, block: this.opened(kind) })
    }
    events.push({ type: `${kind}-delta`, choice, block: this.open?.block ?? 0, text: part.text })
    return events
  }

  private opened(kind: TextKind): number {
    const block = this.takeBlock()
    this.open = { kind, block }
    this.hasRefusal ||= kind === 'refusal'
    return block
  }

  private pushDelta(delta: JsonObject): ChatEvent[] {
    const events = decodeContent(delta).flatMap((part) => this.pushPart(part))
    if (delta.annotations) {
      const sources = decodeAnnotations(delta.annotations)
      if (sources.length > 0) this.sources = [...(this.sources ?? []), ...sources]
    }
    const calls: ChatEvent[] = []
    const { tool_calls: fragments, function_call: legacy } = delta
    if (Array.isArray(fragments) || isJsonObject(legacy)) this.tools ??= new CallReader(this.choice, this.takeBlock)
    if (Array.isArray(fragments)) for (const fragment of fragments) calls.push(...(this.tools?.push(fragment) ?? []))
    if (isJsonObject(legacy)) calls.push(...(this.tools?.pushLegacy(legacy) ?? []))
    if (calls.length > 0) events.push(...this.closeText(), ...calls)
    this.hasContent ||= events.length > 0
    return events
  }
}

/** Image events need bytes, so an image given by URL becomes Markdown text. */
function imageAsText(source: { type: string; url?: string }): string {
  return `![image](${source.url ?? ''})`
}
