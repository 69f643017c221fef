/**
 * A streamed answer as events, in no format's own words.
 *
 * `block` numbers the blocks of a stream in order of their start, contiguous from 0 over all choices. Blocks of one stream
 * may interleave (chat-completions providers interleave tool calls); an encoder whose format forbids that buffers. Every
 * started block is ended before `end`. `finish` comes once per choice, after its blocks. `usage` is cumulative: the last
 * one wins. `end` means that the provider's own terminator was seen; a stream that stops without it was truncated.
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
  /** Uses of tools that run at the provider, of all kinds that it tells; of each the latest count wins. */
  | { type: 'tool-uses'; uses: ToolUses }
  /**
   * `unknown`: tokens in classes that have no price here. `cost`: the provider's own statement of its price. `serviceTier`: the
   * tier that it served, by its name in `service-tier.ts`.
   */
  | { type: 'usage'; usage: Usage; unknown?: readonly string[]; cost?: Nano; serviceTier?: string }
  /** A provider's error inside a stream that had begun with 200. */
  | { type: 'error'; error: ProviderError }
  | { type: 'end' }
