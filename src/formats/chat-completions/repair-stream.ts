/** Corrects a provider's chat-completions stream if it deviates from the published shape, chunk by chunk. */
import { inputTokens, type Usage } from '@/chat/usage'
import type { AnswerContext, PassHooks } from '@/formats/format'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import type { JsonEdit } from '@/lib/json-splice'
import type { Frame } from '@/lib/streams/sse'
import { encodeFinishReason } from './finish-reason'
import { ListRepair, type Put, repairAnnotations, repairChoice, repairContent, repairHead, repairSum } from './repair'
import { CallRepair } from './repair-calls'
import { decodeUsage, encodeUsage } from './usage'

class Choice {
  hasRole = false
  hasContent = false
  hasFunctionCall = false
  isFinished = false
  calls: CallRepair | undefined
  readonly lists = new ListRepair()
}

/** Constants, since nearly every chunk has one choice and no edits. */
const FIRST_CHOICE = ['choices', 0]
const FIRST_DELTA = ['choices', 0, 'delta']

const CHUNK = 'chat.completion.chunk'

export class StreamRepair {
  private readonly choices = new Map<number, Choice>()
  private readonly edits: JsonEdit[] = []
  private id: string
  private created: number
  private hasUsage = false
  private displaced: JsonObject | undefined
  /** Replaces the usage in a chunk that must not have one. OpenRouter's library refuses null. */
  private readonly noUsage: null | undefined

  private readonly put: Put = (path, value, repair) => {
    this.edits.push({ path, value })
    this.hooks.repaired(repair)
  }

  constructor(
    private readonly context: AnswerContext,
    private readonly hooks: PassHooks,
  ) {
    this.id = context.id
    this.created = context.created
    this.noUsage = context.forOpenRouter ? undefined : null
  }

  /** The first edits: turns a whole message into a delta, unless it repeats earlier content. */
  moves(chunk: JsonObject): readonly JsonEdit[] {
    const parts = Array.isArray(chunk.choices) ? chunk.choices : []
    if (!parts.some(isWhole)) return NONE
    return parts.flatMap((part, place): JsonEdit[] => {
      if (!isWhole(part)) return []
      this.hooks.repaired('delta')
      const path = ['choices', place]
      const delta = this.choices.get(indexOf(part, place))?.hasContent ? {} : asWritten(part.message)
      return [
        { path: [...path, 'delta'], value: delta },
        { path: [...path, 'message'], value: undefined },
      ]
    })
  }

  /** Returns the edits of a chunk, always in the same array object. */
  repair(chunk: JsonObject): readonly JsonEdit[] {
    const { put, edits } = this
    edits.length = 0
    if (typeof chunk.id === 'string' && chunk.id !== '') this.id = chunk.id
    repairHead(put, chunk, CHUNK, this.id, this.context)
    if (typeof chunk.created === 'number' && chunk.created > 0) this.created = Math.floor(chunk.created)
    const parts = Array.isArray(chunk.choices) ? chunk.choices : undefined
    if (!parts) put(['choices'], [], 'choices')
    for (let place = 0; parts && place < parts.length; place++) {
      const part = parts[place]
      if (isJsonObject(part)) this.repairPart(part, place)
      else put(['choices', place], undefined, 'choices')
    }
    this.noteUsage(chunk, parts !== undefined && parts.length > 0)
    if (this.noUsage === undefined && chunk.system_fingerprint === null)
      edits.push({ path: ['system_fingerprint'], value: undefined })
    return edits
  }

  /** Chunks that clients expect before the end and that the provider omitted. */
  ending(): Frame[] {
    const { hooks } = this
    const frames: Frame[] = []
    for (const [index, choice] of this.choices) if (!choice.isFinished) frames.push(this.finishChunk(index, choice))
    if (!this.context.wantsUsage) return frames
    if (this.hasUsage && hooks.isUsageStated()) return frames
    hooks.repaired('usage')
    return [...frames, this.chunkFrame([], this.lastUsage())]
  }

  private choiceOf(index: number): Choice {
    const known = this.choices.get(index)
    if (known) return known
    const choice = new Choice()
    this.choices.set(index, choice)
    return choice
  }

  private repairPart(part: JsonObject, place: number): void {
    const { put } = this
    const index = indexOf(part, place)
    const choice = this.choiceOf(index)
    repairChoice(put, place === 0 ? FIRST_CHOICE : ['choices', place], part, index)
    const isLast = typeof part.finish_reason === 'string' && part.finish_reason !== ''
    choice.isFinished ||= isLast
    const path = place === 0 ? FIRST_DELTA : ['choices', place, 'delta']
    if (isJsonObject(part.delta)) this.repairDelta(path, part.delta, choice, isLast)
    else put(path, choice.hasRole ? {} : { role: 'assistant' }, 'delta')
    choice.hasRole = true
  }

  private repairDelta(path: JsonEdit['path'], delta: JsonObject, choice: Choice, isLast: boolean): void {
    const { put } = this
    const { role, tool_calls: fragments } = delta
    if (!choice.hasRole) {
      if (role !== 'assistant') put([...path, 'role'], 'assistant', 'role')
    } else if (role !== undefined && role !== null) put([...path, 'role'], undefined, 'role')
    repairContent(put, path, delta)
    repairAnnotations(put, path, delta.annotations)
    choice.lists.repair(put, path, delta)
    choice.hasContent ||= bringsContent(delta)
    choice.hasFunctionCall ||= isJsonObject(delta.function_call)
    if (Array.isArray(fragments)) {
      choice.calls ??= new CallRepair()
      choice.calls.repair(put, [...path, 'tool_calls'], fragments)
    } else if (fragments !== undefined && fragments !== null) put([...path, 'tool_calls'], undefined, 'tool_calls')
    if (isLast) this.addArguments(path, fragments, choice)
  }

  /** Adds arguments to calls without any, in the chunk with the choice's finish reason. */
  private addArguments(path: JsonEdit['path'], fragments: JsonValue | undefined, choice: Choice): void {
    const missing = choice.calls?.missingArguments(this.hooks) ?? []
    if (missing.length === 0) return
    const known = Array.isArray(fragments) ? fragments.length : undefined
    if (known === undefined) this.edits.push({ path: [...path, 'tool_calls'], value: missing })
    else
      for (const [index, fragment] of missing.entries())
        this.edits.push({ path: [...path, 'tool_calls', known + index], value: fragment })
  }

  private noteUsage(chunk: JsonObject, hasChoices: boolean): void {
    const { put } = this
    const { usage } = chunk
    if (usage === null && this.noUsage === undefined) this.edits.push({ path: ['usage'], value: undefined })
    if (usage === undefined || usage === null) return
    // Usage must be in a last chunk without choices: the official Java library treats any chunk with usage as the last.
    if (hasChoices && isJsonObject(usage)) {
      this.displaced = usage
      this.edits.push({ path: ['usage'], value: this.noUsage })
      return
    }
    const stated = decodeUsage(usage)
    // Counts never decrease, but some providers end with zeros.
    const charged = stated && this.hooks.charged()
    if (!stated || !charged) put(['usage'], this.noUsage, 'usage')
    else if (sizeOf(stated) < sizeOf(charged)) put(['usage'], encodeUsage(charged), 'usage')
    else repairSum(put, usage)
    this.hasUsage ||= stated !== undefined
  }

  /** The usage for the stream's last chunk: the provider's own object if its counts match the charged usage. */
  private lastUsage(): JsonObject {
    const { displaced } = this
    const charged = this.hooks.charged()
    const stated = displaced && decodeUsage(displaced)
    const isWhole = stated && sizeOf(stated) === sizeOf(charged) && displaced?.total_tokens === sizeOf(stated)
    return isWhole && displaced ? asWritten(displaced) : encodeUsage(charged)
  }

  private chunkFrame(choice: JsonObject[], usage?: JsonObject): Frame {
    const { id, created } = this
    const { model } = this.context
    return { data: JSON.stringify({ id, object: CHUNK, created, model, choices: choice, ...(usage && { usage }) }) }
  }

  private finishChunk(index: number, { calls, hasFunctionCall }: Choice): Frame {
    this.hooks.repaired('finish_reason')
    const missing = calls?.missingArguments(this.hooks) ?? []
    const reason = hasFunctionCall
      ? 'function_call'
      : encodeFinishReason({ kind: 'stop' }, { hasToolCalls: calls?.hasCalls() ?? false, hasRefusal: false })
    const delta = missing.length > 0 ? { tool_calls: missing } : {}
    return this.chunkFrame([{ index, delta, logprobs: null, finish_reason: reason }])
  }
}

function sizeOf(usage: Usage): number {
  return inputTokens(usage) + usage.output
}

const NONE: readonly JsonEdit[] = []

/** Whether a choice has a message instead of a delta. */
function isWhole(part: JsonValue): part is JsonObject & { message: JsonObject } {
  return isJsonObject(part) && !isJsonObject(part.delta) && isJsonObject(part.message)
}

function indexOf(part: JsonObject, place: number): number {
  const { index } = part
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : place
}

function bringsContent(delta: JsonObject): boolean {
  return Object.keys(delta).some((name) => name !== 'role' && !isEmpty(delta[name]))
}

function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}
