/** What the tiers' choices cost against always asking the best model, and how good a model hard prompts got. */
import type { Catalog, Model } from '@/catalog/types'
import type { ChatRequest } from '@/chat/request'
import { assert } from '@/lib/assert'
import { buildPlan } from '@/routing/plan/plan'
import { readRequirements } from '@/routing/plan/requirements'
import { estimatedCost } from '@/routing/plan/score'
import type { EvalPrompt } from './eval-sets'

/** What answers of each label are taken to be long. */
const OUTPUT_TOKENS = { easy: 250, hard: 2_000 }
/** A hard prompt counts as well placed at a model of this stated quality, */
export const GOOD_QUALITY = 0.85
/** and as badly misplaced below this one. */
const SMALL_QUALITY = 0.6

type Choose = (prompt: EvalPrompt) => Model

export type CostRow = {
  name: string
  usdPerThousand: number
  ofBest: number
  hardWellPlaced: number
  hardAtSmall: number
  easyAtGood: number
  meanQuality: number
}

/** One row for each way to choose. */
export function costRows(catalog: Catalog, prompts: readonly EvalPrompt[]): CostRow[] {
  const candidates = tierOf(catalog, 'auto-smart').candidates
  const best = candidates.toSorted((left, right) => (right.quality ?? 0) - (left.quality ?? 0))[0] as Model
  const dearest = totalCost(prompts, () => best)
  const ways: [string, Choose][] = [
    [`always best (${best.id})`, () => best],
    ...['auto-smart', 'auto-fast', 'auto-cheap'].map((id): [string, Choose] => [
      id,
      ({ request }) => chosen(catalog, request, id),
    ]),
    ['always cheapest', (prompt) => cheapest(candidates, prompt)],
    [
      'the labels known',
      (prompt) => (prompt.isHard ? cheapest(goodOnes(candidates), prompt) : cheapest(candidates, prompt)),
    ],
  ]
  return ways.map(([name, choose]) => rowOf(name, prompts, choose, dearest))
}

/** The least that finding `share` of the hard prompts costs with scores and two models: the cheapest good one and the cheapest. */
export function costAtRecall(
  catalog: Catalog,
  prompts: readonly EvalPrompt[],
  scores: readonly number[],
  share: number,
): CostRow {
  const candidates = tierOf(catalog, 'auto-smart').candidates
  const hard = scores.filter((_, index) => prompts[index]?.isHard).sort((left, right) => right - left)
  const threshold = hard[Math.ceil(share * hard.length) - 1] ?? 0
  const isGood = new Map(prompts.map((prompt, index) => [prompt, (scores[index] ?? 0) >= threshold]))
  const best = candidates.toSorted((left, right) => (right.quality ?? 0) - (left.quality ?? 0))[0] as Model
  return rowOf(
    `two models, threshold ${threshold.toFixed(2)}`,
    prompts,
    (prompt) => cheapest(isGood.get(prompt) ? goodOnes(candidates) : candidates, prompt),
    totalCost(prompts, () => best),
  )
}

function rowOf(name: string, prompts: readonly EvalPrompt[], choose: Choose, dearest: number): CostRow {
  const cost = totalCost(prompts, choose)
  const qualities = prompts.map((prompt) => ({ isHard: prompt.isHard, quality: choose(prompt).quality ?? 0 }))
  const hard = qualities.filter(({ isHard }) => isHard)
  const easy = qualities.filter(({ isHard }) => !isHard)
  return {
    name,
    usdPerThousand: (cost / 1e9 / prompts.length) * 1_000,
    ofBest: cost / dearest,
    hardWellPlaced: hard.filter(({ quality }) => quality >= GOOD_QUALITY).length / hard.length,
    hardAtSmall: hard.filter(({ quality }) => quality < SMALL_QUALITY).length / hard.length,
    easyAtGood: easy.filter(({ quality }) => quality >= GOOD_QUALITY).length / easy.length,
    meanQuality: qualities.reduce((sum, { quality }) => sum + quality, 0) / qualities.length,
  }
}

function chosen(catalog: Catalog, request: ChatRequest, tierId: string): Model {
  return buildPlan(catalog, { ...request, model: tierId }).models[0] as Model
}

function goodOnes(candidates: readonly Model[]): Model[] {
  return candidates.filter(({ quality }) => (quality ?? 0) >= GOOD_QUALITY)
}

function cheapest(candidates: readonly Model[], prompt: EvalPrompt): Model {
  return candidates.toSorted((left, right) => costOf(left, prompt) - costOf(right, prompt))[0] as Model
}

function totalCost(prompts: readonly EvalPrompt[], choose: Choose): number {
  return prompts.reduce((sum, prompt) => sum + costOf(choose(prompt), prompt), 0)
}

function costOf(model: Model, { request, isHard }: EvalPrompt): number {
  return estimatedCost(model, readRequirements(request).inputTokens, OUTPUT_TOKENS[isHard ? 'hard' : 'easy'])
}

function tierOf(catalog: Catalog, id: string) {
  const tier = catalog.tiers.get(id)
  assert(tier, `config/catalog.json has the tier ${id}`)
  return tier
}
