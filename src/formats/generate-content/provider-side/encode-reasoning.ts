/**
 * How hard to think, from the hub's effort or budget to the level or the budget that a generate-content model takes.
 */

import { lost } from '@/chat/features'
import type { Effort, Reasoning, Warning } from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import { QUIRKS } from '@/formats/generate-content/quirks'
import type { JsonObject } from '@/lib/json'

/** thinkingConfig for a provider, or undefined where there is nothing to say. Reads the quirks `thinkingBudget` and `noThinking`. */
export function encodeReasoning(
  reasoning: Reasoning | undefined,
  traits: TargetTraits,
  warnings: Warning[],
): JsonObject | undefined {
  if (!reasoning) return undefined
  if (traits.quirks.has(QUIRKS.noThinking)) {
    warnings.push(lost('reasoning', 'this model does not think'))
    return undefined
  }
  const config = {
    ...(traits.quirks.has(QUIRKS.thinkingBudget)
      ? encodeBudget(reasoning, warnings)
      : encodeLevel(reasoning, warnings)),
    ...(reasoning.visible && { includeThoughts: true }),
  }
  return Object.keys(config).length > 0 ? config : undefined
}

/** Google's own table for the budget of an effort is low 1K, medium 8K, high 24K; minimal is the least every model takes. */
const BUDGET_OF_EFFORT: Record<Effort, number> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
}
/** The most that every model with budgets takes. */
const MAX_BUDGET = BUDGET_OF_EFFORT.max

const LEVEL_OF_EFFORT: Record<Effort, string> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

function encodeBudget({ effort, budgetTokens }: Reasoning, warnings: Warning[]): JsonObject {
  const wanted = effort === 'none' ? 0 : (budgetTokens ?? (effort && BUDGET_OF_EFFORT[effort]))
  if (wanted === undefined) return {}
  if (wanted > MAX_BUDGET) warnings.push({ feature: 'reasoning.budgetTokens', detail: `lowered to ${MAX_BUDGET}` })
  return { thinkingBudget: Math.min(wanted, MAX_BUDGET) }
}

function encodeLevel({ effort, budgetTokens }: Reasoning, warnings: Warning[]): JsonObject {
  const wanted = effort ?? effortOfBudget(budgetTokens)
  if (wanted === undefined) return {}
  if (wanted === 'none')
    warnings.push({ feature: 'reasoning.effort', detail: 'this model cannot stop thinking; set to MINIMAL' })
  return { thinkingLevel: LEVEL_OF_EFFORT[wanted] }
}

/** The effort whose budget is nearest; undefined for a dynamic budget, which is what a model does unasked. */
function effortOfBudget(budget: number | undefined): Effort | undefined {
  if (budget === undefined || budget < 0) return undefined
  if (budget === 0) return 'none'
  if (budget <= BUDGET_OF_EFFORT.minimal) return 'minimal'
  if (budget <= 4 * BUDGET_OF_EFFORT.low) return 'low'
  return budget <= 2 * BUDGET_OF_EFFORT.medium ? 'medium' : 'high'
}
