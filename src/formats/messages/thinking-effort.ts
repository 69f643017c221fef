/** Converts efforts and thinking budgets of messages, for models that accept only one of them. */
import type { Effort, Reasoning } from '@/chat/request'

export const BUDGET_OF_EFFORT: Record<Exclude<Effort, 'none'>, number> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 65_536,
}

/** The effort to send, from the caller's effort or budget; undefined if the model decides. The format's lowest effort is `low`. */
export function effortFor({ effort, budgetTokens }: Reasoning): string | undefined {
  if (effort) return effort === 'minimal' ? 'low' : effort
  if (budgetTokens === undefined || budgetTokens < 0) return undefined
  if (budgetTokens <= BUDGET_OF_EFFORT.low) return 'low'
  if (budgetTokens <= BUDGET_OF_EFFORT.medium) return 'medium'
  return budgetTokens <= BUDGET_OF_EFFORT.high ? 'high' : 'max'
}
