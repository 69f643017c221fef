/** What a request came to: how it ended and what is charged for it. The words that gateway, ledger and metrics share. */
import type { FinishKind } from '@/chat/response'
import type { Usage } from '@/chat/usage'
import type { Nano } from '@/lib/money'
import type { BillingRule, RecordFlag, ToolCharge } from './usage-record'

/**
 * `complete` the whole answer reached us; `cut` we stopped it, beyond its output limit; `broken` the upstream failed, truncated
 * or was cut off after it had begun; `disconnected` the client went away first; `unanswered` it did before the upstream had
 * sent anything; `refused` no answer began.
 */
export const ENDINGS = ['complete', 'cut', 'broken', 'disconnected', 'unanswered', 'refused'] as const
export type Ending = (typeof ENDINGS)[number]

export type Charge =
  | { kind: 'free' }
  | {
      kind: 'charge'
      /** Tokens and tools together. */
      cost: Nano
      usage: Usage
      rule: BillingRule
      flags: RecordFlag[]
      /** What of the cost is for tools that ran at the provider. */
      tools?: ToolCharge[]
    }

export const FREE: Charge = { kind: 'free' }

/**
 * Clients of one account that leave before the first byte of an answer, within one hour by the store's clock, and pay nothing: enough
 * for people who change their minds, too few to have providers read prompts for nothing.
 */
export const FREE_HANG_UPS_PER_HOUR = 10

/** How an answer ended, as far as it tells one model from another; `finish` is undefined where no choice had finished. */
export type AnswerEnd = { ending: Ending; finish: FinishKind | undefined; outputTokens: number }

/** What is known of an answer once it is settled. Times are milliseconds since arrival. */
export type SettledAnswer = {
  requestId: string
  model: string
  charge: Charge
  firstTokenMs: number | null
  durationMs: number
}
