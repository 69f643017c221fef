/** Makes a tier's choice: reads the request, ranks the candidates, keeps a conversation's model, and shortens the list. */
import type { Model, Target, Tier } from '@/catalog/types'
import type { ChatRequest } from '@/chat/request'
import { difficultyOf, HARD_FROM } from './difficulty'
import { arrangeCandidates, mayStay } from './preferences'
import { kindOf, type RequestFeatures, type RequestKind, readFeatures } from './read-request'
import { type Requirements, wantsReasoning } from './requirements'
import type { RouteView } from './route-view'
import { type Candidate, type Ranked, rankCandidates } from './score'

export type TierChoice = {
  tier: Tier
  features: RequestFeatures
  kind: RequestKind
  difficulty: number
  /** All eligible candidates, best first or in the caller's order, before the conversation's model is moved up. */
  ranking: Ranked[]
  /** The conversation's previous model and whether it is kept; undefined if there is none. */
  session: { modelId: string; outcome: SessionOutcome } | undefined
  /** Whether no suitable candidate has the quality that the caller requires. */
  isBelowQuality: boolean
  /** The models to try, in order. Never empty. */
  models: Model[]
}

/** `kept`, or the reason why the conversation's model was replaced; `unwanted`: the caller's preferences exclude it. */
export type SessionOutcome = 'kept' | 'too-weak' | 'unavailable' | 'cannot-serve' | 'unwanted'

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
  stickyModelId: string | undefined
}

/** Estimated output tokens of an easy and a hard request, unless the caller's limit is lower. */
const EASY_OUTPUT_TOKENS = 250
const HARD_OUTPUT_TOKENS = 2_000
/** Maximum models of one tier per plan. The hold covers the most expensive one, so a longer list would hold more credit. */
const MAX_MODELS = 3

/** A conversation's model may lack this much more quality than the first choice. Replacing it would lose the provider's cache. */
const STICKY_MARGIN = 0.1

/** Makes the choice. Never fails: without data, the order is by price and stated quality. */
export function chooseModels(question: TierQuestion): TierChoice {
  const { tier, eligible, isBelowQuality, request, requirements } = question
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
  const { ranking, mayKeep } = asWished(ranked, question)
  const models = shortlist(ranking, question)
  const session = resume(ranking, mayKeep, models, question)
  return { tier, features, kind: kindOf(features), difficulty, ranking, session, isBelowQuality, models }
}

/** Whether the model `heldId` is stronger than `modelId` by this choice, and could have served the request too. */
export function outranks({ ranking }: TierChoice, heldId: string, modelId: string): boolean {
  const qualityOf = (id: string) => ranking.find(({ model }) => model.id === id)?.quality ?? Number.NEGATIVE_INFINITY
  return qualityOf(heldId) > qualityOf(modelId)
}

/** Puts the conversation's previous model first in `models`, if it is available and strong enough for this request. */
function resume(ranking: readonly Ranked[], mayKeep: boolean, models: Model[], question: TierQuestion) {
  const { stickyModelId: modelId } = question
  if (modelId === undefined) return undefined
  const sticky = ranking.find(({ model }) => model.id === modelId)
  const outcome = outcomeFor(sticky, ranking, mayKeep, question)
  if (sticky && outcome === 'kept') {
    models.splice(0, models.length, sticky.model, ...models.filter((model) => model !== sticky.model))
  }
  return { modelId, outcome }
}

function outcomeFor(
  sticky: Ranked | undefined,
  [first]: readonly Ranked[],
  mayKeep: boolean,
  { view, targetsOf }: TierQuestion,
): SessionOutcome {
  if (!sticky || !first) return 'cannot-serve'
  if (!targetsOf(sticky.model).some((target) => view.isUsable(target))) return 'unavailable'
  if (!mayKeep) return 'unwanted'
  // A model that lacks more quality than the first choice is weaker: a conversation never moves to a weaker model.
  return sticky.shortfall > first.shortfall + STICKY_MARGIN ? 'too-weak' : 'kept'
}

/** The difficulty as `easy` or `hard`, for the route's reason and for evaluations. */
export function difficultyClass(difficulty: number): 'easy' | 'hard' {
  return difficulty >= HARD_FROM ? 'hard' : 'easy'
}

/** The caller's preferences override the tier's ranking and the conversation's model. */
function asWished(ranked: Ranked[], question: TierQuestion): { ranking: Ranked[]; mayKeep: boolean } {
  const { request, view, targetsOf, isBelowQuality, stickyModelId } = question
  const { preferences, stream } = request
  if (!preferences) return { ranking: ranked, mayKeep: true }
  const judged = { preferences, targetsOf, view, stream }
  const ranking = arrangeCandidates(ranked, judged, isBelowQuality)
  const first = ranking[0]?.model
  const sticky = ranking.find(({ model }) => model.id === stickyModelId)?.model
  const mayKeep = first !== undefined && sticky !== undefined && mayStay(sticky, first, judged, isBelowQuality)
  return { ranking, mayKeep }
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

/** The best few models, and the best model of every other provider, so that one provider's outage leaves an alternative. */
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
