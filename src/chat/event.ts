/**
 * A streamed answer as events, independent of formats. `block` numbers the blocks of all choices in the order of their start, from 0,
 * without gaps. Blocks may interleave (chat-completions providers interleave tool calls). Encoders must buffer if their format doesn't
 * allow that. Every started block is ended before `end`. `finish` comes once per choice, after its blocks. `usage` is cumulative: the last
 * one is valid. `end` means that the provider's terminator was received; a stream without it was truncated.
 */
import type { Nano } from '@/lib/money'
import type { ProviderError } from './provider-error'
import type { Signature } from './request'
import type { FinishReason } from './response'
import type { ToolUses } from './server-tools'
import type { Source } from './sources'
import type { Usage } from './usage'

export type ChatEvent =
  | { type: 'start'; id: string; model: string; created: number; serviceTier?: string }
  | { type: 'text-start'; choice: number; block: number }
  | { type: 'text-delta'; choice: number; block: number; text: string }
  | { type: 'text-end'; choice: number; block: number; signature?: Signature; sources?: readonly Source[] }
  | { type: 'refusal-start'; choice: number; block: number }
  | { type: 'refusal-delta'; choice: number; block: number; text: string }
  | { type: 'refusal-end'; choice: number; block: number }
  | { type: 'reasoning-start'; choice: number; block: number; redacted?: Signature }
  | { type: 'reasoning-delta'; choice: number; block: number; text: string }
  | { type: 'reasoning-end'; choice: number; block: number; signature?: Signature }
  | { type: 'tool-call-start'; choice: number; block: number; id: string; name: string }
  | { type: 'tool-call-delta'; choice: number; block: number; argumentsText: string }
  | { type: 'tool-call-end'; choice: number; block: number; signature?: Signature }
  | { type: 'image'; choice: number; block: number; mediaType: string; data: string }
  | { type: 'finish'; choice: number; finish: FinishReason }
  /** Uses of provider-run tools, for all kinds that the provider reports; the latest count of each is valid. */
  | { type: 'tool-uses'; uses: ToolUses }
  /** `unknown`: token classes without a price. `cost`: stated by the provider. `serviceTier`: the tier used, as in `service-tier.ts`. */
  | { type: 'usage'; usage: Usage; unknown?: readonly string[]; cost?: Nano; serviceTier?: string }
  /** An error of the provider inside a stream that began with status 200. */
  | { type: 'error'; error: ProviderError }
  | { type: 'end' }
