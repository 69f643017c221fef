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
  /** The model that the conversation has been talking to and the outcome of it; undefined if there is none. */
  session: { modelId: string; outcome: SessionOutcome } | undefined
  /** Whether no candidate that can serve has the quality that the caller asks for. */
  isBelowQuality: boolean
  /** The models to try, in order. Never empty. */
  models: Model[]
}

/**
 * A conversation keeps its model, or the tier chooses again: for a stronger one (`too-weak`), because no call would reach it,
 * because it cannot serve this request, or because of the caller's wish.
 */
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
  /** The model that this conversation has been talking to. */
  stickyModelId: string | undefined
}

/** What an easy and a hard request are likely to write, in tokens, where the caller's limit is not lower. */
const EASY_OUTPUT_TOKENS = 250
const HARD_OUTPUT_TOKENS = 2_000
/** Models of one tier that a plan tries. The hold covers the dearest, so a long tail would tie up credit for nothing. */
const MAX_MODELS = 3

/** Quality that may be missing more before a conversation gives up its model, and with it the provider's cache. */
const STICKY_MARGIN = 0.1

/** Chooses. Fails for no request: with nothing to go by, the order is by price and stated quality. */
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

/** Whether the model `heldId` is, by this choice, stronger than `modelId`, and could have served the request as well. */
export function outranks({ ranking }: TierChoice, heldId: string, modelId: string): boolean {
  const qualityOf = (id: string) => ranking.find(({ model }) => model.id === id)?.quality ?? Number.NEGATIVE_INFINITY
  return qualityOf(heldId) > qualityOf(modelId)
}

/** Puts the conversation's model first among `models`, if it can answer now and is strong enough for what is asked now. */
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
  // What lacks more than the first choice does is weaker: a conversation never moves down.
  return sticky.shortfall > first.shortfall + STICKY_MARGIN ? 'too-weak' : 'kept'
}

/** `easy` or `hard`, as the reason and the evaluation say it. */
export function difficultyClass(difficulty: number): 'easy' | 'hard' {
  return difficulty >= HARD_FROM ? 'hard' : 'easy'
}

/** The caller's wish goes before the tier's own ranking and the conversation's model. */
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
