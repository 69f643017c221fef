import type { ChatEvent } from '@/chat/event'
import type { ProviderError } from '@/chat/provider-error'
import type { Usage } from '@/chat/usage'
import type { RunningFields, StreamDecoder } from '@/formats/format'
import { decodeBlockReason } from '@/formats/generate-content/finish-reason'
import { LIMITS } from '@/formats/generate-content/limits'
import { createUseCounter } from '@/formats/generate-content/server-tools'
import { decodeUsage, findUnknownUsage, tierOfUsage } from '@/formats/generate-content/usage'
import { providerError, UNSTATED_STATUS } from '@/formats/provider-error'
import { randomBase62 } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import type { SseEvent } from '@/lib/streams/sse'
import { decodeError } from './decode-error'
import { BlockReader } from './decode-stream-blocks'

const RUNNING: RunningFields = {
  padding: [],
  usageField: 'usageMetadata',
  counts: ['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'totalTokenCount'],
}

/** Decodes a generate-content stream of complete responses. A finishReason or refused prompt ends it. `mintCallId` adds missing ids. */
export function createStreamDecoder(mintCallId: () => string = randomCallId): StreamDecoder {
  return new ContentDecoder(mintCallId)
}

class ContentDecoder implements StreamDecoder {
  readonly running = RUNNING
  private readonly candidates = new Map<number, BlockReader>()
  private blocks = 0
  private hasStarted = false
  private hasFailed = false
  private unsaid: Usage | undefined
  private readonly counter = createUseCounter()

  constructor(private readonly mintCallId: () => string) {}

  private candidateAt(index: number): BlockReader {
    let found = this.candidates.get(index)
    if (!found) {
      found = new BlockReader(index, { nextBlock: () => this.blocks++, mintCallId: this.mintCallId })
      this.candidates.set(index, found)
    }
    return found
  }

  private fail(error: ProviderError): ChatEvent[] {
    this.hasFailed = true
    return [{ type: 'error', error }]
  }

  private failUnread(kind: string, message: string): ChatEvent[] {
    return this.fail(providerError({ status: UNSTATED_STATUS, kind, message }))
  }

  private start(chunk: JsonObject): ChatEvent[] {
    if (this.hasStarted) return []
    this.hasStarted = true
    const { responseId, modelVersion, createTime } = chunk
    return [
      {
        type: 'start',
        id: textOf(responseId) ?? '',
        model: textOf(modelVersion) ?? '',
        created: secondsOf(createTime),
      },
    ]
  }

  private pushCandidates(list: readonly JsonValue[]): ChatEvent[] {
    return list.flatMap((candidate, position) => {
      if (!isJsonObject(candidate)) return []
      const uses = this.counter.read(candidate)
      const events = this.candidateAt(indexOf(candidate.index, position)).push(candidate)
      return uses ? [...events, { type: 'tool-uses', uses }] : events
    })
  }

  private pushBlocked(feedback: JsonValue | undefined): ChatEvent[] {
    const reason = isJsonObject(feedback) ? feedback.blockReason : undefined
    if (typeof reason !== 'string' || reason === '') return []
    this.candidateAt(0).refuse(decodeBlockReason(reason))
    return []
  }

  /** Emits usage without output tokens only at the finish: for an interrupted stream, our own estimate is more accurate. */
  pushUsage(metadata: JsonValue | undefined): ChatEvent[] {
    const usage = decodeUsage(metadata) ?? this.unsaid
    this.unsaid = undefined
    if (!usage) return []
    if (usage.output > 0 || this.isFinished()) {
      const unknown = findUnknownUsage(metadata)
      const serviceTier = tierOfUsage(metadata)
      const said = { ...(unknown && { unknown }), ...(serviceTier !== undefined && { serviceTier }) }
      return [{ type: 'usage', usage, ...said }]
    }
    this.unsaid = usage
    return []
  }

  isFinished(): boolean {
    return this.candidates.size > 0 && this.candidates.values().every((candidate) => candidate.isFinished)
  }

  private pushChunk(chunk: JsonValue): ChatEvent[] {
    if (!isJsonObject(chunk)) return []
    if (isJsonObject(chunk.error)) return this.fail(decodeError(undefined, chunk))
    if (!ANSWER_KEYS.some((key) => chunk[key] !== undefined)) return []
    return [
      ...this.start(chunk),
      ...(Array.isArray(chunk.candidates) ? this.pushCandidates(chunk.candidates) : []),
      ...this.pushBlocked(chunk.promptFeedback),
      ...this.pushUsage(chunk.usageMetadata),
    ]
  }

  push({ data }: SseEvent, json: JsonValue | undefined): ChatEvent[] {
    if (data === undefined || data.trim() === '' || data.trim() === FOREIGN_TERMINATOR) return []
    if (json === undefined) return this.failUnread('MALFORMED_EVENT', 'an event is not JSON')
    // An error may come in a list with one item. Several chunks in an event are invalid, since clients can't parse them.
    if (Array.isArray(json) && json.length > 1)
      return this.failUnread('MALFORMED_EVENT', 'an event holds several chunks')
    if (data.includes('"functionCall"')) rememberNumbers(json, data)
    return Array.isArray(json) ? json.flatMap((chunk) => this.pushChunk(chunk)) : this.pushChunk(json)
  }

  end(): ChatEvent[] {
    const closed = this.candidates
      .values()
      .toArray()
      .flatMap((candidate) => candidate.end())
    return this.isFinished() && !this.hasFailed ? [...closed, { type: 'end' }] : closed
  }
}

const ANSWER_KEYS = ['candidates', 'promptFeedback', 'usageMetadata', 'responseId', 'modelVersion']
/** A terminator that this format lacks, but some proxies send. */
const FOREIGN_TERMINATOR = '[DONE]'

function randomCallId(): string {
  return `call_${randomBase62(22)}`
}

/** Invalid indexes are replaced by the position in the list, which clients use too. */
function indexOf(index: JsonValue | undefined, position: number): number {
  const isIndex =
    typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < LIMITS.candidates.maximum
  return isIndex ? index : Math.min(position, LIMITS.candidates.maximum - 1)
}

function secondsOf(createTime: JsonValue | undefined): number {
  const milliseconds = typeof createTime === 'string' ? Date.parse(createTime) : Number.NaN
  return Number.isFinite(milliseconds) ? Math.max(0, Math.floor(milliseconds / 1000)) : 0
}
