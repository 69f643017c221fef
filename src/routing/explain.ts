import { type DataRule, NO_PREFERENCES, type RoutePreferences, type Sort } from '@/chat/preferences'
import type { ChatRequest } from '@/chat/request'
import { formatPrice, type Nano, nanoToUsd, type Pico } from '@/lib/money'
import { difficultyClass, type SessionOutcome } from '@/routing/plan/choose'
import { explainSignals } from '@/routing/plan/difficulty'
import type { Plan } from '@/routing/plan/plan'
import { isWanted } from '@/routing/plan/preferences'
import { explainRequest } from '@/routing/plan/read-request'
import type { RouteView } from '@/routing/plan/route-view'
import { estimatedCost } from '@/routing/plan/score'
import { routeReason } from './route-reason'

export type RouteExplanation = {
  requested: string
  reason: string
  /** The credit that the request would hold, in USD: the maximum cost at the plan's most expensive model. */
  hold_usd: number
  estimated_input_tokens: number
  targets: {
    model: string
    provider: string
    available: boolean
    usual_latency_ms: number | null
    usual_tokens_per_second: number | null
  }[]
  models: { model: string; hold_usd: number; estimated_cost_usd: number }[]
  passed_over: { model: string; requirements: string[]; reasons: string[] }[]
  preferences: PreferencesExplanation | null
  tier: TierExplanation | null
}

/** The caller's preferences as the gateway read them, and all data rules. Prices are in USD per 1,000,000 tokens. */
type PreferencesExplanation = {
  quality: number | null
  /** Whether a suitable candidate has the requested quality; null if no quality was requested, or no tier. */
  quality_reached: boolean | null
  max_price: { input: number | null; output: number | null }
  providers: { order: readonly string[]; only: readonly string[]; ignore: readonly string[] }
  sort: Sort | null
  data: readonly DataRule[]
  /** Targets excluded by `providers` or `data`, of models that are still tried. */
  ruled_out_targets: { model: string; provider: string }[]
}

type TierExplanation = {
  id: string
  strategy: string
  kind: string
  difficulty: number
  class: 'easy' | 'hard'
  sticky: boolean
  /** The conversation's previous model; `outcome`: `kept`, or the reason why it was replaced. */
  session: { model: string; outcome: SessionOutcome } | null
  /** The features that made the request seem hard (above 0) or easy, the largest effect first. */
  because: { because: string; effect: number }[]
  features: Record<string, number | boolean>
  ranking: { model: string; score: number; penalties: Record<string, number>; estimated_cost_usd: number }[]
}

/** Estimated output tokens if no tier has estimated them, and the request has no lower limit. */
const USUAL_OUTPUT_TOKENS = 500

/** The credit to hold for a request that these models and targets may answer. */
export type HoldOf = (answering: Pick<Plan, 'models' | 'targets'>) => Nano

/** Explains `plan` as data: models, reasons, maximum and estimated cost, without spending anything. Throws errors of `holdOf`. */
export function explainPlan(plan: Plan, request: ChatRequest, holdOf: HoldOf, view: RouteView): RouteExplanation {
  const { inputTokens, outputTokens } = plan.requirements
  const output = Math.min(outputTokens ?? USUAL_OUTPUT_TOKENS, USUAL_OUTPUT_TOKENS) * request.choices
  return {
    requested: plan.requested,
    reason: routeReason(plan, plan.models[0]?.id ?? '', []),
    hold_usd: nanoToUsd(holdOf(plan)),
    estimated_input_tokens: inputTokens,
    targets: plan.targets.map(({ model, target }) => ({
      model: model.id,
      provider: target.provider.name,
      available: view.isUsable(target),
      usual_latency_ms: view.latencyMs(target, request.stream) ?? null,
      usual_tokens_per_second: view.throughput(target) ?? null,
    })),
    models: plan.models.map((model) => ({
      model: model.id,
      hold_usd: nanoToUsd(
        holdOf({ models: [model], targets: plan.targets.filter((planned) => planned.model === model) }),
      ),
      estimated_cost_usd: nanoToUsd(estimatedCost(model, inputTokens, output)),
    })),
    passed_over: plan.passedOver.map(({ model, unmet }) => ({
      model: model.id,
      requirements: unmet.map((item) => item.requirement),
      reasons: unmet.map((item) => item.detail),
    })),
    preferences: explainPreferences(plan, request.preferences),
    tier: explainChoice(plan, request),
  }
}

function explainPreferences(
  { models, choice, data }: Plan,
  asked: RoutePreferences | undefined,
): PreferencesExplanation | null {
  if (!asked && !data) return null
  const preferences = { ...(asked ?? NO_PREFERENCES), ...(data && { data }) }
  const { quality, maxPrice, order, only, ignore, sort } = preferences
  const ruledOut = models.flatMap((model) =>
    model.targets
      .filter((target) => !isWanted(target, preferences))
      .map(({ provider }) => ({ model: model.id, provider: provider.name })),
  )
  return {
    quality: quality ?? null,
    quality_reached: quality !== undefined && choice ? !choice.isBelowQuality : null,
    max_price: { input: usdPer1m(maxPrice?.input), output: usdPer1m(maxPrice?.output) },
    providers: { order, only, ignore },
    sort: sort ?? null,
    data: data ?? [],
    ruled_out_targets: ruledOut,
  }
}

function usdPer1m(price: Pico | undefined): number | null {
  return price === undefined ? null : Number(formatPrice(price))
}

function explainChoice({ choice }: Plan, request: ChatRequest): TierExplanation | null {
  if (!choice) return null
  const { tier, kind, difficulty, session, features, ranking } = choice
  return {
    id: tier.id,
    strategy: tier.strategy,
    kind,
    difficulty,
    class: difficultyClass(difficulty),
    sticky: session?.outcome === 'kept',
    session: session ? { model: session.modelId, outcome: session.outcome } : null,
    because: [...explainSignals(features), ...explainRequest(request)]
      .sort((left, right) => Math.abs(right.effect) - Math.abs(left.effect))
      .map(({ because, effect }) => ({ because, effect: Math.round(effect * 1_000) / 1_000 })),
    features,
    ranking: ranking.map(({ model, score, parts, estimatedCost: cost }) => ({
      model: model.id,
      score,
      penalties: parts,
      estimated_cost_usd: nanoToUsd(cost),
    })),
  }
}
