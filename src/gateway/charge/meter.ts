/** Watches one answer on its way to the client: what it used, how much of it was delivered, and whether it ended well. */

import { estimateTextTokens } from '@/catalog/estimate'
import type { ChatEvent } from '@/chat/event'
import type { ChatResponse, FinishKind } from '@/chat/response'
import type { Usage } from '@/chat/usage'

/** What is known of an answer so far. */
export type MeterReading = {
  /** The provider's last word on usage; null while it has said nothing. */
  usage: Usage | null
  /** Whether content came after that word: then it was an early figure, not the final one. */
  isUsageStale: boolean
  /** Output tokens counted locally from the text relayed so far. */
  countedOutput: number
  /** Whether any content was produced. */
  hasOutput: boolean
  /** What the provider counted beside, in classes that have no price here. */
  unknownUsage?: readonly string[]
  /** Whether `usage` has writes to a cache in the class that was asked for, which the provider did not tell. */
  isReclassified?: true
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
  /** Whether the provider has written so far beyond the limit it was given that it will not stop by itself. */
  isRunaway(): boolean
  /** The first content is on its way to the client, `milliseconds` after the request came. Only the first call counts. */
  noteDelivery(milliseconds: number): void
  /** When that was; null as long as nothing was delivered. */
  firstTokenMs(): number | null
}

/** Our count of text can be too high by this factor, as for long runs of blanks. */
const RUNAWAY_FACTOR = 8
const RUNAWAY_SLACK_TOKENS = 2_000

/** Creates a meter for one answer, which was given a limit of `outputBound` tokens over all its choices. */
export function createMeter(outputBound: number): Meter {
  const runawayAt = outputBound * RUNAWAY_FACTOR + RUNAWAY_SLACK_TOKENS
  let usage: Usage | null = null
  let isUsageStale = false
  let unknownUsage: readonly string[] | undefined
  let outputTokens = 0
  let finish: FinishKind | undefined
  let hasOutput = false
  let hasEnded = false
  let firstTokenMs: number | null = null

  function count(text: string): void {
    if (text === '') return
    hasOutput = true
    isUsageStale = true
    outputTokens += estimateTextTokens(text)
  }

  function observe(event: ChatEvent): void {
    switch (event.type) {
      case 'text-delta':
      case 'refusal-delta':
      case 'reasoning-delta':
        count(event.text)
        return
      case 'tool-call-start':
        count(event.name)
        return
      case 'tool-call-delta':
        count(event.argumentsText)
        return
      case 'image':
        hasOutput = true
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
    usage = response.usage
    unknownUsage = response.unknownUsage
    hasEnded = true
    for (const choice of response.choices) {
      finish ??= choice.finish.kind
      for (const block of choice.content) {
        if (block.type === 'tool-call') count(block.name + block.argumentsText)
        else if ('text' in block) count(block.text)
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
      countedOutput: Math.ceil(outputTokens),
      hasOutput,
      finish,
    }),
    hasOutput: () => hasOutput,
    hasEnded: () => hasEnded,
    isRunaway: () => outputTokens > runawayAt,
    noteDelivery(milliseconds) {
      firstTokenMs ??= milliseconds
    },
    firstTokenMs: () => firstTokenMs,
  }
}
