/** Explains a plan as data: what would be tried, why, what it would cost at most and about, without spending anything. */
import { inputBound, outputCap } from '@/catalog/estimate'
import { worstCaseCost } from '@/catalog/price'
import { refuseUnpriceable } from '@/catalog/priceable'
import { dearestTools, inputWithTools } from '@/catalog/tool-allowance'
import type { Model } from '@/catalog/types'
import type { ChatRequest } from '@/chat/request'
import { type Nano, nano, nanoToUsd } from '@/lib/money'
import { difficultyClass } from '@/routing/plan/choose'
import { explainSignals } from '@/routing/plan/difficulty'
import type { Plan } from '@/routing/plan/plan'
import { explainRequest } from '@/routing/plan/read-request'
import type { RouteView } from '@/routing/plan/route-view'
import { estimatedCost } from '@/routing/plan/score'
import { routeReason } from './route-reason'

export type RouteExplanation = {
  requested: string
  reason: string
  /** What the request would hold: the most it can cost at the dearest model of the plan, in USD. */
  hold_usd: number
  estimated_input_tokens: number
  targets: { model: string; provider: string; available: boolean; usual_latency_ms: number | null }[]
  models: { model: string; hold_usd: number; estimated_cost_usd: number }[]
  passed_over: { model: string; requirements: string[]; reasons: string[] }[]
  tier: TierExplanation | null
}

type TierExplanation = {
  id: string
  strategy: string
  kind: string
  difficulty: number
  class: 'easy' | 'hard'
  sticky: boolean
  /** What made the request look hard (above 0) or easy, the weightiest first. */
  because: { because: string; effect: number }[]
  features: Record<string, number | boolean>
  ranking: { model: string; score: number; penalties: Record<string, number>; estimated_cost_usd: number }[]
}

/** Output tokens to reckon with where neither a tier's choice nor the caller's limit says more. */
const USUAL_OUTPUT_TOKENS = 500

/** Explains `plan`, which was made for `request` of `bodyBytes` bytes. */
export function explainPlan(plan: Plan, request: ChatRequest, bodyBytes: number, view: RouteView): RouteExplanation {
  refuseUnpriceable(
    request,
    plan.targets.map(({ target }) => target),
  )
  const input = inputBound(plan.requirements.prompt, bodyBytes)
  const hold = (model: Model) => holdAt(plan, model, request, input)
  const { inputTokens, outputTokens } = plan.requirements
  const output = Math.min(outputTokens ?? USUAL_OUTPUT_TOKENS, USUAL_OUTPUT_TOKENS) * request.choices
  return {
    requested: plan.requested,
    reason: routeReason(plan, plan.models[0]?.id ?? '', []),
    hold_usd: Math.max(...plan.models.map((model) => nanoToUsd(hold(model)))),
    estimated_input_tokens: inputTokens,
    targets: plan.targets.map(({ model, target }) => ({
      model: model.id,
      provider: target.provider.name,
      available: view.isUsable(target),
      usual_latency_ms: view.latencyMs(target, request.stream) ?? null,
    })),
    models: plan.models.map((model) => ({
      model: model.id,
      hold_usd: nanoToUsd(hold(model)),
      estimated_cost_usd: nanoToUsd(estimatedCost(model, inputTokens, output)),
    })),
    passed_over: plan.passedOver.map(({ model, unmet }) => ({
      model: model.id,
      requirements: unmet.map((item) => item.requirement),
      reasons: unmet.map((item) => item.detail),
    })),
    tier: explainChoice(plan, request),
  }
}

function holdAt({ targets: planned }: Plan, model: Model, request: ChatRequest, input: number): Nano {
  const { serverTools = [] } = request
  const targets = planned.filter((one) => one.model === model).map(({ target }) => target)
  const bound = inputWithTools(serverTools, targets, input, model.contextLength)
  return nano(worstCaseCost(model.pricing, bound, outputCap(request, model)) + dearestTools(serverTools, targets))
}

function explainChoice({ choice }: Plan, request: ChatRequest): TierExplanation | null {
  if (!choice) return null
  const { tier, kind, difficulty, isSticky, features, ranking } = choice
  return {
    id: tier.id,
    strategy: tier.strategy,
    kind,
    difficulty,
    class: difficultyClass(difficulty),
    sticky: isSticky,
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
