/** A model's complete answer, independent of formats. */

import type { JsonValue } from '@/lib/json'
import type { Nano } from '@/lib/money'
import type { ContentBlock } from './request'
import type { ToolUses } from './server-tools'
import type { Usage } from './usage'

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

/** `raw`: the provider's own value; `sequence`: the matched stop sequence. `isUnlisted`: `raw` is unknown and `kind` guessed. */
export type FinishReason = { kind: FinishKind; raw?: string; sequence?: string; isUnlisted?: true }

export type AnswerBlock = Extract<
  ContentBlock,
  { type: 'text' | 'refusal' | 'reasoning' | 'tool-call' | 'image' | 'audio' }
>

export type Choice = { index: number; content: AnswerBlock[]; finish: FinishReason; logprobs?: JsonValue }

export type ChatResponse = {
  /** The provider's id of the answer; empty if it sent none. */
  id: string
  /** Unix seconds; 0 if the provider sent none. */
  created: number
  /** The upstream's own name of the model; empty if it sent none. */
  model: string
  choices: Choice[]
  /** null if the provider reported none: the gateway then counts the tokens. */
  usage: Usage | null
  /** Token classes that the gateway has no price for. */
  unknownUsage?: readonly string[]
  /** The price stated by the provider. */
  statedCost?: Nano
  /** The service tier that the provider reports, named as in `service-tier.ts`. */
  serviceTier?: string
  /** Uses of provider-run tools, if the provider reports any. */
  toolUses?: ToolUses
}
