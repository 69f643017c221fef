/** How hard to think, from the hub's effort or budget to the one word that chat-completions has for it. */
import { lost } from '@/chat/features'
import type { Effort, Reasoning, Warning } from '@/chat/request'
import { QUIRKS } from '@/formats/chat-completions/quirks'
import type { TargetTraits } from '@/formats/format'
import type { JsonObject } from '@/lib/json'

/** Upper bounds, in tokens, of the budgets that count as low and medium effort; the middle ground between 1k, 8k and 24k. */
const LOW_EFFORT_MAX_TOKENS = 4096
const MEDIUM_EFFORT_MAX_TOKENS = 16_384

/** `reasoning_effort`, from the hub's effort or budget. Reads the quirk `noReasoningEffort`. */
export function encodeReasoning(
  reasoning: Reasoning | undefined,
  traits: TargetTraits,
  warnings: Warning[],
): JsonObject {
  const effort = reasoning?.effort ?? effortOfBudget(reasoning?.budgetTokens)
  if (effort === undefined) return {}
  if (traits.quirks.has(QUIRKS.noReasoningEffort)) {
    warnings.push(lost('reasoning', 'this model takes no reasoning effort'))
    return {}
  }
  return { reasoning_effort: effort }
}

/** Undefined where the model is to decide. */
function effortOfBudget(budgetTokens: number | undefined): Effort | undefined {
  if (budgetTokens === undefined || budgetTokens < 0) return undefined
  if (budgetTokens === 0) return 'none'
  if (budgetTokens <= LOW_EFFORT_MAX_TOKENS) return 'low'
  return budgetTokens <= MEDIUM_EFFORT_MAX_TOKENS ? 'medium' : 'high'
}
