/**
 * One candidate of a streamed generate-content answer as events of the hub. At most one text or thought block is open
 * at a time; a part of the other kind, a call, a signature or the finish closes it. A call is whole in one part, except
 * where a provider streams its arguments: then it is open until a part comes that does not announce another.
 */
import type { ChatEvent } from '@/chat/event'
import type { FinishReason } from '@/chat/response'
import { textOfCode } from '@/formats/generate-content/code-text'
import { decodeFinishReason } from '@/formats/generate-content/finish-reason'
import { normaliseBase64 } from '@/formats/generate-content/signature'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { createPartialArguments, type PartialArguments } from './decode-partial-arguments'

type Signed = { signature?: { format: 'generate-content'; value: string } }
type OpenText = { kind: 'text' | 'reasoning'; block: number }
type OpenCall = { block: number; args: PartialArguments; signed: Signed }

/** What candidates of one answer share: the numbers of blocks, and ids for calls that have none. */
type BlockSource = { nextBlock(): number; mintCallId(): string }

export interface BlockReader {
  readonly isFinished: boolean
  /** The events of one chunk's share of this candidate, also of one that follows its finish reason. */
  push(candidate: JsonObject): ChatEvent[]
  /** The whole prompt was refused: its reason where the candidate has none of its own. */
  refuse(reason: FinishReason): void
  /** The stream is over: closes what is open, and says why the candidate ended if it did. */
  end(): ChatEvent[]
}

/** Creates the reader of candidate number `choice`. */
export function createBlockReader(choice: number, source: BlockSource): BlockReader {
  let open: OpenText | undefined
  let openCall: OpenCall | undefined
  /** Why it ended, of all that was said: some state it with every chunk, and some go on after it. The latest counts. */
  let finish: ((answer: Parameters<typeof decodeFinishReason>[1]) => FinishReason) | undefined
  let hasToolCalls = false
  let hasContent = false

  function closeText(signed: Signed = {}): ChatEvent[] {
    if (!open) return []
    const { kind, block } = open
    open = undefined
    return [{ type: `${kind}-end`, choice, block, ...signed }]
  }

  /** Arguments that the stream broke off are not told at all: as JSON they would look whole. */
  function closeCall(isWhole: boolean): ChatEvent[] {
    if (!openCall) return []
    const { block, args, signed } = openCall
    openCall = undefined
    const end: ChatEvent = { type: 'tool-call-end', choice, block, ...signed }
    return isWhole ? [{ type: 'tool-call-delta', choice, block, argumentsText: args.text() }, end] : [end]
  }

  function close(): ChatEvent[] {
    return [...closeText(), ...closeCall(true)]
  }

  function pushText(kind: OpenText['kind'], text: string, signed: Signed): ChatEvent[] {
    if (text === '' && !signed.signature) return []
    const events: ChatEvent[] = open?.kind === kind ? [] : close()
    if (!open) {
      open = { kind, block: source.nextBlock() }
      events.push({ type: `${kind}-start`, choice, block: open.block })
    }
    if (text !== '') events.push({ type: `${kind}-delta`, choice, block: open.block, text })
    if (signed.signature) events.push(...closeText(signed))
    hasContent = true
    return events
  }

  function pushCall(call: JsonObject, signed: Signed): ChatEvent[] {
    const name = textOf(call.name) ?? ''
    const pieces = Array.isArray(call.partialArgs) ? call.partialArgs : undefined
    if (name === '' && openCall) return continueCall(call, pieces ?? [])
    if (name === '') return []
    const events = close()
    const block = source.nextBlock()
    const id = typeof call.id === 'string' && call.id !== '' ? call.id : source.mintCallId()
    hasToolCalls = true
    hasContent = true
    events.push({ type: 'tool-call-start', choice, block, id, name })
    if (call.willContinue === true || pieces) {
      openCall = { block, args: createPartialArguments(), signed }
      return [...events, ...continueCall(call, pieces ?? [])]
    }
    const argumentsText = JSON.stringify(asWritten(call.args) ?? {})
    return [
      ...events,
      { type: 'tool-call-delta', choice, block, argumentsText },
      { type: 'tool-call-end', choice, block, ...signed },
    ]
  }

  function continueCall(call: JsonObject, pieces: readonly JsonValue[]): ChatEvent[] {
    openCall?.args.apply(pieces)
    return call.willContinue === true ? [] : closeCall(true)
  }

  function pushPart(part: JsonValue): ChatEvent[] {
    if (!isJsonObject(part)) return []
    const signed = readSignature(part.thoughtSignature)
    if (isJsonObject(part.functionCall)) return pushCall(part.functionCall, signed)
    if (isJsonObject(part.inlineData)) return pushImage(part.inlineData)
    const text = textOf(part.text) ?? textOfCode(part) ?? ''
    return pushText(part.thought === true ? 'reasoning' : 'text', text, signed)
  }

  function pushImage({ mimeType, data }: JsonObject): ChatEvent[] {
    if (typeof mimeType !== 'string' || typeof data !== 'string' || !mimeType.startsWith('image/')) return []
    hasContent = true
    return [...close(), { type: 'image', choice, block: source.nextBlock(), mediaType: mimeType, data }]
  }

  return {
    get isFinished() {
      return finish !== undefined
    },
    push(candidate) {
      const parts = isJsonObject(candidate.content) ? candidate.content.parts : undefined
      const events = Array.isArray(parts) ? parts.flatMap(pushPart) : []
      const reason = textOf(candidate.finishReason) ?? ''
      if (reason !== '') finish = (answer) => decodeFinishReason(reason, answer)
      return events
    },
    refuse(reason) {
      finish ??= () => reason
    },
    end() {
      if (!finish) return [...closeText(), ...closeCall(false)]
      return [...close(), { type: 'finish', choice, finish: finish({ hasToolCalls, hasContent }) }]
    },
  }
}

function readSignature(value: JsonValue | undefined): Signed {
  if (typeof value !== 'string' || value === '') return {}
  return { signature: { format: 'generate-content', value: normaliseBase64(value) } }
}
