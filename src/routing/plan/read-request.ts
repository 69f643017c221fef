/**
 * Reads what a request is about, from a bounded part of it: enough to tell a question that any model answers from one that
 * needs a good one, cheap enough (some twenty microseconds) to be done for every request to a tier.
 */
import type { ChatRequest, Turn } from '@/chat/request'
import { sampleTexts } from '@/routing/difficulty/sample'
import { type Contribution, explainText, scoreText } from '@/routing/difficulty/score-text'
import { type Requirements, readRequirements } from './requirements'

export type RequestKind = 'chat' | 'code' | 'mathematics' | 'extraction' | 'tools'

/** Strengths go from 0 to 1. */
export type RequestFeatures = {
  /** Our estimate of the whole input. */
  inputTokens: number
  /** Characters of the last message that has text. */
  promptChars: number
  /** How many of them are what the instruction is to be done to. */
  materialChars: number
  /** How hard the text reads, before the logistic curve: 0 is as likely easy as hard. */
  text: number
  turns: number
  tools: number
  hasImages: boolean
  hasSchema: boolean
  /** -1 the caller asked for no thinking, 0 left it alone, 1 asked for much. */
  effort: number
  code: number
  mathematics: number
}

/** How far back the last message with text is looked for: behind it are only tool results. */
const MAX_TURNS_BACK = 24
/** As many reasons as one reads. */
const REASONS = 8

/** Reads the features of `request`. `requirements` saves the estimate where the caller has it already. */
export function readFeatures(
  request: ChatRequest,
  requirements: Pick<Requirements, 'capabilities' | 'inputTokens'> = readRequirements(request),
) {
  const { text, chars } = sampleTexts(instructionTexts(request.turns))
  const score = scoreText(text, chars)
  return {
    inputTokens: requirements.inputTokens,
    promptChars: chars,
    materialChars: score.materialChars,
    text: score.sum,
    turns: request.turns.length,
    tools: request.tools.length,
    hasImages: requirements.capabilities.has('images'),
    hasSchema: request.output.type !== 'text',
    effort: effortOf(request),
    code: score.code,
    mathematics: score.mathematics,
  } satisfies RequestFeatures
}

/** What in the text of `request` moved its score furthest. */
export function explainRequest(request: ChatRequest): Contribution[] {
  const { text, chars } = sampleTexts(instructionTexts(request.turns))
  return explainText(text, chars, REASONS)
}

/** The one word that describes the request best. */
export function kindOf(features: RequestFeatures): RequestKind {
  if (features.code >= 0.5) return 'code'
  if (features.mathematics >= 0.5) return 'mathematics'
  if (features.tools > 0) return 'tools'
  return features.hasSchema ? 'extraction' : 'chat'
}

function effortOf({ reasoning }: ChatRequest): number {
  if (!reasoning) return 0
  const { effort, budgetTokens } = reasoning
  if (effort === 'none' || effort === 'minimal' || budgetTokens === 0) return -1
  if (effort === 'high' || effort === 'xhigh' || effort === 'max') return 1
  return effort === 'medium' || (budgetTokens ?? 0) > 0 ? 0.5 : 0
}

/** The instruction is in the last message of the user that has text; what precedes it was answered already. */
function instructionTexts(turns: readonly Turn[]): string[] {
  const oldest = Math.max(0, turns.length - MAX_TURNS_BACK)
  for (let index = turns.length - 1; index >= oldest; index--) {
    const turn = turns[index]
    if (turn?.role !== 'user') continue
    const texts = textsOf(turn)
    if (texts.length > 0) return texts
  }
  return []
}

function textsOf(turn: Turn): string[] {
  const texts: string[] = []
  for (const block of turn.content) if (block.type === 'text' && block.text !== '') texts.push(block.text)
  return texts
}
