/** Watches one answer on its way to the client: what it used, how much of it was delivered, and whether it ended well. */

import { createTokenGuess } from '@/catalog/token-guess'
import type { ChatEvent } from '@/chat/event'
import type { ChatResponse, FinishKind } from '@/chat/response'
import type { ToolUses } from '@/chat/server-tools'
import type { Usage } from '@/chat/usage'
import { createKeptText, type Said } from './kept-text'
import { beyondLimit } from './output-limit'

/** What is known of an answer so far. */
export type MeterReading = {
  /** The provider's last word on usage; null while it has said nothing. */
  usage: Usage | null
  /** Whether content came after that word: then it was an early figure, not the final one. */
  isUsageStale: boolean
  /** Input tokens in our own count, where somebody made one. */
  countedInput?: number
  /** Output tokens guessed from the text relayed so far. */
  countedOutput: number
  /** Whether that is a count after all: somebody had it made. */
  isCounted?: true
  /** Whether any content was produced. */
  hasOutput: boolean
  /** What the provider counted beside, in classes that have no price here. */
  unknownUsage?: readonly string[]
  /** Whether `usage` has writes to a cache in the class that was asked for, which the provider did not tell. */
  isReclassified?: true
  /** How often tools ran at the provider, as far as it has said. */
  toolUses?: ToolUses
  /** Why the first choice that finished did; undefined while none has. */
  finish: FinishKind | undefined
}

export interface Meter {
  observe(event: ChatEvent): void
  observeResponse(response: ChatResponse): void
  reading(): MeterReading
  /** Whether any content was seen; the reading's own, without building one. */
  hasOutput(): boolean
  /** Whether the provider's own terminator was seen. */
  hasEnded(): boolean
  /** Whether the model was seen to reason, shown or not. */
  hasReasoned(): boolean
  /** What the provider calls the answer and its model; empty where it does not say. */
  answeredAs(): { id: string; model: string }
  /** All text so far, to be counted. */
  said(): Said
  /** What one block of a stream has said, as far as it is kept. */
  textOf(block: number): string
  /** Whether by our guess the answer is beyond its limit: then it is to be counted. */
  isSuspect(): boolean
  /** It was counted, or could not be: how much more may come before it is suspected again. */
  noteCount(counted: number | undefined): void
  /** Whether the provider has written so far beyond the limit it was given that it will not stop by itself. */
  isRunaway(): boolean
  /** The first content is on its way to the client, `milliseconds` after the request came. Only the first call counts. */
  noteDelivery(milliseconds: number): void
  /** When that was; null as long as nothing was delivered. */
  firstTokenMs(): number | null
}

/** Our guess of text can be too high by this factor. */
const RUNAWAY_FACTOR = 8
const RUNAWAY_SLACK_TOKENS = 2_000
/** An answer is counted again when it may have grown this far towards its limit, and at least by so many tokens. */
const RECOUNT_SHARE = 0.5
const MIN_RECOUNT_TOKENS = 50

/** Creates a meter for one answer, which was given a limit of `outputBound` tokens over all its choices. */
export function createMeter(outputBound: number): Meter {
  const runawayAt = outputBound * RUNAWAY_FACTOR + RUNAWAY_SLACK_TOKENS
  let usage: Usage | null = null
  let isUsageStale = false
  let unknownUsage: readonly string[] | undefined
  let toolUses: ToolUses | undefined
  const guess = createTokenGuess()
  const kept = createKeptText()
  let unkeptTokens = 0
  let suspectAt = outputBound
  let hasReasoned = false
  let answeredAs = { id: '', model: '' }
  let finish: FinishKind | undefined
  let hasOutput = false
  let hasEnded = false
  let firstTokenMs: number | null = null

  function count(block: number, text: string): void {
    if (text === '') return
    hasOutput = true
    isUsageStale = true
    const before = guess.tokens()
    guess.add(text)
    if (!kept.add(block, text)) unkeptTokens += guess.tokens() - before
  }

  /** A use is paid for whether anything was written after it or not. */
  function countUses(uses: ToolUses): void {
    toolUses = { ...toolUses, ...uses }
    if (Object.values(uses).some((count) => count > 0)) hasOutput = true
  }

  function observe(event: ChatEvent): void {
    switch (event.type) {
      case 'text-delta':
      case 'refusal-delta':
      case 'reasoning-delta':
        count(event.block, event.text)
        return
      case 'start':
        answeredAs = { id: event.id, model: event.model }
        return
      case 'reasoning-start':
        hasReasoned = true
        return
      case 'tool-call-start':
        count(event.block, event.name)
        return
      case 'tool-call-delta':
        count(event.block, event.argumentsText)
        return
      case 'image':
        hasOutput = true
        return
      case 'tool-uses':
        countUses(event.uses)
        return
      case 'usage':
        usage = event.usage
        unknownUsage = event.unknown ?? unknownUsage
        isUsageStale = false
        return
      case 'finish':
        finish ??= event.finish.kind
        return
      case 'end':
        hasEnded = true
        return
      default:
        return
    }
  }

  function observeResponse(response: ChatResponse): void {
    answeredAs = { id: response.id, model: response.model }
    usage = response.usage
    unknownUsage = response.unknownUsage
    if (response.toolUses) countUses(response.toolUses)
    hasEnded = true
    let number = 0
    for (const choice of response.choices) {
      finish ??= choice.finish.kind
      for (const block of choice.content) {
        if (block.type === 'tool-call') count(number++, block.name + block.argumentsText)
        else if ('text' in block) count(number++, block.text)
        else hasOutput = true
      }
    }
    isUsageStale = false
  }

  return {
    observe,
    observeResponse,
    reading: () => ({
      usage,
      isUsageStale,
      ...(unknownUsage && { unknownUsage }),
      ...(toolUses && { toolUses }),
      countedOutput: Math.ceil(guess.tokens()),
      hasOutput,
      finish,
    }),
    hasOutput: () => hasOutput,
    hasEnded: () => hasEnded,
    hasReasoned: () => hasReasoned || (usage?.reasoning ?? 0) > 0,
    answeredAs: () => answeredAs,
    said: () => ({ texts: kept.texts(), unkeptTokens: Math.ceil(unkeptTokens) }),
    textOf: kept.textOf,
    isSuspect: () => guess.tokens() > suspectAt,
    noteCount(counted) {
      const guessed = guess.tokens()
      const room = counted === undefined ? guessed : (beyondLimit(outputBound) - counted) * (guessed / counted)
      suspectAt = guessed + Math.max(MIN_RECOUNT_TOKENS, room * RECOUNT_SHARE)
    },
    isRunaway: () => guess.tokens() > runawayAt,
    noteDelivery(milliseconds) {
      firstTokenMs ??= milliseconds
    },
    firstTokenMs: () => firstTokenMs,
  }
}
