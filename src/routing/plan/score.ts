/**
 * Ranks the candidates of a tier for one request: by missing quality, price, observed latency and health. A strategy is a set of default
 * weights and the quality that it demands for difficult requests. The catalogue may change every weight.
 */
import { pricesFor } from '@/catalog/price'
import type { Model } from '@/catalog/types'
import { costNano, type Nano } from '@/lib/money'

export type Candidate = {
  model: Model
  /** Whether any of its targets would be admitted now. */
  isUsable: boolean
  failureRate: number
  /** Usual milliseconds until its answer begins; undefined if unknown. */
  latencyMs: number | undefined
}

/** The needs of the request: its difficulty (0 to 1) and estimated input and output tokens. */
type Need = { difficulty: number; inputTokens: number; outputTokens: number; wantsReasoning: boolean }

/** A ranked candidate. The parts are the penalties that make up its score; the best score is the nearest to 0. */
export type Ranked = {
  model: Model
  score: number
  estimatedCost: Nano
  /** From the worst candidate (0) to the best (1). */
  quality: number
  /** Quality that is missing for the request's difficulty. */
  shortfall: number
  parts: { quality: number; price: number; latency: number; health: number }
}

type Strategy = {
  weights: Record<keyof Ranked['parts'], number> /** The quality demanded for a hard request. */
  demand: number
}

const SMART: Strategy = { weights: { quality: 3, price: 1, latency: 0.2, health: 2 }, demand: 1.3 }
const STRATEGIES: ReadonlyMap<string, Strategy> = new Map([
  ['smart', SMART],
  ['fast', { weights: { quality: 3, price: 0.4, latency: 2, health: 2 }, demand: 0.8 }],
  ['cheap', { weights: { quality: 2.5, price: 1.5, latency: 0.2, health: 2 }, demand: 0.7 }],
])

/** Maximum quality that a request demands. For the hardest request, the cheapest of the good models is enough. */
const MAX_DEMAND = 0.82
const NOTHING_BELOW = 0.32
const ALL_FROM = 0.6
/** The minimum range when qualities are scaled to values from 0 to 1, so that small differences stay small. */
const MIN_QUALITY_RANGE = 0.25
/** If the values span at least this ratio (4), the greatest value gets the full penalty. */
const MIN_LOG_RANGE = Math.log(4)
/** The health penalty of an unavailable model, so that it is tried last. */
const UNUSABLE_HEALTH = 10
const QUALITY_WITHOUT_REASONING = 0.5

/** The candidates from best to worst; equals keep their order. `weights` by name override the strategy's own. */
export function rankCandidates(
  strategyName: string,
  weights: ReadonlyMap<string, number>,
  candidates: readonly Candidate[],
  need: Need,
): Ranked[] {
  const strategy = STRATEGIES.get(strategyName) ?? SMART
  const weightOf = (name: keyof Ranked['parts']) => weights.get(name) ?? strategy.weights[name]
  const costs = candidates.map(({ model }) => estimatedCost(model, need.inputTokens, need.outputTokens))
  const prices = onLogScale(costs)
  const qualities = candidates.map((candidate, index) => qualityOf(candidate.model, prices[index] ?? 0))
  const latencies = latencyScale(candidates, prices)
  const best = Math.max(...qualities)
  const range = Math.max(best - Math.min(...qualities), MIN_QUALITY_RANGE)
  const demanded = Math.min(MAX_DEMAND, decisiveness(need.difficulty) * strategy.demand)

  const ranked = candidates.map((candidate, index): Ranked => {
    const { model, isUsable, failureRate } = candidate
    const relative = 1 - (best - (qualities[index] ?? 0)) / range
    const lacksReasoning = need.wantsReasoning && !model.capabilities.has('reasoning')
    const shortfall = Math.max(0, demanded - relative) + (lacksReasoning ? QUALITY_WITHOUT_REASONING : 0)
    const parts = {
      quality: weightOf('quality') * shortfall,
      price: weightOf('price') * (prices[index] ?? 0),
      latency: weightOf('latency') * (latencies[index] ?? 0),
      health: isUsable ? weightOf('health') * failureRate : UNUSABLE_HEALTH,
    }
    const score = -(parts.quality + parts.price + parts.latency + parts.health)
    return { model, score, estimatedCost: costs[index] as Nano, quality: relative, shortfall, parts }
  })
  return ranked.sort((left, right) => right.score - left.score)
}

/** The share of the strategy's `demand` to use. Difficulties are rarely extreme, so up to 0.32 it is 0, and from 0.6 on it is 1. */
function decisiveness(difficulty: number): number {
  return Math.min(1, Math.max(0, (difficulty - NOTHING_BELOW) / (ALL_FROM - NOTHING_BELOW)))
}

/** The request's cost at `model` if nothing is cached, in nano-USD. */
export function estimatedCost(model: Model, inputTokens: number, outputTokens: number): Nano {
  const prices = pricesFor(model.pricing, inputTokens)
  const output = Math.min(Math.ceil(outputTokens), model.maxOutputTokens)
  return costNano([inputTokens, output], [prices.input, prices.output])
}

/** Without a quality in the catalogue, a more expensive model counts as better. */
function qualityOf(model: Model, price: number): number {
  return model.quality ?? 0.4 + 0.5 * price
}

/** Latencies from 0 to 1. An unknown one counts as medium. Without any data, more expensive models count as somewhat slower. */
function latencyScale(candidates: readonly Candidate[], prices: readonly number[]): readonly number[] {
  const known = candidates.flatMap(({ latencyMs }) => latencyMs ?? [])
  if (known.length === 0) return prices.map((price) => price / 2)
  const scale = onLogScale(known)
  let next = 0
  return candidates.map(({ latencyMs }) => (latencyMs === undefined ? 0.5 : (scale[next++] ?? 0.5)))
}

/** Scales the values to 0 (the least) to 1 (the greatest) by their ratios. Small differences stay small. */
function onLogScale(values: readonly number[]): number[] {
  const logs = values.map((value) => Math.log(Math.max(value, 1)))
  const least = Math.min(...logs)
  const range = Math.max(Math.max(...logs) - least, MIN_LOG_RANGE)
  return logs.map((log) => (log - least) / range)
}
