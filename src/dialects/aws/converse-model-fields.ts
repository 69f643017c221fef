/** What Converse has no word for, and each vendor's models at Bedrock have: how far to sample, and how much to think. */
import { isJsonObject, type JsonObject } from '@/lib/json'

/** By budget, as messages has it, where the model wants a word. */
const LOW_BUDGET = 4096
const MEDIUM_BUDGET = 16_384
/** The words for an effort that all such models know; a greater one is the greatest of them. */
const EFFORTS: ReadonlySet<unknown> = new Set(['low', 'medium', 'high'])

/** The fields of the model's own vendor, by its name in the model's. What it has no field for is added to `leftOut`. */
export function modelFields(body: JsonObject, betas: readonly string[], leftOut: string[]): JsonObject {
  const model = String(body.model)
  const { top_k: topK, thinking, output_config: config } = body
  const effort = isJsonObject(config) ? config.effort : undefined
  const isThinking = isJsonObject(thinking) && thinking.type !== 'disabled'
  if (/anthropic|claude/.test(model)) {
    return {
      ...(topK !== undefined && { top_k: topK }),
      ...(thinking !== undefined && { thinking }),
      ...(effort !== undefined && { output_config: { effort } }),
      ...(betas.length > 0 && { anthropic_beta: [...betas] }),
    }
  }
  if (topK !== undefined) leftOut.push('top_k')
  const word = isThinking || effort !== undefined ? effortOf(thinking, effort) : undefined
  if (word === undefined) return {}
  if (/amazon\.nova-2/.test(model)) return { reasoningConfig: { type: 'enabled', maxReasoningEffort: word } }
  if (/openai\.|deepseek\.v3/.test(model)) return { reasoning_effort: word }
  leftOut.push(isThinking ? 'thinking' : 'output_config.effort')
  return {}
}

function effortOf(thinking: unknown, effort: unknown): string {
  if (EFFORTS.has(effort)) return String(effort)
  if (effort !== undefined) return 'high'
  const budget = isJsonObject(thinking as JsonObject) ? (thinking as JsonObject).budget_tokens : undefined
  if (typeof budget !== 'number') return 'medium'
  if (budget < LOW_BUDGET) return 'low'
  return budget < MEDIUM_BUDGET ? 'medium' : 'high'
}
