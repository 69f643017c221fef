/** How hard a generate-content request asks to think (`thinkingConfig`: a level or a budget), in the words of the hub. */
import { invalidRequest } from '@/chat/error'
import type { Effort, Reasoning } from '@/chat/request'
import type { WireThinkingConfig } from './wire'

/** Throws a GatewayError `invalid_request` for an unknown level, and for level and budget together. */
export function decodeReasoning(config: WireThinkingConfig | undefined): Reasoning | undefined {
  if (!config) return undefined
  const { includeThoughts, thinkingBudget, thinkingLevel } = config
  if (thinkingBudget !== undefined && thinkingLevel !== undefined) {
    throw invalidRequest(`${FIELD} must have thinkingBudget or thinkingLevel, not both`, FIELD)
  }
  const amount = thinkingLevel === undefined ? decodeBudget(thinkingBudget) : decodeLevel(thinkingLevel)
  return { ...amount, ...(includeThoughts !== undefined && { visible: includeThoughts }) }
}

const FIELD = 'generationConfig.thinkingConfig'

const EFFORT_OF_LEVEL: ReadonlyMap<string, Effort | undefined> = new Map([
  ['MINIMAL', 'minimal'],
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
  ['THINKING_LEVEL_UNSPECIFIED', undefined],
])

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
