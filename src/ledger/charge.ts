/** The result of a request: how it ended and its charge. Gateway, ledger and metrics share these words. */
import type { FinishKind } from '@/chat/response'
import type { Usage } from '@/chat/usage'
import type { Nano } from '@/lib/money'
import type { BillingRule, RecordFlag, ToolCharge } from './usage-record'

/**
 * `complete`: the whole answer arrived. `cut`: we stopped it far beyond its output limit. `broken`: the upstream failed or was
 * cut off after its first content. `disconnected`: the client left during the answer. `unanswered`: the client left before the
 * first byte of the upstream. `refused`: no answer began.
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
      /** The part of the cost for tools that ran at the provider. */
      tools?: ToolCharge[]
    }

export const FREE: Charge = { kind: 'free' }

/**
 * Free hang-ups of one account per hour, by the store's clock: a client that leaves before the first byte pays nothing. Enough
 * for people who change their minds; too few to have providers read prompts for nothing.
 */
export const FREE_HANG_UPS_PER_HOUR = 10

/** How an answer ended, as far as it tells one model from another; `finish` is undefined if no choice had finished. */
export type AnswerEnd = { ending: Ending; finish: FinishKind | undefined; outputTokens: number }

/** The facts about a settled answer. Times are milliseconds since arrival. */
export type SettledAnswer = {
  requestId: string
  model: string
  charge: Charge
  firstTokenMs: number | null
  durationMs: number
}
