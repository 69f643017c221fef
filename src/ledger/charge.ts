/** The result of a request: how it ended and its charge. Gateway, ledger and metrics share these names. */
import type { FinishKind } from '@/chat/response'
import type { Usage } from '@/chat/usage'
import type { Nano } from '@/lib/money'
import type { BillingRule, RecordFlag, ToolCharge } from './usage-record'

/**
 * `complete`: the whole answer arrived. `cut`: we stopped it far beyond its output limit. `broken`: the upstream failed after its first
 * content. `disconnected`: the client disconnected during the answer. `unanswered`: the client disconnected before the upstream's first
 * byte. `refused`: no answer began.
 */
export const ENDINGS = ['complete', 'cut', 'broken', 'disconnected', 'unanswered', 'refused'] as const
export type Ending = (typeof ENDINGS)[number]

export type Charge =
  | { kind: 'free' }
  | {
      kind: 'charge'
      /** The cost of tokens and tools together. */
      cost: Nano
      usage: Usage
      rule: BillingRule
      flags: RecordFlag[]
      /** The part of the cost for tools that ran at the provider. */
      tools?: ToolCharge[]
    }

export const FREE: Charge = { kind: 'free' }

/** Free disconnects before the first byte per account and hour: for accidents, not for making providers read prompts for free. */
export const FREE_HANG_UPS_PER_HOUR = 10

/** How an answer ended; `finish` is undefined if no choice finished. */
export type AnswerEnd = { ending: Ending; finish: FinishKind | undefined; outputTokens: number }

/** A settled answer. Times are milliseconds since arrival. */
export type SettledAnswer = {
  requestId: string
  model: string
  charge: Charge
  firstTokenMs: number | null
  durationMs: number
}
