/** How hard to think: thinkingConfig, which has a level or a budget, between this format and the hub. */
import { invalidRequest } from '@/chat/error'
import type { Effort, Reasoning, Warning } from '@/chat/request'
import type { JsonObject } from '@/lib/json'
import type { WireThinkingConfig } from './wire'

/** The quirk of a model that takes thinkingBudget and not thinkingLevel. */
const THINKING_BUDGET_QUIRK = 'thinking-budget'
/** The quirk of a model that does not think and refuses thinkingConfig. */
export const NO_THINKING_QUIRK = 'no-thinking'

/** Throws a GatewayError `invalid_request` for an unknown level, and for level and budget together. */
export function decodeThinkingConfig(config: WireThinkingConfig | undefined): Reasoning | undefined {
  if (!config) return undefined
  const { includeThoughts, thinkingBudget, thinkingLevel } = config
  if (thinkingBudget !== undefined && thinkingLevel !== undefined) {
    throw invalidRequest(`${FIELD} must have thinkingBudget or thinkingLevel, not both`, FIELD)
  }
  const amount = thinkingLevel === undefined ? decodeBudget(thinkingBudget) : decodeLevel(thinkingLevel)
  return { ...amount, ...(includeThoughts !== undefined && { visible: includeThoughts }) }
}

/**
 * thinkingConfig for a provider, or undefined where there is nothing to say. Reads the quirks {@link THINKING_BUDGET_QUIRK}
 * and {@link NO_THINKING_QUIRK}.
 */
export function encodeThinkingConfig(
  reasoning: Reasoning | undefined,
  quirks: ReadonlySet<string>,
  warnings: Warning[],
): JsonObject | undefined {
  if (!reasoning) return undefined
  if (quirks.has(NO_THINKING_QUIRK)) {
    warnings.push({ feature: 'reasoning', detail: 'this model does not think' })
    return undefined
  }
  const config = {
    ...(quirks.has(THINKING_BUDGET_QUIRK) ? encodeBudget(reasoning, warnings) : encodeLevel(reasoning, warnings)),
    ...(reasoning.visible && { includeThoughts: true }),
  }
  return Object.keys(config).length > 0 ? config : undefined
}

const FIELD = 'generationConfig.thinkingConfig'

const EFFORT_OF_LEVEL: ReadonlyMap<string, Effort | undefined> = new Map([
  ['MINIMAL', 'minimal'],
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
  ['THINKING_LEVEL_UNSPECIFIED', undefined],
])

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

function decodeBudget(budget: number | undefined): Reasoning {
  if (budget === undefined) return {}
  return budget === 0 ? { effort: 'none' } : { budgetTokens: budget }
}

/** Libraries send the level in upper and in lower case. */
function decodeLevel(level: string): Reasoning {
  const word = level.toUpperCase()
  if (!EFFORT_OF_LEVEL.has(word)) {
    const field = `${FIELD}.thinkingLevel`
    throw invalidRequest(`${field} must be one of MINIMAL, LOW, MEDIUM, HIGH`, field)
  }
  const effort = EFFORT_OF_LEVEL.get(word)
  return effort === undefined ? {} : { effort }
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
