/** Lets a tier choose: reads the request, ranks the candidates, keeps a conversation where it is, and shortens the list. */
import type { Model, Target, Tier } from '@/catalog/types'
import type { ChatRequest } from '@/chat/request'
import { difficultyOf, HARD_FROM } from './difficulty'
import { arrangeCandidates, mayStay } from './preferences'
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
  /** All eligible candidates, best first, or in the order that the caller wishes, before stickiness. */
  ranking: Ranked[]
  /** Whether the first model is first because the conversation began with it. */
  isSticky: boolean
  /** Whether no candidate that can serve has the quality that the caller asks for. */
  isBelowQuality: boolean
  /** The models to try, in order. Never empty. */
  models: Model[]
}

type TierQuestion = {
  tier: Tier
  /** The candidates that can serve the request. Not empty. */
  eligible: readonly Model[]
  isBelowQuality: boolean
  request: ChatRequest
  requirements: Requirements
  view: RouteView
  /** The targets of a model that may answer the request. */
  targetsOf: (model: Model) => readonly Target[]
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
  const { tier, eligible, isBelowQuality, request, requirements, view } = question
  const features = readFeatures(request, requirements)
  const difficulty = difficultyOf(features)
  const likely = EASY_OUTPUT_TOKENS + difficulty * (HARD_OUTPUT_TOKENS - EASY_OUTPUT_TOKENS)
  const ranked = rankCandidates(
    tier.strategy,
    tier.weights,
    eligible.map((model) => stateOf(model, question)),
    {
      difficulty,
      inputTokens: requirements.inputTokens,
      outputTokens: Math.ceil(Math.min(likely, requirements.outputTokens ?? likely)),
      wantsReasoning: wantsReasoning(request.reasoning),
    },
  )
  const { ranking, stickyModelId } = asWished(ranked, question)
  const sticky = ranking.find(({ model }) => model.id === stickyModelId)?.model
  const isSticky = sticky !== undefined && question.targetsOf(sticky).some((target) => view.isUsable(target))
  const models = shortlist(ranking, question)
  if (sticky && isSticky) models.splice(0, models.length, sticky, ...models.filter((model) => model !== sticky))
  return { tier, features, kind: kindOf(features), difficulty, ranking, isSticky, isBelowQuality, models }
}

/** `easy` or `hard`, as the reason and the evaluation say it. */
export function difficultyClass(difficulty: number): 'easy' | 'hard' {
  return difficulty >= HARD_FROM ? 'hard' : 'easy'
}

/** What the caller wishes comes before the tier's own ranking, and before what the conversation is used to. */
function asWished(ranked: Ranked[], question: TierQuestion): { ranking: Ranked[]; stickyModelId: string | undefined } {
  const { request, view, targetsOf, isBelowQuality, stickyModelId } = question
  const { preferences, stream } = request
  if (!preferences) return { ranking: ranked, stickyModelId }
  const judged = { preferences, targetsOf, latencyMs: (target: Target) => view.latencyMs(target, stream) }
  const ranking = arrangeCandidates(ranked, judged, isBelowQuality)
  const first = ranking[0]?.model
  const sticky = ranking.find(({ model }) => model.id === stickyModelId)?.model
  const stays = first && sticky && mayStay(sticky, first, judged, isBelowQuality)
  return { ranking, stickyModelId: stays ? stickyModelId : undefined }
}

function stateOf(model: Model, { request, view, targetsOf }: TierQuestion): Candidate {
  const targets = targetsOf(model)
  const usable = targets.filter((target) => view.isUsable(target))
  const target = usable[0] ?? targets[0]
  return {
    model,
    isUsable: usable.length > 0,
    failureRate: target ? view.failureRate(target) : 0,
    latencyMs: target && view.latencyMs(target, request.stream),
  }
}

/** The best few, and the best of every provider that none of them is from: one provider's outage must not end the list. */
function shortlist(ranking: readonly Ranked[], { targetsOf }: TierQuestion): Model[] {
  const providerNames = (model: Model) => targetsOf(model).map((target) => target.provider.name)
  const models = ranking.map(({ model }) => model)
  const chosen = models.slice(0, MAX_MODELS)
  const providers = new Set(chosen.flatMap(providerNames))
  for (const model of models.slice(MAX_MODELS)) {
    if (providerNames(model).every((name) => providers.has(name))) continue
    chosen.push(model)
    for (const name of providerNames(model)) providers.add(name)
  }
  return chosen
}
