/** How hard a messages request asks to think: `thinking` and `output_config.effort` in the words of the hub. */
import { EFFORTS, type Reasoning } from '@/chat/request'
import type { WireCountRequest } from './wire'

/** The effort, or the budget in tokens, and whether the caller wants to read the thinking. */
export function decodeReasoning({ thinking, output_config }: WireCountRequest): Reasoning | undefined {
  const effort = EFFORTS.find((known) => known !== 'none' && known === output_config?.effort)
  if (!thinking) return effort && { effort }
  switch (thinking.type) {
    case 'disabled':
      return { effort: 'none' }
    case 'between_tools':
      return { ...(effort ? { effort } : { budgetTokens: -1 }), visible: true }
    case 'adaptive':
      return { ...(effort ? { effort } : { budgetTokens: -1 }), visible: thinking.display !== 'omitted' }
    case 'enabled':
      return { budgetTokens: thinking.budget_tokens, effort, visible: thinking.display !== 'omitted' }
  }
}
