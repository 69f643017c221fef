/** Observes one answer on its way to the client: its usage, the delivered part, and its ending. */

import { TokenGuess } from '@/catalog/token-guess'
import type { ChatEvent } from '@/chat/event'
import type { ChatResponse, FinishKind, FinishReason } from '@/chat/response'
import type { ToolUses } from '@/chat/server-tools'
import type { UnitCount } from '@/chat/units'
import type { Usage } from '@/chat/usage'
import type { Nano } from '@/lib/money'
import type { AnswerListener } from '@/telemetry/tracing'
import { KeptText, type Said } from './kept-text'

export type MeterReading = {
  /** The latest usage that the provider reported; null before the first. */
  usage: Usage | null
  isUsageStale: boolean
  /** Input tokens by our own count, if there is one. */
  countedInput?: number
  /** Units (such as pictures or seconds) charged if the provider states no usage. */
  countedUnits?: readonly UnitCount[]
  /** Output tokens, estimated from the text relayed so far. */
  countedOutput: number
  /** Whether `countedOutput` is an exact count. */
  isCounted?: true
  /** Whether any content was produced. */
  hasOutput: boolean
  unknownUsage?: readonly string[]
  statedCost?: Nano
  serviceTier?: string
  /** Whether cache writes in `usage` were assigned to the requested lifetime, because the provider did not report theirs. */
  isReclassified?: true
  /** Uses of provider-run tools, as reported so far. */
  toolUses?: ToolUses
  /** Whether the provider certainly never got the request. */
  isUnreached?: true
  /** The finish reason of the first finished choice; undefined before that. */
  finish: FinishKind | undefined
  /** Pictures in the answer so far; missing if there are none. */
  pictures?: number
  /** The provider's finish reason, if our tables don't list it. */
  unlistedFinish?: string
}

/** An answer is stopped when our estimate of its tokens exceeds its limit by this factor, since the estimate can be far too high. */
const RUNAWAY_FACTOR = 8
const RUNAWAY_SLACK_TOKENS = 2_000
/** The next count follows when the answer has grown by about this share of the tokens left to its limit, and by at least this many. */
const RECOUNT_SHARE = 0.5
const MIN_RECOUNT_TOKENS = 50

export class Meter {
  private readonly runawayAt: number
  private readonly guess = new TokenGuess()
  private readonly kept = new KeptText()
  private usage: Usage | null = null
  private isUsageStale = false
  private unknownUsage: readonly string[] | undefined
  private statedCost: Nano | undefined
  private serviceTier: string | undefined
  private toolUses: ToolUses | undefined
  private unkeptTokens = 0
  private pictures = 0
  private suspectAt: number
  private sawReasoning = false
  private named = { id: '', model: '' }
  private finish: FinishReason | undefined
  private sawOutput = false
  private sawEnd = false
  private deliveredMs: number | null = null

  /** The answer's limit is `outputBound` tokens for all choices together; `listener`, if any, gets each event. */
  constructor(
    outputBound: number,
    private readonly listener?: AnswerListener,
  ) {
    this.runawayAt = outputBound * RUNAWAY_FACTOR + RUNAWAY_SLACK_TOKENS
    this.suspectAt = outputBound
  }

  observe(event: ChatEvent): void {
    this.listener?.observe(event)
    switch (event.type) {
      case 'text-delta':
      case 'refusal-delta':
      case 'reasoning-delta':
        this.count(event.block, event.text)
        return
      case 'start':
        this.named = { id: event.id, model: event.model }
        this.serviceTier = event.serviceTier
        return
      case 'reasoning-start':
        this.sawReasoning = true
        return
      case 'tool-call-start':
        this.count(event.block, event.name)
        return
      case 'tool-call-delta':
        this.count(event.block, event.argumentsText)
        return
      case 'image':
        this.countPicture()
        return
      case 'tool-uses':
        this.countUses(event.uses)
        return
      case 'usage':
        this.usage = event.usage
        this.unknownUsage = event.unknown ?? this.unknownUsage
        this.statedCost = event.cost ?? this.statedCost
        this.serviceTier = event.serviceTier ?? this.serviceTier
        this.isUsageStale = false
        return
      case 'finish':
        this.finish ??= event.finish
        return
      case 'end':
        this.sawEnd = true
        return
      default:
        return
    }
  }

  observeResponse(response: ChatResponse): void {
    this.listener?.observeResponse(response)
    this.named = { id: response.id, model: response.model }
    this.usage = response.usage
    this.unknownUsage = response.unknownUsage
    this.statedCost = response.statedCost
    this.serviceTier = response.serviceTier
    if (response.toolUses) this.countUses(response.toolUses)
    this.sawEnd = true
    let number = 0
    for (const choice of response.choices) {
      this.finish ??= choice.finish
      for (const block of choice.content) {
        if (block.type === 'tool-call') this.count(number++, block.name + block.argumentsText)
        else if ('text' in block) this.count(number++, block.text)
        else if (block.type === 'image') this.countPicture()
        else this.sawOutput = true
      }
    }
    this.isUsageStale = false
  }

  reading(): MeterReading {
    const { usage, isUsageStale, sawOutput: hasOutput } = this
    const reading: MeterReading = {
      usage,
      isUsageStale,
      countedOutput: Math.ceil(this.guess.tokens),
      hasOutput,
      finish: this.finish?.kind,
    }
    if (this.finish?.isUnlisted) reading.unlistedFinish = this.finish.raw ?? ''
    if (this.unknownUsage) reading.unknownUsage = this.unknownUsage
    if (this.statedCost !== undefined) reading.statedCost = this.statedCost
    if (this.serviceTier !== undefined) reading.serviceTier = this.serviceTier
    if (this.toolUses) reading.toolUses = this.toolUses
    if (this.pictures > 0) reading.pictures = this.pictures
    return reading
  }

  /** Records output that is no text, such as sound. Usage reported before it is not final. */
  noteOutput(): void {
    this.sawOutput = true
    this.isUsageStale = true
  }

  hasOutput(): boolean {
    return this.sawOutput
  }

  finishKind(): FinishKind | undefined {
    return this.finish?.kind
  }

  hasEnded(): boolean {
    return this.sawEnd
  }

  hasReasoned(): boolean {
    return this.sawReasoning || (this.usage?.reasoning ?? 0) > 0
  }

  /** The provider's ids of the answer and model; empty if unknown. */
  answeredAs(): { id: string; model: string } {
    return this.named
  }

  said(): Said {
    return { texts: this.kept.texts(), unkeptTokens: Math.ceil(this.unkeptTokens) }
  }

  textOf(block: number): string {
    return this.kept.textOf(block)
  }

  /** Whether the estimate exceeds the limit, so that the answer must be counted. */
  isSuspect(): boolean {
    return this.guess.tokens > this.suspectAt
  }

  /** Records a token count (undefined if it failed), and sets how far the answer may grow towards `limit` before the next count. */
  noteCount(counted: number | undefined, limit: number): void {
    const guessed = this.guess.tokens
    const room = counted === undefined ? guessed : (limit - counted) * (guessed / counted)
    this.suspectAt = guessed + Math.max(MIN_RECOUNT_TOKENS, room * RECOUNT_SHARE)
  }

  /** Whether the answer is so far above its limit that the provider will not stop by itself. */
  isRunaway(): boolean {
    return this.guess.tokens > this.runawayAt
  }

  /** Records the delivery of the first content, `milliseconds` after the request arrived. Only the first call counts. */
  noteDelivery(milliseconds: number): void {
    this.deliveredMs ??= milliseconds
  }

  firstTokenMs(): number | null {
    return this.deliveredMs
  }

  private count(block: number, text: string): void {
    if (text === '') return
    this.sawOutput = true
    this.isUsageStale = true
    const before = this.guess.tokens
    this.guess.add(text)
    if (!this.kept.add(block, text)) this.unkeptTokens += this.guess.tokens - before
  }

  private countPicture(): void {
    this.sawOutput = true
    this.pictures++
  }

  /** Records uses of tools. They must be paid even if no text follows. */
  private countUses(uses: ToolUses): void {
    this.toolUses = { ...this.toolUses, ...uses }
    if (Object.values(uses).some((count) => count > 0)) this.sawOutput = true
  }
}
