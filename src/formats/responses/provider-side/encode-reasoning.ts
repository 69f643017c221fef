/** How hard to think, and whether to show it, from the hub to `reasoning` of a responses request. */
import { lost } from '@/chat/features'
import type { Effort, Reasoning, Warning } from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import { QUIRKS } from '@/formats/responses/quirks'
import type { JsonObject } from '@/lib/json'

/** Upper bounds, in tokens, of the budgets that count as low and medium effort; the middle ground between 1k, 8k and 24k. */
const LOW_EFFORT_MAX_TOKENS = 4096
const MEDIUM_EFFORT_MAX_TOKENS = 16_384

/** `reasoning`, with the effort or what the budget stands for. Reads the quirk `noReasoning`. */
export function encodeReasoning(
  reasoning: Reasoning | undefined,
  traits: TargetTraits,
  warnings: Warning[],
): { reasoning?: JsonObject } {
  const effort = reasoning?.effort ?? effortOfBudget(reasoning?.budgetTokens)
  const isShown = reasoning?.visible === true && effort !== 'none'
  if (effort === undefined && !isShown) return {}
  if (traits.quirks.has(QUIRKS.noReasoning)) {
    if (effort !== 'none') warnings.push(lost('reasoning', 'this model does not think'))
    return {}
  }
  return { reasoning: { ...(effort !== undefined && { effort }), ...(isShown && { summary: 'auto' }) } }
}

/** Undefined where the model is to decide. */
function effortOfBudget(budgetTokens: number | undefined): Effort | undefined {
  if (budgetTokens === undefined || budgetTokens < 0) return undefined
  if (budgetTokens === 0) return 'none'
  if (budgetTokens <= LOW_EFFORT_MAX_TOKENS) return 'low'
  return budgetTokens <= MEDIUM_EFFORT_MAX_TOKENS ? 'medium' : 'high'
}
