/** How hard to think, from the hub's effort or budget to the thinking configuration that a messages model takes. */
import { lost } from '@/chat/features'
import type { Reasoning, Warning } from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import { LIMITS } from '@/formats/messages/limits'
import { QUIRKS } from '@/formats/messages/quirks'
import { BUDGET_OF_EFFORT, effortFor } from '@/formats/messages/thinking-effort'
import type { JsonObject } from '@/lib/json'

const MIN_BUDGET = LIMITS.thinkingBudget.minimum
/** How much of the output limit an effort may take at most, so that room for the answer is left. */
const MAX_SHARE_OF_EFFORT = 0.8
const DEFAULT_EFFORT = 'medium'

type EncodedReasoning = { thinking?: JsonObject; effort?: string }

/** Why the API would refuse thinking of any kind, or thinking with a budget, beside the rest of the request. */
export type ThinkingObstacles = { any?: string; budget?: string }

/**
 * Reads the quirks `noThinking`, `adaptiveThinking` and `alwaysThinking`. Thinking is left out, with a warning, where the API refuses it: beside a forced tool call, in an answer that
 * continues the assistant's turn, in a tool loop that began without signed thinking, and under too small an output limit.
 */
export function encodeReasoning(
  reasoning: Reasoning | undefined,
  traits: TargetTraits,
  maxTokens: number,
  obstacles: ThinkingObstacles,
  warnings: Warning[],
): EncodedReasoning {
  if (!reasoning) return {}
  const isOff = reasoning.effort === 'none' || reasoning.budgetTokens === 0
  if (traits.quirks.has(QUIRKS.noThinking)) {
    if (!isOff) warnings.push(lost('reasoning', 'the model has no thinking'))
    return {}
  }
  if (isOff && traits.quirks.has(QUIRKS.alwaysThinking)) {
    warnings.push({ feature: 'reasoning', detail: 'the model always thinks: the least effort was asked for' })
    return { effort: 'low' }
  }
  if (isOff) return { thinking: { type: 'disabled' } }
  if (traits.quirks.has(QUIRKS.adaptiveThinking)) return encodeAdaptive(reasoning, obstacles.any, warnings)
  const budget = budgetFor(reasoning, maxTokens)
  const tooSmall = budget < MIN_BUDGET ? `the output limit leaves less than ${MIN_BUDGET} tokens` : undefined
  const obstacle = obstacles.any ?? obstacles.budget ?? tooSmall
  if (obstacle) {
    warnings.push(lost('reasoning', obstacle))
    return {}
  }
  return { thinking: { type: 'enabled', budget_tokens: budget } }
}

function encodeAdaptive(reasoning: Reasoning, obstacle: string | undefined, warnings: Warning[]): EncodedReasoning {
  const effort = effortFor(reasoning)
  if (obstacle) {
    warnings.push({ feature: 'reasoning', detail: obstacle })
    return { effort }
  }
  const display = reasoning.visible === undefined ? {} : { display: reasoning.visible ? 'summarized' : 'omitted' }
  return { thinking: { type: 'adaptive', ...display }, effort }
}

/** A budget the caller named is only kept below the output limit; one that stands for an effort leaves room besides. */
function budgetFor({ effort, budgetTokens }: Reasoning, maxTokens: number): number {
  if (budgetTokens !== undefined && budgetTokens > 0) return Math.min(Math.max(budgetTokens, MIN_BUDGET), maxTokens - 1)
  const named = !effort || effort === 'none' ? DEFAULT_EFFORT : effort
  return Math.min(BUDGET_OF_EFFORT[named], Math.floor(maxTokens * MAX_SHARE_OF_EFFORT))
}
