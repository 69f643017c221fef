/** A complete answer of a model, in no format's own words. */

import type { JsonValue } from '@/lib/json'
import type { Nano } from '@/lib/money'
import type { ContentBlock } from './request'
import type { ToolUses } from './server-tools'
import type { Usage } from './usage'

/** Why the model stopped, in one word for all providers. */
export type FinishKind =
  | 'stop'
  | 'stop-sequence'
  | 'length'
  | 'context-length'
  | 'tool-calls'
  | 'content-filter'
  | 'pause'
  | 'error'
  | 'unknown'

/**
 * `raw` is the provider's own word; `sequence` the stop sequence that matched, where the provider says. `isUnlisted`: no table knows
 * the word, and its kind is a guess by its name.
 */
export type FinishReason = { kind: FinishKind; raw?: string; sequence?: string; isUnlisted?: true }

/** The blocks an answer may hold. */
export type AnswerBlock = Extract<
  ContentBlock,
  { type: 'text' | 'refusal' | 'reasoning' | 'tool-call' | 'image' | 'audio' }
>

export type Choice = { index: number; content: AnswerBlock[]; finish: FinishReason; logprobs?: JsonValue }

export type ChatResponse = {
  /** The provider's id of the answer; empty if it gave none. */
  id: string
  /** Unix seconds; 0 if the provider gave none. */
  created: number
  /** The upstream's own name of the model; empty if it gave none. */
  model: string
  choices: Choice[]
  /** null if the provider reported none: the answer is then metered by count. */
  usage: Usage | null
  /** Tokens in classes that have no price here. */
  unknownUsage?: readonly string[]
  /** The provider's own statement of its price. */
  statedCost?: Nano
  /** The service tier that the provider says it served, by its name in `service-tier.ts`. */
  serviceTier?: string
  /** Uses of tools that ran at the provider, where it says any. */
  toolUses?: ToolUses
}
