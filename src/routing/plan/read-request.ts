/** Reads a request's features from a bounded part of it, in about twenty microseconds. */

import type { ChatRequest, Turn } from '@/chat/request'
import { sampleTexts } from '@/routing/difficulty/sample'
import { type Contribution, explainText, scoreText } from '@/routing/difficulty/score-text'
import { type Requirements, readRequirements } from './requirements'

export type RequestKind = 'chat' | 'code' | 'mathematics' | 'extraction' | 'tools'

/** Strengths are from 0 to 1. */
export type RequestFeatures = {
  inputTokens: number
  /** The place of the hardest of the user's turns: 0 is the last turn with text, 1 the turn before. */
  turnsBack: number
  /** Characters of the turn that decided the difficulty. */
  promptChars: number
  /** The number of these characters that are material, and not instruction. */
  materialChars: number
  /** The score of that turn's text, before the logistic curve: at 0, easy and hard are equally likely. */
  text: number
  turns: number
  tools: number
  hasImages: boolean
  hasSchema: boolean
  /** -1: the caller disabled reasoning; 0: not set; 1: requested much reasoning. */
  effort: number
  code: number
  mathematics: number
}

/** The number of the user's latest turns to read, besides the first. */
const MAX_TURNS_BACK = 5
/** A turn's difficulty is multiplied by this for each later turn: "go on" after a proof is part of the proof, for a while. */
const DECAY = 0.93
/** The first turn often names the whole task, so it never counts as further back than this. */
const FIRST_TURNS_BACK = 8
/** Maximum reasons shown: people don't read more. */
const REASONS = 8

/** Reads the features of `request`. `requirements` avoids a second estimate if the caller already has one. */
export function readFeatures(
  request: ChatRequest,
  requirements: Pick<Requirements, 'capabilities' | 'inputTokens'> = readRequirements(request),
) {
  const { sample, score, turnsBack, sum } = hardestTurn(request)
  return {
    inputTokens: requirements.inputTokens,
    turnsBack,
    promptChars: sample.chars,
    materialChars: score.materialChars,
    text: sum,
    turns: request.turns.length,
    tools: request.tools.length,
    hasImages: requirements.capabilities.has('images'),
    hasSchema: request.output.type !== 'text',
    effort: effortOf(request),
    code: score.code,
    mathematics: score.mathematics,
  } satisfies RequestFeatures
}

/** The words and traits of the text of `request` with the largest effect on its score. */
export function explainRequest(request: ChatRequest): Contribution[] {
  const { sample, score, turnsBack, sum } = hardestTurn(request)
  const reasons = explainText(sample.text, sample.chars, REASONS)
  if (turnsBack > 0) reasons.push({ because: 'said earlier in the conversation', effect: sum - score.sum })
  return reasons
}

/** The kind of request with the strongest evidence. */
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

/** The user's turn that is most significant for the conversation: the hardest, with less weight for older turns. */
function hardestTurn({ turns }: ChatRequest) {
  const [last, ...earlier] = readUserTurns(turns, MAX_TURNS_BACK)
  const sample = sampleTexts(last?.texts ?? [])
  const score = scoreText(sample.text, sample.chars)
  let hardest = { sample, score, turnsBack: 0, sum: score.sum }
  let chance = chanceOf(score.sum)
  for (const [index, { texts }] of earlier.entries()) {
    const weight = DECAY ** (index + 1 < MAX_TURNS_BACK ? index + 1 : FIRST_TURNS_BACK)
    // An older turn counts less: even the highest score would not exceed the one found.
    if (weight <= chance) break
    const older = sampleTexts(texts)
    const olderScore = scoreText(older.text, older.chars)
    const olderChance = chanceOf(olderScore.sum) * weight
    if (olderChance <= chance) continue
    chance = olderChance
    const sum = Math.log(chance / (1 - chance))
    hardest = { sample: older, score: olderScore, turnsBack: index + 1, sum }
  }
  return hardest
}

function chanceOf(sum: number): number {
  return 1 / (1 + Math.exp(-sum))
}

/** A turn of the user with text, and its index, which stays the same as the conversation grows. */
export type UserTurn = { texts: string[]; place: number }

/** Maximum turns to search from each end of the request, since a request may have very many turns. */
const MAX_TURNS_READ = 2_000

/** The user's last `most` turns with text, the latest first, followed by the conversation's first, if it is not among them. */
export function readUserTurns(turns: readonly Turn[], most: number): UserTurn[] {
  const found: UserTurn[] = []
  const oldest = Math.max(0, turns.length - MAX_TURNS_READ)
  let place = turns.length - 1
  for (; place >= oldest && found.length < most; place--) add(turns[place], place, found)
  const end = Math.min(place + 1, MAX_TURNS_READ)
  for (let early = 0; early < end; early++) if (add(turns[early], early, found)) break
  return found
}

function add(turn: Turn | undefined, place: number, found: UserTurn[]): boolean {
  if (turn?.role !== 'user') return false
  const texts: string[] = []
  for (const block of turn.content) if (block.type === 'text' && block.text !== '') texts.push(block.text)
  if (texts.length > 0) found.push({ texts, place })
  return texts.length > 0
}
