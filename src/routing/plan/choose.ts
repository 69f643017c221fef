/** Lets a tier choose: reads the request, ranks the candidates, keeps a conversation where it is, and shortens the list. */
import type { Model, Tier } from '@/catalog/types'
import type { ChatRequest } from '@/chat/request'
import { difficultyOf, HARD_FROM } from './difficulty'
import { kindOf, type RequestFeatures, type RequestKind, readFeatures } from './read-request'
import { type Requirements, wantsReasoning } from './requirements'
import type { RouteView } from './route-view'
import { type Candidate, type Ranked, rankCandidates } from './score'

/** Why a tier put which model first. */
export type TierChoice = {
  tier: Tier
  features: RequestFeatures
  kind: RequestKind
  difficulty: number
  /** All eligible candidates, best first, before stickiness. */
  ranking: Ranked[]
  /** Whether the first model is first because the conversation began with it. */
  isSticky: boolean
  /** The models to try, in order. Never empty. */
  models: Model[]
}

type TierQuestion = {
  tier: Tier
  /** The candidates that can serve the request. Not empty. */
  eligible: readonly Model[]
  request: ChatRequest
  requirements: Requirements
  view: RouteView
  /** The model that this conversation has been talking to. */
  stickyModelId: string | undefined
}

/** What an easy and a hard request are likely to write, in tokens, where the caller's limit is not lower. */
const EASY_OUTPUT_TOKENS = 250
const HARD_OUTPUT_TOKENS = 2_000
/** Models of one tier that a plan tries. The hold covers the dearest, so a long tail would tie up credit for nothing. */
const MAX_MODELS = 3

/** Chooses. Fails for no request: with nothing to go by, the order is by price and stated quality. */
export function chooseModels(question: TierQuestion): TierChoice {
  const { tier, eligible, request, requirements, view, stickyModelId } = question
  const features = readFeatures(request, requirements)
  const difficulty = difficultyOf(features)
  const likely = EASY_OUTPUT_TOKENS + difficulty * (HARD_OUTPUT_TOKENS - EASY_OUTPUT_TOKENS)
  const ranking = rankCandidates(
    tier.strategy,
    tier.weights,
    eligible.map((model) => stateOf(model, request.stream, view)),
    {
      difficulty,
      inputTokens: requirements.inputTokens,
      outputTokens: Math.ceil(Math.min(likely, requirements.outputTokens ?? likely)),
      wantsReasoning: wantsReasoning(request.reasoning),
    },
  )
  const sticky = ranking.find(({ model }) => model.id === stickyModelId)?.model
  const isSticky = sticky?.targets.some((target) => view.isUsable(target)) ?? false
  const models = shortlist(ranking.map(({ model }) => model))
  if (sticky && isSticky) models.splice(0, models.length, sticky, ...models.filter((model) => model !== sticky))
  return { tier, features, kind: kindOf(features), difficulty, ranking, isSticky, models }
}

/** `easy` or `hard`, as the reason and the evaluation say it. */
export function difficultyClass(difficulty: number): 'easy' | 'hard' {
  return difficulty >= HARD_FROM ? 'hard' : 'easy'
}

function stateOf(model: Model, stream: boolean, view: RouteView): Candidate {
  const usable = model.targets.filter((target) => view.isUsable(target))
  const target = usable[0] ?? model.targets[0]
  return {
    model,
    isUsable: usable.length > 0,
    failureRate: target ? view.failureRate(target) : 0,
    latencyMs: target && view.latencyMs(target, stream),
  }
}

/** The best few, and the best of every provider that none of them is from: one provider's outage must not end the list. */
function shortlist(models: readonly Model[]): Model[] {
  const chosen = models.slice(0, MAX_MODELS)
  const providers = new Set(chosen.flatMap(providerNames))
  for (const model of models.slice(MAX_MODELS)) {
    if (providerNames(model).every((name) => providers.has(name))) continue
    chosen.push(model)
    for (const name of providerNames(model)) providers.add(name)
  }
  return chosen
}

function providerNames(model: Model): string[] {
  return model.targets.map((target) => target.provider.name)
}
