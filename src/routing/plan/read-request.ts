/**
 * Reads what a request is about, from a bounded part of it: enough to tell a question that any model answers from one that
 * needs a good one, cheap enough (a few microseconds) to be done for every request to a tier.
 */
import type { ChatRequest, Turn } from '@/chat/request'
import { countCues } from './cues'
import { type Requirements, readRequirements } from './requirements'

export type RequestKind = 'chat' | 'code' | 'mathematics' | 'extraction' | 'tools'

/** Counts are of the sampled text unless said otherwise; strengths go from 0 to 1. */
export type RequestFeatures = {
  /** Our estimate of the whole input. */
  inputTokens: number
  /** Characters of the last message that has text, as if each ideograph were a short word. */
  promptChars: number
  turns: number
  tools: number
  hasImages: boolean
  hasSchema: boolean
  /** -1 the caller asked for no thinking, 0 left it alone, 1 asked for much. */
  effort: number
  code: number
  mathematics: number
  /** Words that ask for work that small models do badly (prove, design, diagnose) or well (translate, list, rename). */
  hardCues: number
  easyCues: number
  /** Words that bind the answer: must, within, without, each, at most. */
  constraints: number
  isEnglish: boolean
}

/** A text longer than both together is read at its ends, where the instruction is. */
const HEAD_CHARS = 500
const TAIL_CHARS = 700
/** How far back the last message with text is looked for: behind it are only tool results. */
const MAX_TURNS_BACK = 24
const IDEOGRAPH_CHARS = 4

/** Reads the features of `request`. `requirements` saves the estimate where the caller has it already. */
export function readFeatures(
  request: ChatRequest,
  requirements: Pick<Requirements, 'capabilities' | 'inputTokens'> = readRequirements(request),
) {
  const { text, chars } = sampleOf(request.turns)
  const cues = countCues(text)
  return {
    inputTokens: requirements.inputTokens,
    promptChars: chars + cues.ideographs * (IDEOGRAPH_CHARS - 1),
    turns: request.turns.length,
    tools: request.tools.length,
    hasImages: requirements.capabilities.has('images'),
    hasSchema: request.output.type !== 'text',
    effort: effortOf(request),
    code: Math.min(1, cues.code / 3),
    mathematics: Math.min(1, cues.mathematics / 3),
    hardCues: cues.hard,
    easyCues: cues.easy,
    constraints: cues.constraints,
    isEnglish: !cues.hasOtherLetters,
  } satisfies RequestFeatures
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
function sampleOf(turns: readonly Turn[]): { text: string; chars: number } {
  const oldest = Math.max(0, turns.length - MAX_TURNS_BACK)
  for (let index = turns.length - 1; index >= oldest; index--) {
    const turn = turns[index]
    if (turn?.role !== 'user') continue
    const texts = textsOf(turn)
    if (texts.length > 0) return sampleTexts(texts)
  }
  return { text: '', chars: 0 }
}

function textsOf(turn: Turn): string[] {
  const texts: string[] = []
  for (const block of turn.content) if (block.type === 'text' && block.text !== '') texts.push(block.text)
  return texts
}

function sampleTexts(texts: readonly string[]): { text: string; chars: number } {
  let chars = 0
  for (const text of texts) chars += text.length
  if (chars <= HEAD_CHARS + TAIL_CHARS) return { text: texts.length === 1 ? (texts[0] ?? '') : texts.join('\n'), chars }
  let head = ''
  for (const text of texts) {
    head += text.slice(0, HEAD_CHARS - head.length)
    if (head.length >= HEAD_CHARS) break
  }
  let tail = ''
  for (let index = texts.length - 1; index >= 0 && tail.length < TAIL_CHARS; index--) {
    tail = (texts[index] ?? '').slice(-(TAIL_CHARS - tail.length)) + tail
  }
  return { text: `${head}\n${tail}`, chars }
}
